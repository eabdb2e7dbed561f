#include "replay/event.h"

#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <utility>

#include "base/fault.h"
#include "wire/check_json.h"

namespace sluice::replay {

namespace {

using wire::JsonMember;
using wire::ScalarKind;

// Until when every instant plus the longest window is exact (core/quota.h).
constexpr WallInstant kLatest{std::chrono::seconds(6'058'972'800)};  // 2162-01-01.

// An event may have a proxy's complete URLs. Rules can match them, although a key cannot be that
// long (core::kMaxValueBytes).
constexpr std::size_t kMaxEventValueBytes = 65'536;

constexpr std::array<std::pair<std::string_view, Op>, 7> kOps{{{"check", Op::kCheck},
                                                               {"peek", Op::kPeek},
                                                               {"reset", Op::kReset},
                                                               {"refund", Op::kRefund},
                                                               {"release", Op::kRelease},
                                                               {"sweep", Op::kSweep},
                                                               {"rules", Op::kRules}}};

std::optional<Op> OpNamed(std::string_view name) {
  for (const auto& [op_name, op] : kOps) {
    if (op_name == name) {
      return op;
    }
  }
  return std::nullopt;
}

}  // namespace

EventReader::EventReader()
    : object_("attributes",
              {"t_ns", "t_ms", "op", "cost", "hold", "file", "peek", "wait", "reserve", "receipt"},
              wire::ScalarObjectLimits{.value_bytes = kMaxEventValueBytes}) {}

Result<void> EventReader::Read(std::string_view line) {
  event_.at = WallInstant{};
  event_.op = Op::kCheck;
  event_.cost = Cost{};
  event_.hold = 0;
  event_.file = {};
  event_.attributes.clear();
  has_stamp_ = has_hold_ = has_file_ = asks_to_peek_ = false;

  if (auto read = object_.Read(line); !read) {
    return Fault(std::move(read.error().message));
  }
  for (const JsonMember& member : object_.members()) {
    if (Result<void> read = ReadMember(member, line); !read) {
      return read;
    }
  }
  if (Result<void> whole = CheckWhole(); !whole) {
    return whole;
  }
  if (asks_to_peek_) {
    event_.op = Op::kPeek;
  }
  return {};
}

Result<void> EventReader::ReadMember(const JsonMember& member, std::string_view line) {
  if (!member.reserved) {
    if (member.kind != ScalarKind::kNull) {
      event_.attributes.push_back({.name = member.name, .value = member.text});
    }
    return {};
  }
  const std::string_view name = member.name;
  if (name == "t_ns" || name == "t_ms") {
    return ReadStamp(member);
  }
  if (member.kind == ScalarKind::kNull) {
    return {};  // As if it were absent.
  }
  if (name == "op") {
    const std::optional<Op> op =
        member.kind == ScalarKind::kText ? OpNamed(member.text) : std::nullopt;
    if (!op) {
      return Fault("unknown op " + std::string(member.text) +
                   ": check, peek, reset, refund, release, sweep or rules");
    }
    event_.op = *op;
  } else if (name == "cost") {
    const auto cost = wire::CostOf(member, line);
    if (!cost) {
      return Fault(cost.error().message);
    }
    event_.cost = *cost;
  } else if (name == "hold") {
    if (member.kind != ScalarKind::kInteger || !member.fits || member.integer < 1) {
      return Fault("hold must be the number of a hold granted, from 1");
    }
    has_hold_ = true;
    event_.hold = member.integer;
  } else if (name == "file") {
    if (member.kind != ScalarKind::kText || member.text.empty()) {
      return Fault("file must be the name of a rule file");
    }
    has_file_ = true;
    event_.file = member.text;
  } else {  // peek, wait, reserve or receipt.
    const auto truth = wire::TruthOf(member, line);
    if (!truth) {
      return Fault(truth.error().message);
    }
    asks_to_peek_ |= name == "peek" && *truth;
  }
  return {};
}

Result<void> EventReader::ReadStamp(const JsonMember& member) {
  if (has_stamp_) {
    return Fault("both t_ns and t_ms are given: remove one");
  }
  const bool millis = member.name == "t_ms";
  const std::int64_t unit = millis ? 1'000'000 : 1;
  if (member.kind != ScalarKind::kInteger || !member.fits || member.integer < 0 ||
      member.integer > kLatest.time_since_epoch().count() / unit) {
    return Fault(std::string(member.name) + " must be a whole number of " +
                 (millis ? "milliseconds" : "nanoseconds") + " since 1970, before the year 2162");
  }
  has_stamp_ = true;
  event_.at = WallInstant(Duration(member.integer * unit));
  return {};
}

Result<void> EventReader::CheckWhole() const {
  if (!has_stamp_) {
    return Fault("t_ns or t_ms is missing: the time of the event");
  }
  if (has_hold_ != (event_.op == Op::kRelease)) {
    return Fault(has_hold_ ? "hold belongs to \"op\": \"release\"; an attribute of that name goes "
                             "into \"attributes\": {...}"
                           : "release needs \"hold\": the number of a hold granted, from 1");
  }
  if (has_file_ != (event_.op == Op::kRules)) {
    return Fault(has_file_ ? "file belongs to \"op\": \"rules\"; an attribute of that name goes "
                             "into \"attributes\": {...}"
                           : "rules needs \"file\": the rule file to load");
  }
  if (asks_to_peek_ && event_.op != Op::kCheck && event_.op != Op::kPeek) {
    return Fault("\"peek\": true belongs to a check");
  }
  return {};
}

std::shared_ptr<const rules::RuleSet> LoadRuleFile(const std::filesystem::path& path,
                                                   const rules::RuleSet* running,
                                                   rules::Findings& findings) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (!file.is_open() || file.bad()) {
    const std::string why = errno == 0 ? "not a readable file" : std::strerror(errno);  // NOLINT
    findings.errors.push_back({.message = "cannot read it: " + why,
                               .place = {.file = path.string(), .line = 0, .column = 0}});
    return nullptr;
  }
  const rules::SourceText source{.name = path.string(), .text = std::move(text)};
  return rules::RuleSet::Build({&source, 1}, running, findings);
}

}  // namespace sluice::replay
