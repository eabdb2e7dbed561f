#include "frontend/resp/exchange.h"

#include <algorithm>

#include "frontend/resp/connection.h"
#include "frontend/resp/front_end.h"
#include "frontend/resp/throttle_reply.h"
#include "frontend/resp/verdict_reply.h"
#include "wire/scalar_object.h"

namespace sluice::frontend::resp {

void Exchange::BecomeReady() noexcept {
  ready_ = true;
  if (abandoned()) {
    Return();
  } else {
    connection_->OnExchangeReady();
  }
}

void ThrottleExchange::Render(std::string& out) const {
  AppendThrottleReply(decision(), out);
}

std::string_view NamedRequest::Read(std::span<const std::string_view> args) {
  constexpr std::size_t kMostAttributes = 64;  // As many as a check over HTTP may have.
  attributes_.clear();
  text_.clear();
  if (args.size() > kMostAttributes + 1) {
    return "a request may have at most 64 attributes";
  }
  std::size_t bytes = 0;
  for (const std::string_view arg : args) {
    bytes += arg.size();
  }
  text_.reserve(bytes);  // The views stay good.
  const auto kept = [this](std::string_view bytes_of) {
    const std::size_t begin = text_.size();
    text_ += bytes_of;
    return std::string_view(text_).substr(begin);
  };
  only_rule_ = args.front() == "*" ? std::string_view() : kept(args.front());
  if (only_rule_.empty() && args.front() != "*") {
    return "name a rule, or * for all that apply";
  }
  for (const std::string_view arg : args.subspan(1)) {
    const std::size_t equals = arg.find('=');
    if (equals == std::string_view::npos || equals == 0) {
      return "attributes are written name=value; options follow them";
    }
    const std::string_view name = arg.substr(0, equals);
    if (std::ranges::any_of(attributes_, [name](const Attribute& a) { return a.name == name; })) {
      return "an attribute is given twice";
    }
    if (name.size() > wire::ScalarObjectLimits{}.name_bytes ||
        arg.size() - equals - 1 > wire::ScalarObjectLimits{}.value_bytes) {
      return "an attribute's name may have at most 256 bytes and its value 1024";
    }
    attributes_.push_back({.name = kept(name), .value = kept(arg.substr(equals + 1))});
  }
  return {};
}

void VerdictExchange::OnVerdict() noexcept {
  if (!abandoned()) {
    wire::RespWriter writer(answer_, version_);
    if (verdict.request_error.empty()) {
      if (verdict.now == WallInstant{}) {
        verdict.now = front_end_->WallNow();  // No store was asked.
      }
      AppendVerdict(
          verdict,
          {.receipt = receipt, .reservation = reserve, .keys = front_end_->settings().keys},
          writer);
    } else {
      writer.Error("ERR", verdict.request_error);
    }
  }
  BecomeReady();
}

void OperatorExchange::Render(std::string& out) const {
  wire::RespWriter writer(out, wire::RespVersion::k2);
  if (!request_error.empty()) {
    writer.Error("ERR", request_error);
  } else if (error == store::StoreError::kUnsupported) {
    writer.Error(
        "ERR",
        "the counters of a concurrency rule are holds, which are released: name other rules");
  } else if (error != store::StoreError::kNone) {
    writer.Error("SHED", "the store did not answer: the change may or may not have been made");
  } else {
    writer.Integer(static_cast<std::int64_t>(touched));
  }
}

}  // namespace sluice::frontend::resp
