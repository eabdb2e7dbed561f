#include "envoy/limit_reader.h"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <utility>

#include "envoy/config_value.h"
#include "rules/spelling.h"
#include "rules/value_reader.h"

namespace sluice::envoy {

namespace {

using core::Algorithm;

// In the order of rules::OnStoreError.
constexpr std::array<std::string_view, 4> kOnStoreError{"allow", "deny", "local", "fail"};
// What judges a request by its key alone. concurrency does not: its holds would never be released.
constexpr auto kAlgorithms =
    core::NamesOf(core::AlgorithmsWith<&core::AlgorithmTraits::has_receipts>());

// The fields as written.
struct Fields {
  std::string unit;
  const yaml::Node* unit_node = nullptr;
  std::uint32_t requests_per_unit = 0;
  std::optional<std::uint32_t> burst;
  const yaml::Node* burst_node = nullptr;
  std::optional<Algorithm> algorithm;
  std::optional<Duration> period;
  const yaml::Node* sync_node = nullptr;
};

void ReadReplaces(const yaml::Node& node, Reporter& report, Limit& limit) {
  for (const yaml::Node* item : ReadMaps(node, "[]config.YamlReplaces", report)) {
    std::string name;
    for (const auto& [key, value] : MembersOf(*item)) {
      if (key->text == "name") {
        name = ReadText(*value, report);
      }
    }
    limit.replaces.push_back(std::move(name));
  }
}

Fields ReadFields(const yaml::Node& node, Reporter& report, Limit& limit) {
  Fields fields;
  for (const auto& [key, value] : MembersOf(node)) {
    const std::string_view field = key->text;
    if (field == "unit") {
      fields.unit = ReadText(*value, report);
      fields.unit_node = value;
    } else if (field == "requests_per_unit") {
      fields.requests_per_unit = ReadUint32(*value, report);
    } else if (field == "unlimited") {
      limit.unlimited = ReadBool(*value, report);
    } else if (field == "name") {
      limit.name = ReadText(*value, report);
    } else if (field == "replaces") {
      ReadReplaces(*value, report, limit);
    } else if (field == "algorithm") {
      if (const auto word = rules::ReadWord(*value, field, kAlgorithms, report)) {
        fields.algorithm = core::AlgorithmNamed(kAlgorithms[*word]);
      }
    } else if (field == "burst") {
      fields.burst = ReadUint32(*value, report);
      fields.burst_node = value;
    } else if (field == "period") {
      fields.period = rules::ReadDuration(*value, field, report);
    } else if (field == "on_store_error") {
      if (const auto word = rules::ReadWord(*value, field, kOnStoreError, report)) {
        limit.on_store_error = static_cast<rules::OnStoreError>(*word);
      }
    } else if (field == "sync") {
      limit.sync = rules::ReadSync(*value, report).value_or(core::Sync::kExact);
      fields.sync_node = value;
    }
  }
  return fields;
}

void CheckReplaces(const yaml::Node& node, const Limit& limit, Reporter& report) {
  for (const std::string& name : limit.replaces) {
    if (name.empty()) {
      report.Fail(node, "should not have an empty replaces entry");
    } else if (name == limit.name) {
      report.Fail(node, "replaces should not contain name of same descriptor");
    }
  }
}

// By the window's length and what may pass in it.
core::Quota QuotaOf(const Fields& fields, Duration window) {
  core::Quota quota;
  quota.algorithm = fields.algorithm.value_or(core::Algorithm::kAttemptWindow);
  quota.window = window;
  quota.limit = fields.requests_per_unit;
  if (core::IsBucket(quota.algorithm)) {
    quota.rate = quota.limit;
    quota.limit = fields.burst.value_or(fields.requests_per_unit);
  }
  return quota;
}

void ReadQuota(const yaml::Node& node, const Fields& fields, Reporter& report, Limit& limit) {
  const std::optional<Unit> unit = UnitNamed(fields.unit);
  if (limit.unlimited) {
    if (unit || fields.period) {
      report.Fail(node, "should not specify rate limit unit when unlimited");
    }
    limit.quota.unlimited = true;
    return;
  }
  if (!unit && !fields.period) {
    report.Fail(fields.unit_node == nullptr ? node : *fields.unit_node,
                "invalid rate limit unit '" + fields.unit + "'");
    return;
  }
  if (unit && fields.period) {
    report.Fail(node, "should not specify rate limit unit and period: leave one");
    return;
  }
  limit.quota = QuotaOf(fields, unit ? LengthOf(*unit) : *fields.period);
  if (fields.burst && !core::IsBucket(limit.quota.algorithm)) {
    report.Fail(*fields.burst_node, "burst belongs to " + core::OwnersOf(core::QuotaField::kBurst) +
                                        ": name one as algorithm, or leave burst out");
  } else if (const auto fault = core::FaultOf(limit.quota)) {
    report.Fail(node, *fault);
  } else if (const auto unlendable = core::FaultOf(limit.sync, limit.quota)) {
    report.Fail(*fields.sync_node, *unlendable);
  } else if (unit) {
    limit.requests_per_unit = fields.requests_per_unit;
    limit.unit = *unit;
  } else {
    const PerUnit nearest = NearestUnit(fields.requests_per_unit, *fields.period);
    limit.requests_per_unit = nearest.requests;
    limit.unit = nearest.unit;
  }
}

// Whether what was counted by one of them counts for the other. A attempt
// window is a fixed window, as which it is judged by our own semantics.
bool ShareCounter(const core::Quota& one, const core::Quota& other) {
  const auto kind = [](const core::Quota& quota) {
    return quota.algorithm == core::Algorithm::kAttemptWindow ? Algorithm::kFixedWindow
                                                              : quota.algorithm;
  };
  return kind(one) == kind(other) && one.window == other.window;
}

void CheckAmongOthers(const yaml::Node& node, const Limit& limit,
                      std::span<const std::unique_ptr<Limit>> before, Reporter& report) {
  if (limit.unlimited) {
    report.Fail(node, "a limit of rate_limits should not be unlimited: leave it out");
    return;
  }
  const auto names = [](const Limit& one, const Limit& other) {
    return !other.name.empty() && std::ranges::find(one.replaces, other.name) != one.replaces.end();
  };
  for (const auto& other : before) {
    if (names(limit, *other) || names(*other, limit)) {
      report.Fail(node, "replaces should not contain name of same descriptor");
    }
    if (limit.quota.window != Duration{} && ShareCounter(limit.quota, other->quota)) {
      report.Fail(node,
                  "rate_limits has two limits of one period and "
                  "algorithm, which would count "
                  "together: leave one");
    }
  }
}

}  // namespace

std::vector<std::unique_ptr<Limit>> ReadLimits(const yaml::Node& list, const std::string& path,
                                               Reporter& report) {
  std::vector<std::unique_ptr<Limit>> limits;
  const std::size_t before = report.error_count();
  const std::vector<const yaml::Node*> items = ReadMaps(list, "[]config.yamlRateLimit", report);
  if (report.error_count() != before) {
    return limits;
  }
  if (items.empty() || items.size() > kMostLimits) {
    report.Fail(list, "rate_limits must have 1 to " + std::to_string(kMostLimits) + " limits");
    return limits;
  }
  for (const yaml::Node* item : items) {
    auto limit = ReadLimit(*item, path, report);
    CheckAmongOthers(*item, *limit, limits, report);
    limits.push_back(std::move(limit));
  }
  return limits;
}

std::unique_ptr<Limit> ReadLimit(const yaml::Node& node, const std::string& path,
                                 Reporter& report) {
  auto limit = std::make_unique<Limit>();
  limit->path = path;
  const Fields fields = ReadFields(node, report, *limit);
  ReadQuota(node, fields, report, *limit);
  CheckReplaces(node, *limit, report);
  return limit;
}

}  // namespace sluice::envoy
