#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <boost/json.hpp>

#include "base/display_text.h"

namespace sluice::app {

// A daemon's answer, or a part of it, as a command reads it: what is missing or of another type
// reads as "", 0, false or an empty list. A view of `value`.
class JsonAnswer {
 public:
  explicit JsonAnswer(const boost::json::value& value) : value_(&value) {}

  // On one line, without control characters: it may be a client's text.
  [[nodiscard]] std::string Text(std::string_view member) const {
    const boost::json::value* const found = Find(member);
    return found != nullptr && found->is_string() ? base::DisplayText(found->as_string()) : "";
  }
  [[nodiscard]] std::optional<std::int64_t> NumberIfAny(std::string_view member) const {
    const boost::json::value* const found = Find(member);
    return found != nullptr && found->is_int64() ? std::optional(found->as_int64()) : std::nullopt;
  }
  [[nodiscard]] std::int64_t Number(std::string_view member) const {
    return NumberIfAny(member).value_or(0);
  }
  // A number's digits.
  [[nodiscard]] std::string NumberOr(std::string_view member, std::string_view otherwise) const {
    const auto number = NumberIfAny(member);
    return number ? std::to_string(*number) : std::string(otherwise);
  }
  [[nodiscard]] bool Truth(std::string_view member) const {
    const boost::json::value* const found = Find(member);
    return found != nullptr && found->is_bool() && found->as_bool();
  }
  [[nodiscard]] const boost::json::array& List(std::string_view member) const {
    static const boost::json::array none;
    const boost::json::value* const found = Find(member);
    return found != nullptr && found->is_array() ? found->as_array() : none;
  }
  // A member that is an object; without it one without members.
  [[nodiscard]] JsonAnswer Part(std::string_view member) const {
    static const boost::json::value none;
    const boost::json::value* const found = Find(member);
    return JsonAnswer(found != nullptr ? *found : none);
  }
  [[nodiscard]] bool Has(std::string_view member) const { return Find(member) != nullptr; }
  // nullptr: there is no such member.
  [[nodiscard]] const boost::json::value* Find(std::string_view member) const {
    const boost::json::object* const object = value_->if_object();
    return object == nullptr ? nullptr : object->if_contains(member);
  }

 private:
  const boost::json::value* value_;
};

}  // namespace sluice::app
