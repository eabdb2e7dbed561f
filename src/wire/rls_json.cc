#include <array>
#include <charconv>
#include <cstdint>
#include <limits>
#include <optional>

#include "base/utf8.h"
#include "wire/json_cursor.h"
#include "wire/json_text.h"
#include "wire/rls_request.h"

namespace sluice::wire {

namespace {

constexpr std::array<std::string_view, 8> kUnits{"UNKNOWN", "SECOND", "MINUTE", "HOUR",
                                                 "DAY",     "MONTH",  "YEAR",   "WEEK"};

// Reads a message from a cursor. Each function returns true if it found what it reads; otherwise
// `wrong` names what is missing.
class Parser {
 public:
  Parser(std::string& text, RlsRequest& request)
      : cursor_(text.data(), text.size()), request_(request) {}

  bool ReadRequest() {
    const bool read = Object([this](std::string_view name) {
      if (name == "domain") {
        std::string_view domain;
        if (!Text(domain)) {
          return false;
        }
        request_.SetDomain(domain);
        return true;
      }
      if (name == "hitsAddend" || name == "hits_addend") {
        std::uint64_t hits = 0;
        if (!Number(std::numeric_limits<std::uint32_t>::max(), hits)) {
          return false;
        }
        request_.SetHitsAddend(static_cast<std::uint32_t>(hits));
        return true;
      }
      return name == "descriptors" ? Array([this] { return ReadDescriptor(); }) : Unknown();
    });
    if (!read) {
      return false;
    }
    (void)cursor_.Peek();
    return cursor_.at_end() || Fail("unexpected text after the message");
  }

  [[nodiscard]] std::string_view wrong() const { return wrong_; }
  [[nodiscard]] std::size_t offset() const { return cursor_.offset(); }

 private:
  bool ReadDescriptor() {
    RlsDescriptor& descriptor = request_.AddDescriptor();
    return Object([this, &descriptor](std::string_view name) {
      if (name == "entries") {
        return Array([this] { return ReadEntry(); });
      }
      if (name == "limit") {
        descriptor.limit.emplace();
        return ReadOverride(*descriptor.limit);
      }
      if (name == "hitsAddend" || name == "hits_addend") {
        std::uint64_t hits = 0;
        if (!Number(std::numeric_limits<std::uint64_t>::max(), hits)) {
          return false;
        }
        descriptor.hits_addend = hits;
        return true;
      }
      if (name == "isNegativeHits" || name == "is_negative_hits") {
        descriptor.is_negative_hits = cursor_.Peek() == 't';
        return cursor_.TakeWord(descriptor.is_negative_hits ? "true" : "false") ||
               Fail("true or false is missing");
      }
      return Unknown();
    });
  }

  bool ReadEntry() {
    RlsEntry entry;
    const bool read = Object([this, &entry](std::string_view name) {
      if (name == "key") {
        return Text(entry.key);
      }
      return name == "value" ? Text(entry.value) : Unknown();
    });
    request_.AddEntry(entry);
    return read;
  }

  bool ReadOverride(RlsOverride& limit) {
    return Object([this, &limit](std::string_view name) {
      if (name == "unit") {
        return Unit(limit.unit);
      }
      if (name == "requestsPerUnit" || name == "requests_per_unit") {
        std::uint64_t requests = 0;
        const bool read = Number(std::numeric_limits<std::uint32_t>::max(), requests);
        limit.requests_per_unit = static_cast<std::uint32_t>(requests);
        return read;
      }
      return Unknown();
    });
  }

  bool Unit(std::uint32_t& unit) {
    if (cursor_.Peek() != '"') {
      std::uint64_t number = 0;
      const bool read = Number(std::numeric_limits<std::int32_t>::max(), number);
      unit = static_cast<std::uint32_t>(number);
      return read;
    }
    std::string_view name;
    if (!Text(name)) {
      return false;
    }
    for (std::uint32_t i = 0; i < kUnits.size(); ++i) {
      if (kUnits[i] == name) {
        unit = i;
        return true;
      }
    }
    return Fail("unknown unit");
  }

  template <class Member>
  bool Object(const Member& member) {
    if (!cursor_.Take('{')) {
      return Fail("an object is missing");
    }
    if (cursor_.Take('}')) {
      return true;
    }
    do {
      std::string_view name;
      if (!Text(name)) {
        return false;
      }
      if (!cursor_.Take(':')) {
        return Fail("a colon is missing");
      }
      // null means absent.
      if (cursor_.Peek() == 'n' ? !cursor_.TakeWord("null") : !member(name)) {
        return wrong_.empty() ? Fail(cursor_.wrong()) : false;
      }
    } while (cursor_.Take(','));
    return cursor_.Take('}') || Fail("a comma or } is missing");
  }

  template <class Item>
  bool Array(const Item& item) {
    if (!cursor_.Take('[')) {
      return Fail("a list is missing");
    }
    if (cursor_.Take(']')) {
      return true;
    }
    do {
      if (!item()) {
        return false;
      }
    } while (cursor_.Take(','));
    return cursor_.Take(']') || Fail("a comma or ] is missing");
  }

  bool Text(std::string_view& text) {
    if (cursor_.Peek() != '"') {
      return Fail("a string is missing");
    }
    if (!cursor_.TakeString(text)) {
      return Fail(cursor_.wrong());
    }
    return base::IsUtf8(text) || Fail("a string is not UTF-8");
  }

  bool Number(std::uint64_t most, std::uint64_t& number) {
    const char first = cursor_.Peek();
    std::string_view digits;
    JsonNumber read;
    if (first == '"') {
      if (!Text(digits)) {
        return false;
      }
    } else if (first >= '0' && first <= '9') {
      if (!cursor_.TakeNumber(read)) {
        return Fail(cursor_.wrong());
      }
      digits = read.text;
    }
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    const bool whole =
        !digits.empty() && error == std::errc() && end == digits.data() + digits.size();
    return (whole && number <= most) || Fail("a whole number that fits is missing");
  }

  bool Unknown() { return Fail("unknown field"); }
  bool Fail(std::string_view wrong) {
    if (wrong_.empty()) {
      wrong_ = wrong;
    }
    return false;
  }

  JsonCursor cursor_;
  RlsRequest& request_;
  std::string_view wrong_;
};

}  // namespace

bool RlsJson::Read(std::string_view json, RlsRequest& request) {
  text_.assign(json);
  error_.clear();
  request.Clear();
  Parser parser(text_, request);
  if (!parser.ReadRequest()) {
    error_ = ProblemAt(json, parser.offset(), JsonFault::kSyntax, parser.wrong()).message;
  }
  request.Finish();
  return error_.empty();
}

}  // namespace sluice::wire
