#include "wire/scalar_object.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <vector>

#include <boost/json/basic_parser_impl.hpp>
#include <fmt/format.h>

#include "wire/json_place.h"

namespace sluice::wire {
namespace {

namespace json = boost::json;

// A fraction's text never grows by more than this when it is written anew.
constexpr std::size_t kFractionBytes = 32;

std::string_view View(json::string_view text) {
  return {text.data(), text.size()};
}

// Takes Boost.JSON's events. What it refuses it notes as a fault of a member and stops the
// parser; syntax is the parser's own to refuse.
class Handler {
 public:
  // What Boost.JSON itself should bound; the limits here are ours and smaller.
  static constexpr std::size_t max_object_size = std::numeric_limits<std::size_t>::max();
  static constexpr std::size_t max_array_size = std::numeric_limits<std::size_t>::max();
  static constexpr std::size_t max_key_size = std::numeric_limits<std::size_t>::max();
  static constexpr std::size_t max_string_size = std::numeric_limits<std::size_t>::max();

  Handler(std::string nested_name, std::vector<std::string> reserved,
          const ScalarObjectLimits& limits)
      : nested_name_(std::move(nested_name)), reserved_(std::move(reserved)), limits_(limits) {
    members_.reserve(limits.members);
  }

  void Start(std::size_t json_bytes) {
    members_.clear();
    text_.clear();
    // Members view `text_`, so it must not move: decoded text is never longer than its JSON,
    // fractions written anew apart, and both are bounded by the limits.
    const std::size_t most = (limits_.members + 1) * (limits_.name_bytes + limits_.value_bytes);
    text_.reserve(std::min(json_bytes, most) + kFractionBytes * (limits_.members + 1));
    refused_ = false;
    depth_ = 0;
    keys_ = 0;
    part_begin_ = 0;
    nested_seen_ = false;
    nested_next_ = false;
  }

  [[nodiscard]] const std::vector<JsonMember>& members() const { return members_; }

  [[nodiscard]] bool refused() const { return refused_; }
  [[nodiscard]] JsonProblem Problem(std::string_view json) const {
    if (fault_ == JsonFault::kNoObject) {
      return ProblemAt(json, 0, fault_, text_of_fault_);
    }
    const std::size_t place = PlaceOfMember(json, keys_ == 0 ? 0 : keys_ - 1, fault_part_);
    return ProblemAt(json, place, fault_, text_of_fault_, name_);
  }

  bool on_document_begin(json::error_code&) { return true; }
  bool on_document_end(json::error_code&) { return true; }

  bool on_object_begin(json::error_code& error) {
    if (depth_ == 1 && nested_next_) {
      nested_next_ = false;
    } else if (depth_ != 0) {
      return RefuseNested(error, "an object");
    }
    ++depth_;
    return true;
  }
  bool on_object_end(std::size_t, json::error_code&) {
    --depth_;
    return true;
  }
  bool on_array_begin(json::error_code& error) {
    return depth_ == 0 ? RefuseRoot(error) : RefuseNested(error, "an array");
  }
  bool on_array_end(std::size_t, json::error_code&) { return true; }

  bool on_key_part(json::string_view part, std::size_t size, json::error_code& error) {
    return Append(part, size, limits_.name_bytes, "name", error);
  }
  bool on_key(json::string_view part, std::size_t size, json::error_code& error) {
    ++keys_;
    if (!Append(part, size, limits_.name_bytes, "name", error)) {
      return false;
    }
    name_ = TakePart();
    if (name_.empty()) {
      return Refuse(error, JsonFault::kTooLong, MemberPart::kName, "a member's name is empty");
    }
    if (depth_ == 1 && name_ == nested_name_) {
      if (nested_seen_) {
        return RefuseDuplicate(error);
      }
      nested_seen_ = true;
      nested_next_ = true;
      return true;
    }
    is_reserved_ = depth_ == 1 && std::ranges::find(reserved_, name_) != reserved_.end();
    for (const JsonMember& member : members_) {
      if (member.name == name_ && member.reserved == is_reserved_) {
        return RefuseDuplicate(error);
      }
    }
    if (members_.size() == limits_.members) {
      return Refuse(error, JsonFault::kTooMany, MemberPart::kName,
                    fmt::format("there are more than {} members", limits_.members));
    }
    return true;
  }

  bool on_string_part(json::string_view part, std::size_t size, json::error_code& error) {
    return (depth_ != 0 || RefuseRoot(error)) &&
           Append(part, size, limits_.value_bytes, "value", error);
  }
  bool on_string(json::string_view part, std::size_t size, json::error_code& error) {
    if (depth_ == 0) {
      return RefuseRoot(error);
    }
    if (!Append(part, size, limits_.value_bytes, "value", error)) {
      return false;
    }
    return Add({.text = TakePart(), .kind = ScalarKind::kText}, error);
  }

