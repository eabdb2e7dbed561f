#include "wire/json_cursor.h"

#include <array>
#include <charconv>
#include <cstring>
#include <limits>

#include "base/utf8.h"
#include "wire/ascii.h"

namespace sluice::wire {
namespace {

// Bytes that a string contains unescaped: ASCII except control characters, quote and backslash.
constexpr std::array<bool, 256> PlainBytes() {
  std::array<bool, 256> plain{};
  for (std::size_t byte = 0x20; byte < 0x80; ++byte) {
    plain[byte] = byte != '"' && byte != '\\';
  }
  return plain;
}
constexpr std::array<bool, 256> kPlain = PlainBytes();

bool IsPlain(char c) {
  return kPlain[static_cast<unsigned char>(c)];
}

// The character that an escape letter means; 0 for an unknown letter.
char Unescaped(char letter) {
  switch (letter) {
    case '"':
    case '\\':
    case '/':
      return letter;
    case 'b':
      return '\b';
    case 'f':
      return '\f';
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    default:
      return 0;
  }
}

// The value of four hex digits, or -1. A NUL is not a digit, so nothing past the end is read.
int HexQuad(const char* at) {
  int value = 0;
  for (int i = 0; i < 4; ++i) {
    const int digit = HexValue(at[i]);
    if (digit < 0) {
      return -1;
    }
    value = value * 16 + digit;
  }
  return value;
}

void PutUtf8(char*& to, unsigned code) {
  const auto put = [&](unsigned byte) { *to++ = static_cast<char>(byte); };
  if (code < 0x80) {
    put(code);
    return;
  }
  if (code < 0x800) {
    put(0xc0U | code >> 6U);
  } else {
    if (code < 0x10000) {
      put(0xe0U | code >> 12U);
    } else {
      put(0xf0U | code >> 18U);
      put(0x80U | (code >> 12U & 0x3fU));
    }
    put(0x80U | (code >> 6U & 0x3fU));
  }
  put(0x80U | (code & 0x3fU));
}

}  // namespace

bool JsonCursor::TakeString(std::string_view& decoded) {
  char* const begin = ++at_;
  while (IsPlain(*at_)) {
    ++at_;
  }
  if (*at_ != '"') {
    return TakeStringFrom(begin, decoded);
  }
  decoded = {begin, static_cast<std::size_t>(at_ - begin)};
  ++at_;
  return true;
}

// The rest of a string with escapes: from here on, decoded bytes move to the front.
bool JsonCursor::TakeStringFrom(char* begin, std::string_view& decoded) {
  char* to = at_;
  for (;;) {
    const char c = *at_;
    if (IsPlain(c)) {
      *to++ = c;
      ++at_;
    } else if (c == '"') {
      decoded = {begin, static_cast<std::size_t>(to - begin)};
      ++at_;
      return true;
    } else if (c == '\\') {
      if (!TakeEscape(to)) {
        return false;
      }
    } else if ((static_cast<unsigned char>(c) & 0x80U) != 0) {
      const std::size_t size = base::Utf8SequenceSize({at_, static_cast<std::size_t>(end_ - at_)});
      if (size == 0) {
        return Fail("a string has bytes that are not UTF-8");
      }
      std::memmove(to, at_, size);
      to += size;
      at_ += size;
    } else {
      return Fail("a string has a control character, which must be escaped");
    }
  }
}

bool JsonCursor::TakeEscape(char*& to) {
  if (at_[1] == 'u') {
    return TakeUnicodeEscape(to);
  }
  const char c = Unescaped(at_[1]);
  if (c == 0) {
    at_ += at_ + 1 == end_ ? 1 : 0;  // The text ends after the backslash.
    return Fail("a string has an unknown escape");
  }
  *to++ = c;
  at_ += 2;
  return true;
}

bool JsonCursor::TakeUnicodeEscape(char*& to) {
  constexpr std::string_view kLone = "a string has half of a surrogate pair";
  const int first = HexQuad(at_ + 2);
  if (first < 0) {
    return Fail("\\u needs four hex digits");
  }
  auto code = static_cast<unsigned>(first);
  if (code >= 0xdc00 && code <= 0xdfff) {
    return Fail(kLone);
  }
  if (code < 0xd800 || code > 0xdbff) {
    at_ += 6;
    PutUtf8(to, code);
    return true;
  }
  const int second = at_[6] == '\\' && at_[7] == 'u' ? HexQuad(at_ + 8) : -1;
  if (second < 0xdc00 || second > 0xdfff) {
    return Fail(kLone);
  }
  code = 0x10000 + ((code - 0xd800) << 10U) + (static_cast<unsigned>(second) - 0xdc00);
  at_ += 12;
  PutUtf8(to, code);
  return true;
}

bool JsonCursor::TakeDigits() {
  if (!IsDigit(*at_)) {
    return Fail("a number has a missing digit");
  }
  while (IsDigit(*at_)) {
    ++at_;
  }
  return true;
}

bool JsonCursor::TakeNumber(JsonNumber& number) {
  char* const begin = at_;
  at_ += *at_ == '-' ? 1 : 0;
  const char* const first = at_;
  if (!TakeDigits()) {
    return false;
  }
  if (*first == '0' && at_ - first > 1) {
    return Fail("a number begins with an unnecessary 0");
  }
  number.whole = true;
  if (*at_ == '.') {
    number.whole = false;
    ++at_;
    if (!TakeDigits()) {
      return false;
    }
  }
  if (*at_ == 'e' || *at_ == 'E') {
    number.whole = false;
    ++at_;
    at_ += *at_ == '+' || *at_ == '-' ? 1 : 0;
    if (!TakeDigits()) {
      return false;
    }
  }
  number.text = {begin, static_cast<std::size_t>(at_ - begin)};
  number.value = 0;
  number.fits = number.whole && std::from_chars(begin, at_, number.value).ec == std::errc();
  return true;
}

bool JsonCursor::TakeWord(std::string_view word) {
  for (const char c : word) {
    if (*at_ != c) {
      return Fail("a value must be a text, a number, true, false or null");
    }
    ++at_;
  }
  return true;
}

}  // namespace sluice::wire
