#include "redis/command_args.h"

#include <array>
#include <charconv>
#include <string>

#include "core/calendar.h"
#include "core/key_codec.h"

namespace sluice::redis {

using core::Algorithm;
using core::Quota;

std::int64_t InUs(std::int64_t ns) {
  constexpr std::int64_t kNsPerUs = 1000;
  return ns / kNsPerUs - (ns % kNsPerUs < 0 ? 1 : 0);
}
std::int64_t InUs(WallInstant instant) {
  return InUs(instant.time_since_epoch().count());
}

CommandArgs::CommandArgs(std::string& out, std::size_t count) : out_(out) {
  Head('*', static_cast<std::int64_t>(count));
}

void CommandArgs::Put(std::string_view bytes) {
  Head('$', static_cast<std::int64_t>(bytes.size()));
  out_ += bytes;
  out_ += "\r\n";
}

void CommandArgs::Put(std::int64_t number) {
  std::array<char, 24> text;  // NOLINT: to_chars writes it.
  const char* const end = std::to_chars(text.data(), text.data() + text.size(), number).ptr;
  Put(std::string_view(text.data(), static_cast<std::size_t>(end - text.data())));
}

void CommandArgs::PutId(std::uint64_t id, int base) {
  std::array<char, 24> text;  // NOLINT: to_chars writes it.
  const char* const end = std::to_chars(text.data(), text.data() + text.size(), id, base).ptr;
  Put(std::string_view(text.data(), static_cast<std::size_t>(end - text.data())));
}

void CommandArgs::PutKey(std::string_view rule, const core::KeyView& key, const Quota& quota,
                         std::string_view suffix) {
  const std::size_t at = out_.size();
  AppendKeyName(rule, key, quota, out_);
  out_ += suffix;
  PutHeadAt(at);
}

void CommandArgs::PutKeys(const core::KeyView& key, const Quota& quota, std::string_view suffix) {
  PutKey(key.rule, key, quota, suffix);
  for (const std::string& id : key.formerly) {
    PutKey(id, key, quota, suffix);
  }
}

void CommandArgs::PutBeside(std::string_view rule, const core::KeyView& key, BesideKey what) {
  const std::size_t at = out_.size();
  AppendBesideKeyName(rule, key, what, out_);
  PutHeadAt(at);
}

void CommandArgs::PutBanKeys(std::string_view rule, const core::KeyView& key) {
  PutBeside(rule, key, BesideKey::kBan);
  PutBeside(rule, key, BesideKey::kDenials);
}

void CommandArgs::PutAllBanKeys(const core::KeyView& key) {
  PutBanKeys(key.rule, key);
  for (const std::string& id : key.formerly) {
    PutBanKeys(id, key);
  }
}

void CommandArgs::PutAttributesOfBan(const core::KeyView& key) {
  const std::size_t at = out_.size();
  AppendAttributesOfBan(key, out_);
  PutHeadAt(at);
}

void CommandArgs::BeginScript(ScriptId script, std::size_t keys) {
  Put("EVALSHA");
  Put(ScriptOf(script).sha1);
  Put(static_cast<std::int64_t>(keys));
}

void CommandArgs::PutTime(const Judged& judged) {
  if (judged.by_server) {
    Put("");
  } else {
    Put(InUs(judged.now));
  }
}

void CommandArgs::PutFragment(Algorithm algorithm) {
  Put(core::TraitsOf(algorithm).steps);
}

void CommandArgs::PutQuota(const Quota& quota, const Judged& judged, store::HoldId hold) {
  Put(quota.limit);
  if (quota.calendar != nullptr) {
    const core::Period now = quota.calendar->At(judged.now);
    Put(InUs(now.begin));
    Put(InUs(now.end));
    Put(InUs(quota.calendar->At(now.end).end));
    return;
  }
  Put(InUs(quota.window.count()));
  const core::QuotaFields& has = core::TraitsOf(quota.algorithm).fields;
  if (has.Has(core::QuotaField::kRate)) {
    Put(quota.rate);
    PutFlag(quota.shape);
  } else if (has.Has(core::QuotaField::kSegments)) {
    Put(quota.segments);
    PutFlag(quota.strict);
  } else if (has.Has(core::QuotaField::kReserves)) {
    PutReserves(quota);
    PutId(hold);
  } else {
    PutFlag(false);
    PutFlag(false);
  }
}

// What concurrency.lua calls a quota's reserves.
void CommandArgs::PutReserves(const Quota& quota) {
  const std::size_t at = out_.size();
  if (quota.reserves != nullptr) {
    const auto name = [this](const core::Reserve& share) {
      out_ += ':';
      core::AppendEscaped(share.priority, out_);
    };
    for (const core::Reserve& share : quota.reserves->shares()) {
      if (share.tag == quota.priority) {
        name(share);
      }
    }
    for (const core::Reserve& share : quota.reserves->shares()) {
      if (share.tag != quota.priority) {
        out_ += ' ';
        name(share);
        out_ += '=';
        out_ += std::to_string(share.Slots(quota.limit));
      }
    }
    out_ += ' ';  // Never empty where there are reserves.
  }
  PutHeadAt(at);
}

void CommandArgs::PutHeadAt(std::size_t at) {
  std::array<char, 24> head;  // NOLINT: to_chars writes it.
  head[0] = '$';
  char* end = std::to_chars(head.data() + 1, head.data() + 20, out_.size() - at).ptr;
  *end++ = '\r';
  *end++ = '\n';
  out_.insert(at, head.data(), static_cast<std::size_t>(end - head.data()));
  out_ += "\r\n";
}

void CommandArgs::Head(char mark, std::int64_t number) {
  std::array<char, 24> text;  // NOLINT: to_chars writes it.
  out_ += mark;
  out_.append(text.data(), std::to_chars(text.data(), text.data() + text.size(), number).ptr);
  out_ += "\r\n";
}

}  // namespace sluice::redis
