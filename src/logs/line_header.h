#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

#include "wire/ascii.h"

namespace sluice::logs {

// Consumes a line from the left. A Take...() that returns false may have consumed a part of it.
class LineHeader {
 public:
  explicit LineHeader(std::string_view line) : rest_(line) {}

  [[nodiscard]] std::string_view rest() const { return rest_; }
  [[nodiscard]] bool done() const { return rest_.empty(); }

  bool Take(char c) {
    if (rest_.empty() || rest_.front() != c) {
      return false;
    }
    rest_.remove_prefix(1);
    return true;
  }
  bool Take(std::string_view text) {
    if (!rest_.starts_with(text)) {
      return false;
    }
    rest_.remove_prefix(text.size());
    return true;
  }
  // From `least` to `most` digits.
  bool TakeDigits(std::size_t least, std::size_t most) {
    std::size_t count = 0;
    while (count < most && count < rest_.size() && wire::IsDigit(rest_[count])) {
      ++count;
    }
    rest_.remove_prefix(count);
    return count >= least;
  }
  // Up to the next blank, which is not consumed.
  std::string_view TakeWord() {
    const std::string_view word = rest_.substr(0, rest_.find(' '));
    rest_.remove_prefix(word.size());
    return word;
  }
  void TakeBlanks() {
    while (Take(' ')) {
    }
  }

  // "10:00:00", "10:00:00.123456".
  bool TakeClock() {
    if (!TakeDigits(2, 2) || !Take(':') || !TakeDigits(2, 2) || !Take(':') || !TakeDigits(2, 2)) {
      return false;
    }
    return !Take('.') || TakeDigits(1, 9);
  }
  // "2025-03-10".
  bool TakeDate() {
    return TakeDigits(4, 4) && Take('-') && TakeDigits(2, 2) && Take('-') && TakeDigits(2, 2);
  }
  // "2025-03-10T10:00:00.123Z", "2025-03-10T10:00:00+01:00".
  bool TakeIsoStamp() {
    if (!TakeDate() || !Take('T') || !TakeClock()) {
      return false;
    }
    if (Take('Z')) {
      return true;
    }
    return (Take('+') || Take('-')) && TakeDigits(2, 2) && (Take(':') || true) && TakeDigits(2, 2);
  }
  // "Mar 10 10:00:00", "Mar  5 10:00:00.123", "Mar 10 2025 10:00:00".
  bool TakeBsdStamp() {
    constexpr std::array<std::string_view, 12> kMonths{"Jan ", "Feb ", "Mar ", "Apr ",
                                                       "May ", "Jun ", "Jul ", "Aug ",
                                                       "Sep ", "Oct ", "Nov ", "Dec "};
    if (std::ranges::none_of(kMonths, [this](std::string_view month) { return Take(month); })) {
      return false;
    }
    Take(' ');
    if (!TakeDigits(1, 2) || !Take(' ')) {
      return false;
    }
    if (rest_.size() > 4 && rest_[4] == ' ') {
      if (!TakeDigits(4, 4) || !Take(' ')) {
        return false;
      }
    }
    return TakeClock();
  }
  // "Mon 2025-03-10 10:00:00 UTC", as journalctl -o short-full prints.
  bool TakeJournalStamp() {
    const std::string_view day = TakeWord();
    if (day.size() != 3 || !Take(' ') || !TakeDate() || !Take(' ') || !TakeClock() || !Take(' ')) {
      return false;
    }
    return !TakeWord().empty();
  }
  // Colour escapes, which docker compose writes around names on request.
  void TakeColours() {
    while (rest_.starts_with("\x1B[")) {
      const std::size_t end = rest_.find('m');
      if (end > 16) {
        return;
      }
      rest_.remove_prefix(end + 1);
    }
  }

 private:
  std::string_view rest_;
};

}  // namespace sluice::logs
