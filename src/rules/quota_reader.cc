#include "rules/quota_reader.h"

#include <algorithm>
#include <array>
#include <utility>

#include "rules/spelling.h"
#include "rules/value_reader.h"

namespace sluice::rules {

namespace {

using core::Algorithm;
using core::CalendarUnit;
using core::QuotaField;

constexpr auto kAlgorithmNames = core::NamesOf(core::kRuleAlgorithms);

// What a rule calls the numbers of its algorithm. `limit` is not among them: the word unlimited is
// everybody's, and what a number there means is judged where it is read.
constexpr std::array<std::pair<std::string_view, QuotaField>, 11> kWords{{
    {"rate", QuotaField::kRate},
    {"burst", QuotaField::kBurst},
    {"window", QuotaField::kWindow},
    {"unit", QuotaField::kWindow},
    {"time_zone", QuotaField::kCalendar},
    {"anchor", QuotaField::kCalendar},
    {"segments", QuotaField::kSegments},
    {"strict", QuotaField::kStrict},
    {"shape", QuotaField::kShape},
    {"hold_ttl", QuotaField::kHoldTtl},
    {"reserve", QuotaField::kReserves},
}};

bool Has(Algorithm algorithm, QuotaField field) {
  return core::TraitsOf(algorithm).fields.Has(field);
}

std::string NameText(Algorithm algorithm) {
  return std::string(core::NameOf(algorithm));
}

}  // namespace

std::optional<core::Quota> QuotaReader::ReadRule(const Fields& rule) {
  stated_burst_.reset();
  base_.reset();
  window_faulty_ = false;
  const yaml::Node* word = rule.Get("algorithm");
  if (word == nullptr) {
    report_.Fail(rule.map(), "algorithm is missing: write " + OneOf(kAlgorithmNames));
    return std::nullopt;
  }
  const auto index = ReadWord(*word, "algorithm", kAlgorithmNames, report_);
  const auto algorithm = index ? core::AlgorithmNamed(kAlgorithmNames[*index]) : std::nullopt;
  if (!algorithm.has_value()) {
    return std::nullopt;
  }
  core::Quota quota;
  quota.algorithm = *algorithm;
  RejectForeign(rule, quota.algorithm);
  const Stated stated = ReadStated(rule, quota.algorithm);
  ReadWindow(rule, quota);
  if (const yaml::Node* node = rule.Get("segments"); node != nullptr) {
    if (const auto segments = ReadUnits(*node, "segments", report_); segments.has_value()) {
      if (*segments < 1 || *segments > core::kMaxSegments) {
        report_.Fail(*node, "segments is " + node->text + ": write 1 to " +
                                std::to_string(core::kMaxSegments));
      } else {
        quota.segments = static_cast<std::uint8_t>(*segments);
      }
    }
  }
  if (const yaml::Node* node = rule.Get("strict"); node != nullptr) {
    quota.strict = ReadBool(*node, "strict", report_).value_or(false);
    if (quota.strict && rule.Get("segments") == nullptr) {
      quota.segments = core::kDefaultStrictSegments;
    }
  }
  if (const yaml::Node* node = rule.Get("shape"); node != nullptr) {
    quota.shape = ReadBool(*node, "shape", report_).value_or(false);
  }
  if (const yaml::Node* node = rule.Get("reserve"); node != nullptr) {
    ReadReserves(*node, quota);
  }
  // A later Apply() for a plan must not treat the rule's own burst as the default burst.
  const bool good = Apply(rule, stated, quota);
  stated_burst_ = stated.burst;
  base_ = quota;
  // A plan is then read only to report its own problems.
  window_faulty_ |= !good && !stated.unlimited;
  return good ? base_ : std::nullopt;
}

std::optional<Numbers> QuotaReader::ReadChange(const Fields& fields, std::string_view what) {
  static constexpr std::array<std::string_view, 3> kOverride{"limit", "rate", "burst"};
  static constexpr std::array<std::string_view, 4> kPlan{"match", "limit", "rate", "burst"};
  if (what == "plan") {
    fields.RejectUnknown(kPlan, what, report_);
  } else {
    fields.RejectUnknown(kOverride, what, report_);
  }
  if (!base_.has_value()) {
    return std::nullopt;
  }
  core::Quota quota = *base_;
  const Stated stated = ReadStated(fields, quota.algorithm);
  if (stated.faulty) {
    return std::nullopt;
  }
  if (!stated.unlimited && !stated.limit && !stated.rate && !stated.burst) {
    const std::size_t matches = fields.Get("match") != nullptr ? 1 : 0;
    if (fields.map().pair_count() > matches) {
      return std::nullopt;  // The wrong value has been reported.
    }
    report_.Fail(fields.map(), "this " + std::string(what) + " changes nothing: give it " +
                                   (core::IsBucket(quota.algorithm) ? "rate or burst" : "limit"));
    return std::nullopt;
  }
  if (!Apply(fields, stated, quota)) {
    return std::nullopt;
  }
  return Numbers{.unlimited = quota.unlimited,
                 .line = fields.map().line,
                 .limit = quota.limit,
                 .rate = quota.rate};
}

QuotaReader::Stated QuotaReader::ReadStated(const Fields& fields, Algorithm algorithm) {
  Stated stated;
  const bool bucket = core::IsBucket(algorithm);
  if (const yaml::Node* node = fields.Get("limit"); node != nullptr) {
    if (node->is_text() && node->text == "unlimited") {
      stated.unlimited = true;
    } else if (bucket) {
      report_.Fail(fields.KeyOf("limit"), "limit is not a field of " + NameText(algorithm) +
                                              ": write rate and burst, or limit: unlimited");
      stated.faulty = true;
    } else {
      stated.limit = ReadUnits(*node, "limit", report_);
      stated.faulty |= !stated.limit.has_value();
    }
  }
  for (const auto& [name, target] :
       {std::pair{"rate", &stated.rate}, std::pair{"burst", &stated.burst}}) {
    if (const yaml::Node* node = fields.Get(name); node != nullptr) {
      if (!bucket) {
        report_.Fail(fields.KeyOf(name), std::string(name) + " is not a field of " +
                                             NameText(algorithm) + ": write limit");
        stated.faulty = true;
      } else {
        *target = ReadUnits(*node, name, report_);
        stated.faulty |= !target->has_value();
      }
    }
  }
  return stated;
}

void QuotaReader::RejectForeign(const Fields& rule, Algorithm algorithm) {
  for (const auto& [word, field] : kWords) {
    // ReadStated checks rate and burst, also those of plans and overrides.
    if (word == "rate" || word == "burst" || rule.Get(word) == nullptr || Has(algorithm, field)) {
      continue;
    }
    const bool holds = field == QuotaField::kWindow && Has(algorithm, QuotaField::kHoldTtl);
    report_.Fail(rule.KeyOf(word), std::string(word) + " is not a field of " + NameText(algorithm) +
                                       ": " +
                                       (holds ? "write hold_ttl, the time that a hold lasts"
                                              : "it belongs to " + core::OwnersOf(field)));
    window_faulty_ = true;
  }
}

bool QuotaReader::Apply(const Fields& fields, const Stated& stated, core::Quota& quota) {
  const bool bucket = core::IsBucket(quota.algorithm);
  const auto missing = [&](std::string_view field, const std::string& remedy) {
    report_.Fail(fields.map(), std::string(field) + " is missing: " + remedy);
    return false;
  };
  if (stated.faulty) {
    return false;
  }
  const bool was_unlimited = quota.unlimited;
  quota.unlimited = stated.unlimited;
  if (stated.unlimited) {
    return !window_faulty_;
  }
  const bool is_rule = fields.Get("algorithm") != nullptr;
  if (bucket) {
    if (!stated.rate.has_value() && (is_rule || was_unlimited)) {
      return missing("rate", "write rate and window, as in rate: 100, window: 1m");
    }
    quota.rate = stated.rate.value_or(quota.rate);
    if (core::TraitsOf(quota.algorithm).needs_burst && !stated.burst && !stated_burst_) {
      return missing("burst", "a " + NameText(quota.algorithm) + " must state its burst");
    }
    quota.limit = stated.burst ? *stated.burst : stated_burst_.value_or(quota.rate);
  } else {
    if (!stated.limit.has_value()) {
      return missing("limit", "write limit: 100, or limit: unlimited");
    }
    quota.limit = *stated.limit;
  }
  if (window_faulty_) {
    return false;  // Already reported.
  }
  if (quota.window == Duration(0) && quota.calendar == nullptr) {
    const std::string_view number = bucket ? "rate" : "limit";
    const yaml::Node& at = fields.Get(number) != nullptr ? fields.KeyOf(number) : fields.map();
    if (fields.Get("window") != nullptr || fields.Get("hold_ttl") != nullptr) {
      report_.Fail(*fields.Get(fields.Get("window") != nullptr ? "window" : "hold_ttl"),
                   "a duration of 0 is not possible: the shortest is 1ms");
    } else if (Has(quota.algorithm, QuotaField::kHoldTtl)) {
      report_.Fail(at,
                   "hold_ttl is missing: the time after which an unreleased hold expires. Add "
                   "hold_ttl: 30s");
    } else {
      report_.Fail(at, std::string(number) + " " +
                           std::to_string(bucket ? quota.rate : quota.limit) +
                           " has no window: add one, such as window: 1m");
    }
    return false;
  }
  if (auto fault = core::FaultOf(quota); fault.has_value()) {
    // A fault begins with the name of its field, if it has one.
    const std::string field = fault->substr(0, fault->find_first_of(" :"));
    const yaml::Node* node = fields.Get(field);
    report_.Fail(node != nullptr ? *node : fields.map(), std::move(*fault));
    return false;
  }
  return true;
}

}  // namespace sluice::rules
