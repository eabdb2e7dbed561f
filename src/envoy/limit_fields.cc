#include "envoy/limit_fields.h"

#include <algorithm>
#include <chrono>

#include "service/header_times.h"
#include "wire/structured_field.h"

namespace sluice::envoy {

namespace {

// A name is of use to people; this bounds what a long path makes of a header.
constexpr std::size_t kMostNameBytes = 128;

std::string Printable(std::string text) {
  text.resize(std::min(text.size(), kMostNameBytes));
  std::ranges::replace_if(text, [](char c) { return c < ' ' || c > '~'; }, '_');
  return text;
}

// "60s", "1500ms".
std::string PeriodText(Duration period) {
  using std::chrono::milliseconds;
  using std::chrono::seconds;
  return period % seconds(1) == Duration{} ? std::to_string(period / seconds(1)) + "s"
                                           : std::to_string(period / milliseconds(1)) + "ms";
}

wire::SfListWriter Next(std::string& list) {
  list += list.empty() ? "" : ", ";
  return wire::SfListWriter(list);
}

}  // namespace

std::string PolicyNameOf(const Limit& limit, std::string_view domain, bool of_list) {
  if (!limit.name.empty()) {
    return Printable(limit.name);
  }
  std::string name = limit.path.substr(std::min(domain.size() + 1, limit.path.size()));
  if (of_list) {
    name += '-' + PeriodText(limit.quota.window);
    if (limit.quota.algorithm != core::Algorithm::kAttemptWindow) {
      name += '-';
      name += core::NameOf(limit.quota.algorithm);
    }
  }
  return Printable(std::move(name));
}

void LimitFields::Clear() {
  policy_.clear();
  state_.clear();
}

void LimitFields::Add(const Limit& limit, const Decision& decision, Units remaining,
                      WallInstant now) {
  wire::SfListWriter policy = Next(policy_);
  policy.Member(limit.policy).Param("q", limit.quota.limit);
  if (const auto window = service::WindowSeconds(limit.quota, now)) {
    policy.Param("w", *window);
  }
  wire::SfListWriter state = Next(state_);
  state.Member(limit.policy).Param("r", remaining);
  if (const auto seconds = service::EffectiveSeconds(limit.quota, decision, now)) {
    state.Param("t", *seconds);
  }
}

}  // namespace sluice::envoy
