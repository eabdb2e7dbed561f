#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/calendar.h"
#include "core/quota.h"
#include "core/reserves.h"
#include "rules/compiled_rule.h"
#include "rules/fields.h"
#include "rules/findings.h"

namespace sluice::rules {

// Owns the objects that the quotas of a rule set refer to. Equal calendars are stored once.
class QuotaShelf {
 public:
  const core::Calendar* Keep(std::unique_ptr<const core::Calendar> calendar);
  const core::Reserves* Keep(core::Reserves reserves);

 private:
  std::vector<std::unique_ptr<const core::Calendar>> calendars_;
  std::vector<std::unique_ptr<const core::Reserves>> reserves_;
};

// Reads the numbers of one rule, and then those of its plans and overrides relative to them.
class QuotaReader {
 public:
  QuotaReader(QuotaShelf& shelf, Reporter& report) : shelf_(shelf), report_(report) {}

  // The rule's own quota: algorithm, limit, rate, burst, window, unit, time_zone, anchor, segments,
  // strict, shape, hold_ttl, reserve. nullopt after a problem that leaves no usable quota; every
  // problem is reported.
  std::optional<core::Quota> ReadRule(const Fields& rule);

  // The numbers after `fields` (a plan or an override) has changed the rule read last. A burst that
  // is stated nowhere follows the rate. `what`: "plan", "override".
  std::optional<Numbers> ReadChange(const Fields& fields, std::string_view what);

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
  void ReadReserves(const yaml::Node& node, core::Quota& quota);
  // Applies `stated` to `quota`, whose burst is `stated_burst_` if set.
  bool Apply(const Fields& fields, const Stated& stated, core::Quota& quota);

  QuotaShelf& shelf_;
  Reporter& report_;
  std::optional<Units> stated_burst_;
  std::optional<core::Quota> base_;  // The rule read last, as far as it could be read.
  bool window_faulty_ = false;       // The length of base_ is wrong, and has been reported.
};

}  // namespace sluice::rules
