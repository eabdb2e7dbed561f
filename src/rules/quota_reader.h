#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/calendar.h"
#include "core/quota.h"
#include "rules/compiled_rule.h"
#include "rules/fields.h"
#include "rules/findings.h"

namespace sluice::rules {

// The calendars of a rule set: rules that cut time alike share one.
class CalendarShelf {
 public:
  const core::Calendar* Keep(std::unique_ptr<const core::Calendar> calendar);

 private:
  std::vector<std::unique_ptr<const core::Calendar>> calendars_;
};

// Reads the numbers of one rule, and then those of its plans and overrides against them.
class QuotaReader {
 public:
  QuotaReader(CalendarShelf& calendars, Reporter& report)
      : calendars_(calendars), report_(report) {}

  // The rule's own quota: algorithm, limit, rate, burst, window, unit, time_zone, anchor,
  // segments, strict, shape, hold_ttl, reserve. nullopt after a problem that leaves no quota to
  // speak of; every problem is noted.
  std::optional<core::Quota> ReadRule(const Fields& rule);

  // What `fields` (a plan or an override) makes of the rule read last.
  // A burst that is stated nowhere follows the rate. `what`: "plan", "override".
  std::optional<Numbers> ReadChange(const Fields& fields, std::string_view what);

  [[nodiscard]] const std::vector<Reserve>& reserves() const { return reserves_; }

 private:
  struct Stated {
    std::optional<Units> limit, rate, burst;
    bool unlimited = false;
    bool faulty = false;
  };

  Stated ReadStated(const Fields& fields, core::Algorithm algorithm);
  void RejectForeign(const Fields& rule, core::Algorithm algorithm);
  void ReadWindow(const Fields& rule, core::Quota& quota);
  void ReadCalendar(const Fields& rule, core::CalendarUnit unit, core::Quota& quota);
  void ReadReserves(const YamlNode& node);
  // Puts `stated` over `quota`, whose burst is `stated_burst_` where that is set.
  bool Apply(const Fields& fields, const Stated& stated, core::Quota& quota);

  CalendarShelf& calendars_;
  Reporter& report_;
  std::optional<Units> stated_burst_;
  std::vector<Reserve> reserves_;
  std::optional<core::Quota> base_;  // The rule read last, as far as it could be read.
  bool window_faulty_ = false;       // The length of base_ is wrong, and that has been noted.
};

}  // namespace sluice::rules
