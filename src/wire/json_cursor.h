#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace sluice::wire {

struct JsonNumber {
  std::string_view text;  // As it was written.
  bool whole = false;     // Neither a fraction nor an exponent.
  bool fits = false;      // Whole, and fits 64 bits: `value`.
  std::int64_t value = 0;
};

// Walks over a JSON text (RFC 8259), token by token; the caller checks the grammar. The cursor
// writes to the text: it decodes each string in place, because a decoded string is never longer, so
// reading one costs a view. A NUL follows the text, so no step has to check for the end. Never
// throws, allocates nothing. One thread.
class JsonCursor {
 public:
  // `text[size]` must be 0. The text outlives the views that the cursor returns.
  JsonCursor(char* text, std::size_t size) : begin_(text), end_(text + size), at_(text) {}

  // The first byte of the next token, after white space; 0 at the end. (A NUL in the text is 0 too,
  // and no token begins with it. at_end() tells the two apart.)
  [[nodiscard]] char Peek() {
    while (*at_ == ' ' || *at_ == '\n' || *at_ == '\r' || *at_ == '\t') {
      ++at_;
    }
    return *at_;
  }

  // Skips the next token if it is this character.
  [[nodiscard]] bool Take(char c) {
    if (Peek() != c) {
      return false;
    }
    ++at_;
    return true;
  }

  // Reads the string, number or word at Peek(). False: it is malformed; wrong() says why, offset()
  // where. For a string Peek() must have returned '"', for a number '-' or a digit.
  [[nodiscard]] bool TakeString(std::string_view& decoded);
  [[nodiscard]] bool TakeNumber(JsonNumber& number);
  [[nodiscard]] bool TakeWord(std::string_view word);

  [[nodiscard]] bool at_end() const { return at_ == end_; }
  [[nodiscard]] std::size_t offset() const { return static_cast<std::size_t>(at_ - begin_); }
  [[nodiscard]] std::string_view wrong() const { return wrong_; }

 private:
  bool Fail(std::string_view wrong) {
    wrong_ = wrong;
    return false;
  }
  bool TakeStringFrom(char* begin, std::string_view& decoded);
  bool TakeEscape(char*& to);
  bool TakeUnicodeEscape(char*& to);
  bool TakeDigits();

  char* begin_;
  char* end_;
  char* at_;
  std::string_view wrong_;
};

}  // namespace sluice::wire
