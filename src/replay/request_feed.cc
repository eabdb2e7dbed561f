#include "replay/request_feed.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <utility>

#include <xxhash.h>

#include "core/quota.h"
#include "rules/ip_address.h"

namespace sluice::replay {

namespace {

// For windows of at least this length, whole seconds are precise enough (decision 0029).
constexpr Duration kLongEnough = std::chrono::seconds(30);

// How far a rule looks back.
Duration MemoryOf(const core::Quota& quota) {
  if (quota.unlimited || quota.calendar != nullptr) {
    return kLongEnough;
  }
  if (!core::IsBucket(quota.algorithm)) {
    return quota.window;
  }
  // How long a full bucket takes to drain.
  return quota.rate == 0
             ? kLongEnough
             : Duration(static_cast<std::int64_t>(
                   std::min(static_cast<double>(quota.window.count()) *
                                static_cast<double>(quota.limit) / static_cast<double>(quota.rate),
                            static_cast<double>(kLongEnough.count()))));
}

std::int64_t WholeSecondOf(WallInstant at) {
  return std::chrono::floor<std::chrono::seconds>(at.time_since_epoch()).count();
}

}  // namespace

std::optional<SpreadKey> SpreadFor(const rules::RuleSet& rules, const logs::AttributePlan& plan) {
  std::optional<SpreadKey> spread;
  for (const rules::Rule& rule : rules.rules()) {
    if (rule.mode == rules::Mode::kOff || rule.action != rules::Action::kLimit ||
        MemoryOf(rule.quota) >= kLongEnough) {
      continue;
    }
    SpreadKey key;
    for (std::size_t i = 0; i < plan.size(); ++i) {
      const bool in_key = std::ranges::any_of(
          rule.key, [&plan, i](const auto& attribute) { return attribute.name == plan.name(i); });
      if (in_key && (!spread || std::ranges::find(*spread, i) != spread->end())) {
        key.push_back(i);
      }
    }
    spread = std::move(key);
  }
  return spread;
}

RequestFeed::RequestFeed(logs::LogMerge& logs, const logs::AttributePlan& plan,
                         std::optional<SpreadKey> spread)
    : logs_(logs), plan_(plan), spread_(std::move(spread)) {}

const RequestFeed::Request* RequestFeed::Next() {
  if (!spread_) {
    logs::LogStream* const stream = logs_.Next();
    if (stream == nullptr) {
      return nullptr;
    }
    request_ = {.at = stream->Peek()->at, .stream = stream, .logged = *stream->Peek()};
    stream->Pop();
    return &request_;
  }
  if (next_ == second_.size() && !CollectSecond()) {
    return nullptr;
  }
  return &second_[next_++];
}

bool RequestFeed::CollectSecond() {
  second_.clear();
  next_ = 0;
  bool coarse = false;
  while (logs::LogStream* const stream = logs_.Next()) {
    const logs::LogStream::Request& logged = *stream->Peek();
    if (!second_.empty()) {
      if (WholeSecondOf(logged.at) != WholeSecondOf(second_.front().at)) {
        break;
      }
      // A stream that is short of memory returns a second in parts, and keeps two of them valid.
      const auto first = std::ranges::find(second_, stream, &Request::stream);
      if (first != second_.end() && first->logged.second != logged.second) {
        break;
      }
    }
    second_.push_back({.at = logged.at, .stream = stream, .logged = logged});
    coarse = coarse || stream->whole_seconds();
    stream->Pop();
  }
  if (coarse) {
    Spread();
  }
  for (Request& request : second_) {
    request.at = std::max(request.at, last_);
    last_ = request.at;
  }
  return !second_.empty();
}

std::uint64_t RequestFeed::HashOf(const logs::LogStream::Request& request) {
  scratch_.clear();
  for (const std::size_t i : *spread_) {
    const std::string_view value = request.Value(i);
    if (plan_.name(i) == "ip" && value.find(':') != value.npos) {
      // Rules group IPv6 addresses. They share a limit, so they are spread together.
      if (const auto address = rules::IpAddress::Parse(value)) {
        scratch_ += rules::IpGrouping{}.KeyText(*address).view();
        scratch_ += '\0';
        continue;
      }
    }
    scratch_ += value;
    scratch_ += value.data() == nullptr ? '\1' : '\0';
  }
  return XXH3_64bits(scratch_.data(), scratch_.size());
}

RequestFeed::KeyCount& RequestFeed::CountOf(std::uint64_t hash) {
  std::size_t at = hash & (counts_.size() - 1);
  while (counts_[at].requests != 0 && counts_[at].hash != hash) {
    at = (at + 1) & (counts_.size() - 1);
  }
  counts_[at].hash = hash;
  return counts_[at];
}

// Two passes: the first counts the requests of each key in this second, the second gives the i-th
// of n requests the time (i + 1/2) / n. The half keeps requests away from both edges of the second,
// so that the last request of one second and the first of the next are as far apart as any two
// neighbours. In a merge of logs, those with fractions keep their times; the stable sort merges
// both kinds.
void RequestFeed::Spread() {
  counts_.assign(std::bit_ceil(second_.size() * 2), {});
  hashes_.clear();
  for (const Request& request : second_) {
    hashes_.push_back(HashOf(request.logged));
    CountOf(hashes_.back()).requests += 1;
  }
  for (std::size_t i = 0; i < second_.size(); ++i) {
    Request& request = second_[i];
    KeyCount& count = CountOf(hashes_[i]);
    const std::int64_t number = count.given++;
    if (request.stream->whole_seconds()) {
      request.at += Duration(((2 * number) + 1) * 500'000'000 / count.requests);
      has_spread_ = true;
    }
  }
  std::ranges::stable_sort(second_, {}, &Request::at);
}

}  // namespace sluice::replay
