#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sluice/decision.h"
#include "sluice/time.h"

#include "core/quota.h"
#include "logs/log_stream.h"
#include "replay/comparison.h"
#include "replay/key_profile.h"
#include "replay/timeline.h"
#include "rules/rule.h"

namespace sluice::replay {

// One key of a rule, for a list of the most this or that.
struct KeyLine {
  std::string key{};
  std::uint64_t requests = 0;
  std::uint64_t denied = 0;
  Units peak = 0;   // How much it asked for, in the measure of RuleReport::measure,
  Units limit = 0;  // and what that is held against.
  WallInstant first_denied{};
  WallInstant last_denied{};
  KeyProfile denied_requests{};  // Empty unless asked for.
};

// How many keys had their peak within so many percent of their limit.
struct RateBin {
  int up_to_percent = 0;  // 0: more than all others.
  std::uint64_t keys = 0;
};

struct RuleReport {
  std::string id{};
  std::string key_pattern{};
  std::string algorithm{};
  std::string quota{};             // "60 per 1m"
  std::string limit_per_window{};  // "60 in any 1m": what all algorithms are compared at.
  std::string measure{};  // Of peaks: "most in 1m", "most in a month", "highest level"; "": none.
  rules::Mode mode = rules::Mode::kEnforce;

  std::uint64_t requests = 0;  // That it judged.
  std::uint64_t denied = 0;
  std::uint64_t skipped = 0;  // Its match held, but a key attribute was absent.
  std::uint64_t delayed = 0;  // Shaping: allowed, but to wait,
  Duration longest_wait{};    // for so long at most.
  std::uint64_t keys = 0;
  std::uint64_t keys_denied = 0;
  Timeline timeline;

  bool has_peaks = false;
  std::vector<KeyLine> most_denied{};
  std::vector<KeyLine> busiest{};
  std::vector<RateBin> rates{};
  struct Quantile {
    std::uint64_t share_ppm = 0;  // At least so many of a million keys have no higher peak.
    Units peak = 0;
  };
  std::vector<Quantile> quantiles{};
  std::vector<ComparisonRow> comparison{};  // Empty unless asked for and possible.
};

// What rules would have done to the traffic of some logs.
struct ReplayReport {
  std::vector<logs::LogSummary> logs{};
  std::vector<logs::BadLine> bad_lines{};  // The first of them.
  std::uint64_t requests = 0;
  std::uint64_t denied = 0;     // By an enforced rule.
  std::uint64_t unmatched = 0;  // No rule applied.
  WallInstant first{};
  WallInstant last{};
  WallInstant today = WallInstant::max();  // When the report was made; max(): unknown.
  bool spread = false;       // Requests of whole-second timestamps were spread over their second.
  std::string rule_files{};  // For the page: where the rules came from,
  std::string version{};     // and who made it. "" where it is not known.
  std::vector<RuleReport> rules{};  // In declaration order, rules that are off left out.
  std::vector<std::string> warnings{};
};

}  // namespace sluice::replay
