#include "wire/scalar_object.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "base/number_text.h"
#include "wire/ascii.h"
#include "wire/json_cursor.h"

namespace sluice::wire {

// Reads one text after another into the same memory. Each step returns false after a problem, and
// sets fault_, fault_at_ and message_.
struct ScalarObject::Impl {
  Impl(std::string_view nested, std::vector<std::string> words, const ScalarObjectLimits& bounds)
      : nested_name(nested), reserved(std::move(words)), limits(bounds) {
    members.reserve(limits.members);
  }

  tl::expected<void, JsonProblem> Read(std::string_view json);

  // Reads the object at the cursor. `outer`: it may contain the nested object.
  bool ReadObject(JsonCursor& cursor, bool outer);
  bool ReadMember(JsonCursor& cursor, bool outer);
  bool ReadName(JsonCursor& cursor, bool outer, JsonMember& member);
  bool ReadNested(JsonCursor& cursor);
  bool ReadValue(JsonCursor& cursor, JsonMember& member);
  bool ReadNumber(JsonCursor& cursor, JsonMember& member);
  std::string_view Shortest(std::string_view fraction);

  bool Refuse(JsonFault what, std::size_t offset, std::string why);
  bool RefuseTwice(std::size_t offset);
  // The text is not JSON at the cursor.
  bool Malformed(const JsonCursor& cursor, std::string_view what);

  const std::string nested_name;
  const std::vector<std::string> reserved;
  const ScalarObjectLimits limits;
  std::vector<JsonMember> members;
  std::string text;       // The JSON text, its strings decoded in place. Members view it.
  std::string fractions;  // Rewritten values, which may be longer. Does not move once used.
  std::string_view name;  // Of the member being read.
  bool nested_seen = false;