  bool on_number_part(json::string_view part, json::error_code& error) {
    return (depth_ != 0 || RefuseRoot(error)) &&
           Append(part, text_.size() - part_begin_ + part.size(), limits_.value_bytes, "value",
                  error);
  }
  bool on_int64(std::int64_t number, json::string_view part, json::error_code& error) {
    if (!on_number_part(part, error)) {
      return false;
    }
    std::string_view text = TakePart();
    if (number == 0) {
      text = "0";  // -0 is 0.
    }
    return Add({.text = text, .kind = ScalarKind::kInteger, .fits = true, .integer = number},
               error);
  }
  bool on_uint64(std::uint64_t, json::string_view part, json::error_code& error) {
    return on_number_part(part, error) &&
           Add({.text = TakePart(), .kind = ScalarKind::kInteger}, error);
  }
  bool on_double(double, json::string_view part, json::error_code& error) {
    if (!on_number_part(part, error)) {
      return false;
    }
    const std::string_view text = TakePart();
    if (text.find_first_of(".eE") == std::string_view::npos) {
      return Add({.text = text, .kind = ScalarKind::kInteger}, error);  // Beyond 64 bits.
    }
    return Add({.text = Shortest(text), .kind = ScalarKind::kFraction}, error);
  }
  bool on_bool(bool truth, json::error_code& error) {
    return Add(
        {.text = truth ? "true" : "false", .kind = ScalarKind::kBoolean, .integer = truth ? 1 : 0},
        error);
  }
  bool on_null(json::error_code& error) {
    if (nested_next_) {
      nested_next_ = false;
      return true;
    }
    return Add({.kind = ScalarKind::kNull}, error);
  }
  bool on_comment_part(json::string_view, json::error_code&) { return true; }
  bool on_comment(json::string_view, json::error_code&) { return true; }

 private:
  bool Refuse(json::error_code& error, JsonFault fault, MemberPart part, std::string text) {
    refused_ = true;
    fault_ = fault;
    fault_part_ = part;
    text_of_fault_ = std::move(text);
    error = json::make_error_code(json::error::syntax);
    return false;
  }
  bool RefuseRoot(json::error_code& error) {
    return Refuse(error, JsonFault::kNoObject, MemberPart::kName, "a JSON object is expected");
  }
  bool RefuseNested(json::error_code& error, std::string_view what) {
    if (nested_next_) {
      return RefuseNoNestedObject(error);
    }
    return Refuse(
        error, JsonFault::kNested, MemberPart::kValue,
        fmt::format("`{}` must be text, a number, a boolean or null, not {}", name_, what));
  }
  bool RefuseNoNestedObject(json::error_code& error) {
    return Refuse(error, JsonFault::kWrongType, MemberPart::kValue,
                  fmt::format("`{}` must be an object", name_));
  }
  bool RefuseDuplicate(json::error_code& error) {
    return Refuse(error, JsonFault::kDuplicate, MemberPart::kName,
                  fmt::format("`{}` is given twice", name_));
  }

  // `size`: of the whole text so far, this part included.
  bool Append(json::string_view part, std::size_t size, std::size_t most, std::string_view what,
              json::error_code& error) {
    if (size > most) {
      const bool of_name = what == "name";
      if (of_name) {
        name_ = {};
      }
      return Refuse(error, JsonFault::kTooLong, of_name ? MemberPart::kName : MemberPart::kValue,
                    of_name ? fmt::format("a member's name is longer than {} bytes", most)
                            : fmt::format("`{}` is longer than {} bytes", name_, most));
    }
    text_.append(View(part));
    return true;
  }

  std::string_view TakePart() {
    const std::string_view part = std::string_view(text_).substr(part_begin_);
    part_begin_ = text_.size();
    return part;
  }

  // std::from_chars and to_chars are exact: Boost.JSON 1.81's own double may be a bit off.
  std::string_view Shortest(std::string_view text) {
    double number = 0;
    if (std::from_chars(text.data(), text.data() + text.size(), number).ec != std::errc()) {
      return text;  // Out of a double's range: as it was written.
    }
    if (number == 0) {
      return "0";
    }
    char digits[kFractionBytes];
    const auto [end, error] = std::to_chars(digits, digits + sizeof digits, number);
    text_.append(digits, end);
    return TakePart();
  }

  bool Add(JsonMember member, json::error_code& error) {
    if (depth_ == 0) {
      return RefuseRoot(error);
    }
    if (nested_next_) {
      return RefuseNoNestedObject(error);
    }
    member.name = name_;
    member.reserved = is_reserved_;
    member.ordinal = keys_ - 1;
    members_.push_back(member);
    return true;
  }

