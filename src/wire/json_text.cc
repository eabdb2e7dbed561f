#include "wire/json_text.h"

#include <algorithm>

#include <fmt/format.h>

namespace sluice::wire {

namespace {

// Far deeper than any accepted value.
constexpr int kMostLevels = 64;

bool IsJsonSpace(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

class Splitter {
 public:
  Splitter(std::string_view json, std::size_t most, std::vector<std::string_view>& elements)
      : json_(json), most_(most), elements_(elements) {}

  tl::expected<void, JsonProblem> Split() {
    SkipBlanks();
    if (at_ == json_.size() || json_[at_] != '[') {
      return Fault(JsonFault::kWrongType, "a JSON array is expected");
    }
    ++at_;
    SkipBlanks();
    if (at_ < json_.size() && json_[at_] == ']') {
      ++at_;
    } else if (auto read = ReadElements(); !read) {
      return read;
    }
    SkipBlanks();
    if (at_ != json_.size()) {
      return Fault(JsonFault::kSyntax, "unexpected text after the JSON array");
    }
    return {};
  }

 private:
  tl::expected<void, JsonProblem> ReadElements() {
    for (;;) {
      SkipBlanks();
      const std::size_t begin = at_;
      if (auto skipped = SkipElement(); !skipped) {
        return skipped;
      }
      std::size_t end = at_;
      while (end > begin && IsJsonSpace(json_[end - 1])) {
        --end;
      }
      if (end == begin) {
        return Fault(JsonFault::kSyntax, "an element is expected");
      }
      if (elements_.size() == most_) {
        at_ = begin;
        return Fault(JsonFault::kTooMany, fmt::format("there are more than {} elements", most_));
      }
      elements_.push_back(json_.substr(begin, end - begin));
      if (json_[at_++] == ']') {
        return {};
      }
    }
  }

  // Moves to the comma or bracket after the element.
  tl::expected<void, JsonProblem> SkipElement() {
    int level = 0;
    for (; at_ < json_.size(); ++at_) {
      switch (json_[at_]) {
        case '"':
          if (!SkipString()) {
            return Fault(JsonFault::kSyntax, "a string does not end");
          }
          break;
        case '{':
        case '[':
          if (++level > kMostLevels) {
            return Fault(JsonFault::kSyntax, "it is nested too deeply");
          }
          break;
        case '}':
        case ']':
          if (level == 0 && json_[at_] == ']') {
            return {};
          }
          if (--level < 0) {
            return Fault(JsonFault::kSyntax, "a closing brace or bracket has no opening one");
          }
          break;
        case ',':
          if (level == 0) {
            return {};
          }
          break;
        default:
          break;
      }
    }
    return Fault(JsonFault::kSyntax, "the JSON text ends too early");
  }

  // Moves from the first quote past the last one. False if it is not closed.
  bool SkipString() {
    for (++at_; at_ < json_.size() && json_[at_] != '"'; ++at_) {
      at_ += json_[at_] == '\\' ? 1 : 0;
    }
    return at_ < json_.size();
  }

  void SkipBlanks() {
    while (at_ < json_.size() && IsJsonSpace(json_[at_])) {
      ++at_;
    }
  }

  [[nodiscard]] tl::unexpected<JsonProblem> Fault(JsonFault fault, std::string_view text) const {
    return tl::unexpected(ProblemAt(json_, at_, fault, text));
  }

  std::string_view json_;
  std::size_t most_;
  std::vector<std::string_view>& elements_;
  std::size_t at_ = 0;
};

}  // namespace

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

tl::expected<void, JsonProblem> SplitJsonArray(std::string_view json, std::size_t most,
                                               std::vector<std::string_view>& elements) {
  elements.clear();
  return Splitter(json, most, elements).Split();
}

}  // namespace sluice::wire