  JsonFault fault = JsonFault::kSyntax;
  std::size_t fault_at = 0;
  std::string message;
};

tl::expected<void, JsonProblem> ScalarObject::Impl::Read(std::string_view json) {
  members.clear();
  fractions.clear();
  text.assign(json);
  name = {};
  nested_seen = false;
  JsonCursor cursor(text.data(), text.size());
  const char first = cursor.Peek();
  bool read = false;
  if (first == '{') {
    read = ReadObject(cursor, true) &&
           ((cursor.Peek() == '\0' && cursor.at_end()) ||
            Refuse(JsonFault::kSyntax, cursor.offset(), "unexpected text after the JSON object"));
  } else if (first == '[' || first == '"' || first == '-' || IsDigit(first) ||
             (first == 't' && cursor.TakeWord("true")) ||
             (first == 'f' && cursor.TakeWord("false")) ||
             (first == 'n' && cursor.TakeWord("null"))) {
    read = Refuse(JsonFault::kNoObject, 0, "a JSON object is expected");
  } else if (json.empty()) {
    read = Refuse(JsonFault::kSyntax, 0, "a JSON object is expected, but the body is empty");
  } else {
    read = Malformed(cursor, "a JSON object is expected");
  }
  if (!read) {
    return tl::unexpected(ProblemAt(json, fault_at, fault, message, name));
  }
  return {};
}

bool ScalarObject::Impl::ReadObject(JsonCursor& cursor, bool outer) {
  if (!cursor.Take('{')) {
    return Malformed(cursor, "an object is expected");
  }
  if (cursor.Take('}')) {
    return true;
  }
  do {
    if (!ReadMember(cursor, outer)) {
      return false;
    }
  } while (cursor.Take(','));
  return cursor.Take('}') || Malformed(cursor, "a comma or a closing brace is expected");
}

bool ScalarObject::Impl::ReadMember(JsonCursor& cursor, bool outer) {
  JsonMember member;
  if (!ReadName(cursor, outer, member)) {
    return false;
  }
  if (!cursor.Take(':')) {
    return Malformed(cursor, "a colon is expected");
  }
  if (outer && name == nested_name) {
    return ReadNested(cursor);
  }
  member.name = name;
  if (!ReadValue(cursor, member)) {
    return false;
  }
  members.push_back(member);
  return true;
}

bool ScalarObject::Impl::ReadName(JsonCursor& cursor, bool outer, JsonMember& member) {
  if (cursor.Peek() != '"') {
    return Malformed(cursor, "a member's name in quotes is expected");
  }
  const std::size_t offset = cursor.offset();
  name = {};
  std::string_view read;
  if (!cursor.TakeString(read)) {
    return Malformed(cursor, cursor.wrong());
  }
  if (read.empty()) {
    return Refuse(JsonFault::kTooLong, offset, "a member's name is empty");
  }
  if (read.size() > limits.name_bytes) {
    return Refuse(JsonFault::kTooLong, offset,
                  fmt::format("a member's name is longer than {} bytes", limits.name_bytes));
  }
  name = read;
  if (outer && name == nested_name) {
    if (nested_seen) {
      return RefuseTwice(offset);
    }
    nested_seen = true;
    return true;
  }
  member.reserved = outer && std::ranges::find(reserved, name) != reserved.end();
  for (const JsonMember& other : members) {
    if (other.name == name && other.reserved == member.reserved) {
      return RefuseTwice(offset);
    }
  }
  if (members.size() == limits.members) {
    return Refuse(JsonFault::kTooMany, offset,
                  fmt::format("there are more than {} members", limits.members));
  }
  return true;
}

bool ScalarObject::Impl::ReadNested(JsonCursor& cursor) {
  const char first = cursor.Peek();
  if (first == '{') {
    return ReadObject(cursor, false);
  }
  const std::size_t offset = cursor.offset();
  if (first == 'n') {
    return cursor.TakeWord("null") || Malformed(cursor, cursor.wrong());
  }
  JsonMember ignored;
  return (first == '[' || ReadValue(cursor, ignored)) &&
         Refuse(JsonFault::kWrongType, offset, fmt::format("`{}` must be an object", name));
}

bool ScalarObject::Impl::ReadValue(JsonCursor& cursor, JsonMember& member) {
  const char first = cursor.Peek();
  const std::size_t offset = cursor.offset();
  member.offset = offset;
  switch (first) {
    case '"':
      if (!cursor.TakeString(member.text)) {
        return Malformed(cursor, cursor.wrong());
      }
      member.kind = ScalarKind::kText;
      break;
    case 't':
    case 'f':
      member.text = first == 't' ? "true" : "false";
      if (!cursor.TakeWord(member.text)) {
        return Malformed(cursor, cursor.wrong());
      }
      member.kind = ScalarKind::kBoolean;
      member.integer = first == 't' ? 1 : 0;
      return true;
    case 'n':
      member.kind = ScalarKind::kNull;
      return cursor.TakeWord("null") || Malformed(cursor, cursor.wrong());
    case '{':
    case '[':
      return Refuse(JsonFault::kNested, offset,
                    fmt::format("`{}` must be text, a number, a boolean or null, not {}", name,
                                first == '{' ? "an object" : "an array"));
    default:
      if (first != '-' && !IsDigit(first)) {
        return Malformed(cursor, "a value is expected");
      }
      if (!ReadNumber(cursor, member)) {
        return false;
      }
      break;
  }
  return member.text.size() <= limits.value_bytes ||
         Refuse(JsonFault::kTooLong, offset,
                fmt::format("`{}` is longer than {} bytes", name, limits.value_bytes));
}

bool ScalarObject::Impl::ReadNumber(JsonCursor& cursor, JsonMember& member) {
  JsonNumber number;
  if (!cursor.TakeNumber(number)) {
    return Malformed(cursor, cursor.wrong());
  }
  member.text = number.text;
  if (number.whole) {
    member.kind = ScalarKind::kInteger;
    member.fits = number.fits;
    member.integer = number.value;
    if (number.fits && number.value == 0) {
      member.text = "0";  // -0 is 0.
    }
    return true;
  }
  member.kind = ScalarKind::kFraction;
  if (number.text.size() <= limits.value_bytes) {
    member.text = Shortest(number.text);
  }
  return true;
}

std::string_view ScalarObject::Impl::Shortest(std::string_view fraction) {
  NumberBuffer buffer{};
  const std::string_view shortest = NumberText(fraction, buffer);
  if (shortest.data() != buffer.data()) {
    return shortest;
  }
  fractions.reserve(buffer.size() * (limits.members + 1));  // Once: members view it.
  const std::size_t begin = fractions.size();
  fractions.append(shortest);
  return std::string_view(fractions).substr(begin);
}

bool ScalarObject::Impl::Refuse(JsonFault what, std::size_t offset, std::string why) {
  fault = what;
  fault_at = offset;
  message = std::move(why);
  return false;
}

bool ScalarObject::Impl::RefuseTwice(std::size_t offset) {
  return Refuse(JsonFault::kDuplicate, offset, fmt::format("`{}` is given twice", name));
}

bool ScalarObject::Impl::Malformed(const JsonCursor& cursor, std::string_view what) {
  name = {};
  return Refuse(
      JsonFault::kSyntax, cursor.offset(),
      cursor.at_end() ? "the JSON text ends too early" : fmt::format("malformed JSON: {}", what));
}

ScalarObject::ScalarObject(std::string_view nested_name, std::vector<std::string> reserved,
                           const ScalarObjectLimits& limits)
    : impl_(std::make_unique<Impl>(nested_name, std::move(reserved), limits)) {}
ScalarObject::~ScalarObject() = default;
ScalarObject::ScalarObject(ScalarObject&&) noexcept = default;
ScalarObject& ScalarObject::operator=(ScalarObject&&) noexcept = default;

std::span<const JsonMember> ScalarObject::members() const {
  return impl_->members;
}

tl::expected<void, JsonProblem> ScalarObject::Read(std::string_view json) {
  return impl_->Read(json);
}

JsonProblem ProblemOf(const JsonMember& member, std::string_view json, JsonFault fault,
                      std::string_view text) {
  return ProblemAt(json, member.offset, fault, text, member.name);
}

}  // namespace sluice::wire