  const std::string nested_name_;
  const std::vector<std::string> reserved_;
  const ScalarObjectLimits limits_;
  std::vector<JsonMember> members_;
  std::string text_;            // Of all members; reserved by Start(), so it stays put.
  std::size_t part_begin_ = 0;  // Where the name or value being read begins in text_.
  std::string_view name_;       // Of the member being read.
  std::size_t keys_ = 0;        // Members met, the nested object's own name included.
  int depth_ = 0;
  bool is_reserved_ = false;  // name_ is a reserved word.
  bool nested_seen_ = false;
  bool nested_next_ = false;  // The value that comes next is the nested object's.
  bool refused_ = false;
  JsonFault fault_ = JsonFault::kSyntax;
  MemberPart fault_part_ = MemberPart::kName;
  std::string text_of_fault_;
};

json::parse_options Options() {
  json::parse_options options;
  options.max_depth = 4;  // Two are used: our handler refuses the third itself.
  return options;
}

}  // namespace

struct ScalarObject::Impl {
  Impl(std::string nested_name, std::vector<std::string> reserved, const ScalarObjectLimits& limits)
      : parser(Options(), std::move(nested_name), std::move(reserved), limits) {}
  json::basic_parser<Handler> parser;
};

ScalarObject::ScalarObject(std::string_view nested_name, std::vector<std::string> reserved,
                           const ScalarObjectLimits& limits)
    : impl_(std::make_unique<Impl>(std::string(nested_name), std::move(reserved), limits)) {}
ScalarObject::~ScalarObject() = default;
ScalarObject::ScalarObject(ScalarObject&&) noexcept = default;
ScalarObject& ScalarObject::operator=(ScalarObject&&) noexcept = default;

std::span<const JsonMember> ScalarObject::members() const {
  return impl_->parser.handler().members();
}

tl::expected<void, JsonProblem> ScalarObject::Read(std::string_view json) {
  if (json.empty()) {
    return tl::unexpected(
        ProblemAt(json, 0, JsonFault::kSyntax, "a JSON object is expected, not nothing"));
  }
  auto& parser = impl_->parser;
  parser.reset();
  parser.handler().Start(json.size());
  json::error_code error;
  const std::size_t used = parser.write_some(false, json.data(), json.size(), error);
  if (parser.handler().refused()) {
    return tl::unexpected(parser.handler().Problem(json));
  }
  if (error == json::error::incomplete) {
    return tl::unexpected(
        ProblemAt(json, json.size(), JsonFault::kSyntax, "the JSON text ends too early"));
  }
  if (error) {
    return tl::unexpected(
        ProblemAt(json, used, JsonFault::kSyntax, "malformed JSON: " + error.message()));
  }
  const std::size_t more = json.find_first_not_of(" \t\r\n", used);
  if (more != std::string_view::npos) {
    return tl::unexpected(
        ProblemAt(json, more, JsonFault::kSyntax, "something stands behind the JSON object"));
  }
  return {};
}

std::string_view FaultName(JsonFault fault) {
  switch (fault) {
    case JsonFault::kSyntax:
      return "invalid_json";
    case JsonFault::kNoObject:
      return "not_an_object";
    case JsonFault::kNested:
      return "nested_value";
    case JsonFault::kDuplicate:
      return "duplicate_member";
    case JsonFault::kTooMany:
      return "too_many_members";
    case JsonFault::kTooLong:
      return "member_too_long";
    case JsonFault::kWrongType:
      return "wrong_type";
    case JsonFault::kCost:
      return "invalid_cost";
  }
  return "invalid_json";
}

JsonProblem ProblemAt(std::string_view json, std::size_t offset, JsonFault fault,
                      std::string_view text, std::string_view member) {
  const std::string_view before = json.substr(0, std::min(offset, json.size()));
  const std::size_t line_feed = before.rfind('\n');
  const std::size_t column =
      line_feed == std::string_view::npos ? before.size() : before.size() - line_feed - 1;
  JsonProblem problem;
  problem.fault = fault;
  problem.member = member;
  problem.offset = before.size();
  problem.line = 1 + static_cast<int>(std::ranges::count(before, '\n'));
  problem.column = 1 + static_cast<int>(column);
  problem.message = fmt::format("{} (line {}, column {})", text, problem.line, problem.column);
  return problem;
}

JsonProblem ProblemOf(const JsonMember& member, std::string_view json, JsonFault fault,
                      std::string_view text) {
  return ProblemAt(json, PlaceOfMember(json, member.ordinal, MemberPart::kValue), fault, text,
                   member.name);
}

}  // namespace sluice::wire
