#include "replay/suggestion.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <numeric>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "core/key.h"
#include "replay/human_text.h"
#include "replay/replay_warnings.h"
#include "replay/report_json.h"
#include "rules/ip_address.h"
#include "wire/json_writer.h"

namespace sluice::replay {

namespace {

constexpr std::array<std::uint64_t, 3> kOneIn{100, 1'000, 10'000};

// The lowest limit that touches at most one key in `one_in`. `peaks` fall.
Units LimitFor(const std::vector<Units>& peaks, std::uint64_t one_in) {
  const std::size_t may_be_touched = peaks.size() / one_in;
  return may_be_touched < peaks.size() ? peaks[may_be_touched] : 0;
}

}  // namespace

SuggestionReader::SuggestionReader(const logs::AttributePlan& plan, std::vector<Duration> windows)
    : plan_(plan), windows_(std::move(windows)), ledgers_(windows_.size()) {}

void SuggestionReader::Run(logs::LogMerge& logs, const std::function<void()>& progress) {
  constexpr std::uint64_t kProgressEvery = 4096;
  std::uint64_t seen = 0;
  while (logs::LogStream* stream = logs.Next()) {
    Add(*stream->Peek());
    stream->Pop();
    if (++seen % kProgressEvery == 0) {
      progress();
    }
  }
  progress();
}

void SuggestionReader::Add(const logs::LogStream::Request& request) {
  std::array<core::KeyPart, core::kMaxKeyParts> parts{};
  std::array<rules::IpText, core::kMaxKeyParts> addresses{};
  first_ = requests_ == 0 ? request.at : first_;
  last_ = request.at;
  ++requests_;
  for (std::size_t i = 0; i < plan_.size(); ++i) {
    std::string_view value = request.Value(i);
    if (value.data() == nullptr) {
      ++skipped_;
      return;
    }
    if (plan_.name(i) == "ip") {
      const auto address = rules::IpAddress::Parse(value);
      if (!address) {
        ++skipped_;
        return;
      }
      addresses[i] = rules::IpGrouping{}.KeyText(*address);
      value = addresses[i].view();
    }
    parts[i].value = value.substr(0, core::kMaxValueBytes);
  }
  const std::span key_parts(parts.data(), plan_.size());
  const std::uint64_t hash = ledgers_.front().HashOf(key_parts);
  for (std::size_t i = 0; i < windows_.size(); ++i) {
    KeyRecord& key = ledgers_[i][ledgers_[i].Find(key_parts, hash)];
    ++key.requests;
    key.window.Add(request.at, request.cost, windows_[i]);
  }
}

std::vector<Suggestion> SuggestionReader::Suggestions(std::size_t top) const {
  std::vector<Suggestion> suggestions;
  for (std::size_t w = 0; w < windows_.size(); ++w) {
    const KeyLedger& ledger = ledgers_[w];
    std::vector<std::uint32_t> order(ledger.size());
    std::iota(order.begin(), order.end(), 0U);
    std::ranges::stable_sort(order, [&ledger](std::uint32_t a, std::uint32_t b) {
      return ledger[a].window.peak() > ledger[b].window.peak();
    });
    std::vector<Units> peaks;
    peaks.reserve(order.size());
    for (const std::uint32_t number : order) {
      peaks.push_back(ledger[number].window.peak());
    }
    Suggestion suggestion{
        .window = windows_[w], .requests = requests_, .skipped = skipped_, .keys = ledger.size()};
    if (!peaks.empty()) {
      suggestion.median_peak = peaks[peaks.size() / 2];
      suggestion.highest_peak = peaks.front();
      for (const std::uint64_t one_in : kOneIn) {
        SuggestedLimit limit{.one_in = one_in, .limit = LimitFor(peaks, one_in)};
        for (std::size_t i = 0; i < peaks.size() && peaks[i] > limit.limit; ++i) {
          ++limit.keys_touched;
          limit.requests_of_touched += ledger[order[i]].requests;
        }
        suggestion.limits.push_back(limit);
      }
    }
    for (std::size_t i = 0; i < std::min(top, order.size()); ++i) {
      const KeyRecord& record = ledger[order[i]];
      KeyLine line;
      line.key = record.text;
      line.requests = record.requests;
      line.peak = record.window.peak();
      suggestion.busiest.push_back(std::move(line));
    }
    suggestions.push_back(std::move(suggestion));
  }
  return suggestions;
}

ReplayReport SuggestionReader::Logs(const logs::LogMerge& logs, WallInstant today) const {
  ReplayReport report;
  for (const auto& stream : logs.streams()) {
    report.logs.push_back(stream->Summary());
    report.bad_lines.insert(report.bad_lines.end(), stream->bad_lines().begin(),
                            stream->bad_lines().end());
  }

  report.requests = requests_;
  report.first = first_;
  report.last = last_;
  report.today = today;
  report.warnings = WarningsOfLogs(report);
  return report;
}

std::string SuggestionText(const Suggestion& suggestion, const std::vector<std::string>& key,
                           const std::string& cost) {
  std::string text;
  const auto out = std::back_inserter(text);
  std::string pattern;
  std::string id = "per";
  for (const std::string& name : key) {
    fmt::format_to(std::back_inserter(pattern), "{}{}:{{{}}}", pattern.empty() ? "" : " ", name,
                   name);
    id += "_" + name;
  }
  pattern = pattern.empty() ? "all" : pattern;
  const std::string window = WindowText(suggestion.window);
  id = (key.empty() ? "all" : id) + "_" + window;
  if (suggestion.skipped != 0) {
    fmt::format_to(out, "{} requests lack the key and are left out\n", Grouped(suggestion.skipped));
  }
  if (suggestion.keys == 0) {
    text += "no request has the key: name another with --key, or its column with --map\n";
    return text;
  }
  fmt::format_to(out,
                 "\n{} keys; half of them never requested more than {} in {}, the highest {}\n\n",
                 Grouped(suggestion.keys), Grouped(suggestion.median_peak), window,
                 Grouped(suggestion.highest_peak));
  fmt::format_to(out, "  {:<18} {:>16}  would have affected\n", "at most", "limit per " + window);
  for (const SuggestedLimit& limit : suggestion.limits) {
    fmt::format_to(out, "  1 key in {:<9} {:>16}  ", Grouped(limit.one_in), Grouped(limit.limit));
    if (limit.keys_touched == 0) {
      text += "nobody\n";
      continue;
    }
    fmt::format_to(out, "{} key{}, which sent {} requests ({})\n", Grouped(limit.keys_touched),
                   limit.keys_touched == 1 ? "" : "s", Grouped(limit.requests_of_touched),
                   Percent(limit.requests_of_touched, suggestion.requests));
  }
  fmt::format_to(out, "\n  {:<28} {:>12} {:>16}\n", "the highest", "requests", "most in " + window);
  for (const KeyLine& line : suggestion.busiest) {
    fmt::format_to(out, "  {:<28} {:>12} {:>16}\n", line.key.substr(0, 28), Grouped(line.requests),
                   Grouped(line.peak));
  }
  const SuggestedLimit& chosen = suggestion.limits[1];
  fmt::format_to(
      out,
      "\n# At most 1 key in 1,000 of this traffic. Affects nobody until `mode` is enforce.\n"
      "rules:\n"
      "  - id: {}\n"
      "    key_pattern: \"{}\"\n"
      "    algorithm: sliding_window\n"
      "    limit: {}\n"
      "    window: {}\n",
      id, pattern, chosen.limit, window);
  if (!cost.empty()) {
    fmt::format_to(out, "    cost: {}\n", cost);
  }
  text += "    mode: shadow\n";
  return text;
}

std::string SuggestionsJson(const std::vector<Suggestion>& suggestions,
                            const std::vector<std::string>& key, const ReplayReport& report) {
  const auto number = [](std::uint64_t count) { return static_cast<std::int64_t>(count); };
  std::string text;
  wire::JsonWriter json(text);
  json.BeginObject();
  json.Name("key").BeginArray();
  for (const std::string& name : key) {
    json.Text(name);
  }
  json.EndArray();
  json.Name("suggestions").BeginArray();
  for (const Suggestion& suggestion : suggestions) {
    json.BeginObject();
    json.Name("window").Text(WindowText(suggestion.window));
    json.Name("requests").Number(number(suggestion.requests));
    json.Name("skipped").Number(number(suggestion.skipped));
    json.Name("keys").Number(number(suggestion.keys));
    json.Name("median_peak").Number(suggestion.median_peak);
    json.Name("highest_peak").Number(suggestion.highest_peak);
    json.Name("limits").BeginArray();
    for (const SuggestedLimit& limit : suggestion.limits) {
      json.BeginObject();
      json.Name("one_in").Number(number(limit.one_in));
      json.Name("limit").Number(limit.limit);
      json.Name("keys_touched").Number(number(limit.keys_touched));
      json.Name("requests_of_touched").Number(number(limit.requests_of_touched));
      json.EndObject();
    }
    json.EndArray();
    json.EndObject();
  }
  json.EndArray();
  WriteLogs(json, report);
  json.EndObject();
  text += '\n';
  return text;
}

}  // namespace sluice::replay
