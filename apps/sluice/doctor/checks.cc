#include "doctor/checks.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <utility>

namespace sluice::app::doctor {

std::string_view NameOf(Severity severity) {
  constexpr std::array<std::string_view, 3> kNames{"problem", "warning", "note"};
  return kNames[static_cast<std::size_t>(severity)];
}

Error ErrorOf(const Finding& finding) {
  std::string message = finding.seen;
  for (const std::string* part : {&finding.follows, &finding.remedy}) {
    message += part->empty() ? "" : ": " + *part;
  }
  return {.message = std::move(message), .place = finding.place};
}

FindingList CheckAll(const Facts& facts) {
  FindingList findings;
  for (const auto check : {&CheckDaemon, &CheckConfiguration, &CheckTraffic, &CheckStore,
                           &CheckRedis, &CheckHost, &CheckNginx}) {
    check(facts, findings);
  }
  std::ranges::stable_sort(findings, {}, &Finding::severity);
  return findings;
}

}  // namespace sluice::app::doctor
