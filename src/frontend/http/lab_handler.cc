#include <chrono>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <fmt/format.h>

#include "sluice/reason.h"

#include "base/fault.h"
#include "core/lab_key.h"
#include "core/quota.h"
#include "frontend/http/handlers.h"
#include "service/rounding.h"
#include "wire/json_writer.h"

namespace sluice::frontend::http {

namespace {

namespace json = boost::json;

constexpr std::size_t kMostQuotas = 16;
constexpr std::size_t kMostEvents = 2'000;
constexpr std::int64_t kMostMs = std::int64_t{1'000} * 24 * 3600 * 1000;
// The lab's time begins at the edge of a minute, so that aligned windows have theirs at round
// times.
constexpr WallInstant kStart{std::chrono::seconds(1'699'999'980)};

// One event: an arrival, or a look at what is left.
struct Event {
  WallInstant at;
  Cost cost;
  Duration held{};
  bool peek = false;
};

Duration Milliseconds(std::int64_t count) {
  return std::chrono::milliseconds(count);
}

// Reads one object's members, and keeps the first mistake with its place.
class Members {
 public:
  Members(const json::value& of, std::string place)
      : place_(std::move(place)), object_(of.if_object()) {
    if (object_ == nullptr) {
      fault_ = place_ + " must be an object";
    }
  }

  std::int64_t Number(std::string_view name, std::int64_t absent, std::int64_t most) {
    const json::value* const found = Find(name);
    if (found == nullptr) {
      return absent;
    }
    json::error_code inexact;
    const auto number = found->is_number() ? found->to_number<std::int64_t>(inexact) : -1;
    if (inexact || number < 0 || number > most) {
      SetFault(fmt::format("{}.{} must be a whole number from 0 to {}", place_, name, most));
      return absent;
    }
    return number;
  }
  bool Truth(std::string_view name) {
    const json::value* const found = Find(name);
    if (found != nullptr && !found->is_bool()) {
      SetFault(fmt::format("{}.{} must be true or false", place_, name));
    }
    return found != nullptr && found->is_bool() && found->get_bool();
  }
  std::string Text(std::string_view name) {
    const json::value* const found = Find(name);
    if (found == nullptr || !found->is_string()) {
      SetFault(fmt::format("{}.{} must be a text", place_, name));
      return {};
    }
    return std::string(found->get_string());
  }
  void SetFault(std::string fault) { fault_ = fault_.empty() ? std::move(fault) : fault_; }
  [[nodiscard]] const std::string& place() const { return place_; }
  [[nodiscard]] const std::string& fault() const { return fault_; }

 private:
  const json::value* Find(std::string_view name) const {
    return object_ == nullptr ? nullptr : object_->if_contains(name);
  }

  std::string place_;
  const json::object* object_;
  std::string fault_;
};

Result<core::Quota> QuotaOf(const json::value& value, std::size_t index) {
  Members members(value, fmt::format("quotas[{}]", index));
  core::Quota quota;
  const std::string name = members.Text("algorithm");
  if (const auto algorithm = core::AlgorithmNamed(name)) {
    quota.algorithm = *algorithm;
  } else {
    members.SetFault(members.place() + ".algorithm: there is no algorithm \"" + name + "\"");
  }
  const core::AlgorithmTraits& traits = core::TraitsOf(quota.algorithm);
  quota.limit = members.Number("limit", 0, kMaxUnits);
  quota.rate = traits.is_bucket() ? members.Number("rate", 0, kMaxUnits) : 0;
  quota.window = Milliseconds(members.Number("window_ms", 0, kMostMs));
  if (traits.has_segments()) {
    quota.segments = static_cast<std::uint8_t>(members.Number(
        "segments", core::kDefaultSegments, std::numeric_limits<std::uint8_t>::max()));
  }
  quota.shape = traits.fields.Has(core::QuotaField::kShape) && members.Truth("shape");
  if (members.fault().empty()) {
    if (const auto fault = core::FaultOf(quota)) {
      members.SetFault(members.place() + ": " + *fault);
    }
  }
  return members.fault().empty() ? Result<core::Quota>(quota) : Fault(members.fault());
}

Result<std::vector<Event>> EventsOf(const json::array& values) {
  std::vector<Event> events;
  for (const json::value& value : values) {
    Members members(value, fmt::format("events[{}]", events.size()));
    const Event event{.at = kStart + Milliseconds(members.Number("at", 0, kMostMs)),
                      .cost = Cost{members.Number("cost", 1, kMaxUnits)},
                      .held = Milliseconds(members.Number("held", kMostMs, kMostMs)),
                      .peek = members.Truth("peek")};
    if (!events.empty() && event.at < events.back().at) {
      members.SetFault(members.place() +
                       ".at is before the event in front of it: sort events by time");
    }
    if (!members.fault().empty()) {
      return Fault(members.fault());
    }
    events.push_back(event);
  }
  return events;
}

void AppendMs(Duration time, wire::JsonWriter& writer) {
  if (service::IsKnown(time)) {
    writer.Number(service::CeilMilliseconds(time));
  } else {
    writer.Null();
  }
}

void AppendDecision(const Decision& decision, wire::JsonWriter& writer) {
  writer.BeginObject();
  writer.Name("allowed").Truth(decision.allowed);
  writer.Name("reason").Text(RowOf(decision.reason).name);
  writer.Name("remaining").Number(decision.remaining);
  writer.Name("retry_after_ms");
  AppendMs(decision.retry_after, writer);
  writer.Name("wait_ms");
  AppendMs(decision.wait, writer);
  writer.EndObject();
}

// The answer's body. `status`: of the refusal.
Result<std::string> Simulate(std::string_view body, int& status) {
  status = 400;
  json::error_code error;
  const json::value parsed = json::parse(body, error);
  const json::object* const object = error ? nullptr : parsed.if_object();
  const json::value* const quotas = object == nullptr ? nullptr : object->if_contains("quotas");
  const json::value* const events = object == nullptr ? nullptr : object->if_contains("events");
  if (quotas == nullptr || !quotas->is_array() || events == nullptr || !events->is_array() ||
      quotas->get_array().size() > kMostQuotas || events->get_array().size() > kMostEvents) {
    return Fault(
        fmt::format("expected {{\"quotas\": […], \"events\": […]}}, at most {} and {} of them",
                    kMostQuotas, kMostEvents));
  }
  status = 422;
  const Result<std::vector<Event>> read = EventsOf(events->get_array());
  if (!read) {
    return tl::unexpected(read.error());
  }
  std::string answer;
  wire::JsonWriter writer(answer);
  writer.BeginObject().Name("decisions").BeginArray();
  std::size_t index = 0;
  for (const json::value& value : quotas->get_array()) {
    const Result<core::Quota> quota = QuotaOf(value, index++);
    if (!quota) {
      return tl::unexpected(quota.error());
    }
    core::LabKey key(*quota);
    writer.BeginArray();
    for (const Event& event : *read) {
      AppendDecision(
          event.peek ? key.Peek(event.at, event.cost) : key.Check(event.at, event.cost, event.held),
          writer);
    }
    writer.EndArray();
  }
  writer.EndArray().EndObject();
  return answer;
}

}  // namespace

void HandleLab(const Routed& routed) {
  int status = 0;
  const Result<std::string> answer = Simulate(routed.request.body, status);
  if (!answer) {
    routed.exchange.AnswerProblem(
        {.status = status, .title = {}, .detail = answer.error().message, .code = "invalid_body"});
    return;
  }
  routed.exchange.AnswerText(200, "application/json", *answer);
}

}  // namespace sluice::frontend::http
