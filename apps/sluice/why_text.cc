#include "why_text.h"

#include <cstdlib>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "replay/human_text.h"
#include "time_text.h"

namespace sluice::app {

namespace {

namespace json = boost::json;

constexpr std::size_t kWidth = 100;

std::string BanText(const JsonAnswer& ban, std::int64_t now) {
  const std::string why =
      fmt::format("{} denials within {}", ban.Number("after"), WaitText(ban.Number("within_ms")));
  if (!ban.Truth("banned")) {
    return fmt::format("none; {} ban the key for {}", why, WaitText(ban.Number("for_ms")));
  }
  return fmt::format("since {}, after {}, until {} ({} left)",
                     ClockText(ban.Number("since_ms"), now), why,
                     ClockText(ban.Number("until_ms"), now), WaitText(ban.Number("left_ms")));
}

bool IsShadow(const JsonAnswer& rule) {
  return rule.Text("mode") == "shadow";
}

std::string VerdictWord(const JsonAnswer& rule) {
  const bool allowed = rule.Part("state").Truth("allowed");
  return IsShadow(rule) ? (allowed ? "would allow" : "would deny")
                        : (allowed ? "allows" : "denies");
}

std::string KeyTable(const JsonAnswer& answer) {
  replay::TextTable table({"rule", "verdict", "used", "left", "passes in", "full again in"});
  bool any = false;
  for (const json::value& item : answer.List("rules")) {
    const JsonAnswer rule(item);
    if (!rule.Has("state")) {
      continue;
    }
    any = true;
    const JsonAnswer state = rule.Part("state");
    const auto wait = state.NumberIfAny("retry_after_ms");
    const auto fresh = state.NumberIfAny("reset_after_ms");
    const bool counts = rule.Has("algorithm") && state.NumberIfAny("limit");
    table.AddRow(
        {rule.Text("rule_id"), VerdictWord(rule),
         counts ? fmt::format("{} of {}", state.Number("used"), state.Number("limit")) : "-",
         counts ? state.NumberOr("remaining", "-") : "-",
         state.Truth("allowed") ? "now" : (wait ? WaitText(*wait) : "-"),
         counts && fresh ? WaitText(*fresh) : "-"});
  }
  std::string text;
  if (any) {
    text += '\n';
    table.AppendTo(text, kWidth);
  }
  return text;
}

std::string LeaseText(const JsonAnswer& lease) {
  std::string text =
      lease.Number("loops") == 0
          ? "this node has borrowed nothing for the key: Redis is asked for each request"
          : fmt::format(
                "this node holds {} borrowed unit{}, by which it allows without asking Redis",
                lease.Number("held"), lease.Number("held") == 1 ? "" : "s");
  if (lease.Number("denied_for_ms") > 0) {
    text += fmt::format("; it denies by an earlier denial for another {}",
                        WaitText(lease.Number("denied_for_ms")));
  }
  return text;
}

void AddDetail(std::string& text, std::string_view what, const std::string& detail) {
  text += fmt::format("  {:<8} {}\n", what, detail);
}

// All about one rule that applies. `shared`: the store is one that nodes share.
std::string TellRule(const JsonAnswer& rule, bool shared, std::int64_t now) {
  std::string text = fmt::format("\n{}  ({})\n", rule.Text("rule_id"), rule.Text("place"));
  if (rule.Has("algorithm")) {
    AddDetail(text, "key", fmt::format("{}; cost {}", rule.Text("key"), rule.Number("cost")));
    const std::string from = rule.Text("numbers_from");
    const std::string whose =
        from == "plan"
            ? fmt::format("plan with match {} ({})", rule.Text("plan"), rule.Text("numbers_place"))
        : from == "override" ? fmt::format("override of this key ({})", rule.Text("numbers_place"))
                             : "the rule's own";
    AddDetail(text, "numbers",
              fmt::format("{}, {}: {}", rule.Text("algorithm"), rule.Text("numbers"), whose));
  } else {
    AddDetail(text, "why", rule.Text("why"));
  }
  const std::string mode = rule.Text("mode");
  if (mode != rule.Text("configured_mode")) {
    AddDetail(text, "mode",
              fmt::format("{}, set at run time; the rule's own mode is {}", mode,
                          rule.Text("configured_mode")));
  } else if (IsShadow(rule)) {
    AddDetail(text, "mode", "shadow: decided and counted, not enforced");
  }
  if (rule.Has("ban")) {
    AddDetail(text, "ban", BanText(rule.Part("ban"), now));
  }
  if (rule.Has("lease")) {
    AddDetail(text, "lease", LeaseText(rule.Part("lease")));
  } else if (shared && rule.Text("sync") == "local") {
    AddDetail(text, "sync", "local: this node's own table counts, and each node grants the limit");
  }
  if (shared && rule.Has("on_store_error")) {
    const bool degraded = rule.Part("state").Truth("degraded");
    std::string policy = fmt::format("on_store_error: {}{}", rule.Text("on_store_error"),
                                     degraded ? ", which decides now" : "");
    if (rule.Has("remembered_denial")) {
      policy += fmt::format("; without the store the last denial counts for another {}",
                            WaitText(rule.Part("remembered_denial").Number("left_ms")));
    }
    AddDetail(text, "store", policy);
  }
  return text;
}

std::string TellOthers(const JsonAnswer& answer) {
  std::string text;
  for (const json::value& item : answer.List("rules")) {
    const JsonAnswer rule(item);
    if (rule.Truth("applies")) {
      continue;
    }
    const std::string mode = rule.Text("mode");
    const bool is_set = mode != rule.Text("configured_mode");
    text += fmt::format("{}  {:<24} {}{}  ({})\n", text.empty() ? "\ndo not apply:\n" : "",
                        rule.Text("rule_id"), rule.Text("why"),
                        is_set && !answer.Part("verdict").Truth("kill_switch")
                            ? " (mode " + mode + " is set at run time)"
                            : "",
                        rule.Text("place"));
  }
  return text;
}

std::string TellStore(const JsonAnswer& store) {
  if (!store.Truth("shared")) {
    return "\nstore: this node's table, on this node's clock\n";
  }
  if (store.NumberIfAny("clock_offset_us")) {
    const std::int64_t offset = store.Number("clock_offset_us");
    const std::string text = fmt::format(
        "\nstore: shared, and it answered; its clock is {:.1f} ms {} this node's (± {:.1f} "
        "ms)\n",
        static_cast<double>(std::abs(offset)) / 1e3, offset < 0 ? "behind" : "ahead of",
        static_cast<double>(store.Number("clock_error_us")) / 1e3);
    constexpr std::int64_t kWorthAWord = 1'000'000;
    return std::abs(offset) < kWorthAWord
               ? text
               : text +
                     "  All times in answers are by the store's clock: synchronise both (NTP).\n";
  }
  return store.Find("answered") != nullptr && store.Find("answered")->is_null()
             ? "\nstore: shared; no rule needed it\n"
             : "\nstore: shared, and it did not answer: each rule's on_store_error decides\n";
}

// What an operator can do about the verdict; "" where there is nothing but waiting.
std::string TellRemedy(const JsonAnswer& answer) {
  const JsonAnswer verdict = answer.Part("verdict");
  if (verdict.Truth("kill_switch")) {
    return "  to switch the rules on: sluice kill-switch off\n";
  }
  const std::string reason = verdict.Text("reason");
  if (reason == "banned") {
    return "  to lift the ban: sluice unban with these attributes\n";
  }
  return reason == "quota_exceeded" ? "  to let it pass now: sluice reset with these attributes\n"
                                    : "";
}

}  // namespace

std::string TellWhy(const JsonAnswer& answer) {
  const std::int64_t now = answer.Number("now_ms");
  std::string text = WhySentence(answer) + '\n';
  for (const json::value& item : answer.List("rules")) {
    const JsonAnswer rule(item);
    if (IsShadow(rule) && rule.Has("state") && !rule.Part("state").Truth("allowed")) {
      text += fmt::format("  {} (shadow) would deny it: {}\n", rule.Text("rule_id"),
                          DenialText(rule, now));
    }
    if (rule.Part("lease").Number("held") > 0 && !rule.Part("state").Truth("allowed")) {
      text +=
          fmt::format("  until it has spent what it holds of {}, this node allows some requests\n",
                      rule.Text("rule_id"));
    }
  }
  text += TellRemedy(answer) + KeyTable(answer);
  const bool shared = answer.Part("store").Truth("shared");
  for (const json::value& item : answer.List("rules")) {
    if (JsonAnswer(item).Truth("applies")) {
      text += TellRule(JsonAnswer(item), shared, now);
    }
  }
  return text + TellOthers(answer) + TellStore(answer.Part("store"));
}

}  // namespace sluice::app
