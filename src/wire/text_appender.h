#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace sluice::wire {

// The decimal text of a number, or the word null, formatted once and written as often as needed.
class Decimal {
 public:
  static constexpr std::size_t kMost = 20;  // "-9223372036854775808"

  explicit Decimal(std::int64_t number) {
    // Two digits per step, from the last: half as many divisions.
    std::uint64_t rest =
        number < 0 ? 0 - static_cast<std::uint64_t>(number) : static_cast<std::uint64_t>(number);
    while (rest >= 100) {
      PutPair(rest % 100);
      rest /= 100;
    }
    if (rest >= 10) {
      PutPair(rest);
    } else {
      bytes_[--begin_] = static_cast<char>('0' + rest);
    }
    if (number < 0) {
      bytes_[--begin_] = '-';
    }
  }

  // JSON's text for an absent number.
  [[nodiscard]] static Decimal Null() {
    Decimal text;
    text.begin_ = kMost - 4;
    std::memcpy(text.bytes_ + text.begin_, "null", 4);
    return text;
  }

  [[nodiscard]] std::size_t size() const { return kMost - begin_; }
  [[nodiscard]] std::string_view view() const { return {bytes_ + begin_, size()}; }

  // Copies the text and the bytes after it, kMost bytes in total: a copy of fixed size is two
  // moves, one of variable size is a call.
  void CopyTo(char* to) const { std::memcpy(to, bytes_ + begin_, kMost); }

 private:
  Decimal() = default;

  void PutPair(std::uint64_t below_100) {
    begin_ -= 2;
    std::memcpy(bytes_ + begin_, kPairs + 2 * below_100, 2);
  }

  static constexpr char kPairs[] =
      "00010203040506070809101112131415161718192021222324252627282930313233343536373839"
      "40414243444546474849505152535455565758596061626364656667686970717273747576777879"
      "8081828384858687888990919293949596979899";

  std::size_t begin_ = kMost;
  char bytes_[2 * kMost]{};  // The text ends at kMost; the rest is for CopyTo().
};

// Appends many short texts to a string. It collects them in a buffer on the stack without a check
// before each one, so an answer of forty pieces costs the string one append. The string is complete
// once the appender is destroyed. Any length works; texts up to kRoom are fast.
class TextAppender {
 public:
  explicit TextAppender(std::string& out) : out_(out) {}
  ~TextAppender() { Flush(); }
  TextAppender(const TextAppender&) = delete;
  TextAppender& operator=(const TextAppender&) = delete;

  // A literal: its size is constant, so copying it is a few moves.
  template <std::size_t kSize>
  TextAppender& Add(const char (&literal)[kSize]) {
    static_assert(kSize <= kRoom);
    Need(kSize - 1);
    std::memcpy(room_ + size_, literal, kSize - 1);
    size_ += kSize - 1;
    return *this;
  }

  TextAppender& Add(std::string_view text) {
    if (text.size() > kRoom) {
      Flush();
      out_.append(text);
      return *this;
    }
    Need(text.size());
    size_ += text.copy(room_ + size_, text.size());
    return *this;
  }

  TextAppender& Add(const Decimal& number) {
    Need(Decimal::kMost);
    number.CopyTo(room_ + size_);
    size_ += number.size();
    return *this;
  }

  TextAppender& Add(std::int64_t number) { return Add(Decimal(number)); }

 private:
  static constexpr std::size_t kRoom = 1024;

  void Need(std::size_t bytes) {
    if (bytes > kRoom - size_) {
      Flush();
    }
  }
  // Out of line, so that the code around each Add() stays small.
  [[gnu::noinline]] void Flush() {
    out_.append(room_, size_);
    size_ = 0;
  }

  std::string& out_;
  std::size_t size_ = 0;
  char room_[kRoom];  // NOLINT(*-member-init): written before it is read.
};

}  // namespace sluice::wire
