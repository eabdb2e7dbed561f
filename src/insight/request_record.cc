#include "insight/request_record.h"

#include <array>

namespace sluice::insight {

namespace {

constexpr std::array<std::string_view, kOutcomes> kOutcomeNames{
    "allowed", "denied",           "shadow_allowed",  "shadow_denied",
    "skipped", "degraded_allowed", "degraded_denied", "degraded_local"};

}  // namespace

std::string_view NameOf(Outcome outcome) {
  return kOutcomeNames[static_cast<std::size_t>(outcome)];
}

std::string_view NameOf(JudgedBy judged_by) {
  switch (judged_by) {
    case JudgedBy::kRules:
      return "rules";
    case JudgedBy::kThrottle:
      return "throttle";
    case JudgedBy::kEnvoy:
      break;
  }
  return "envoy";
}

}  // namespace sluice::insight
