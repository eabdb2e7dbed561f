#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

namespace sluice::app {

// The whole screen of the terminal that the program runs on: lines out, keys in. What was on the
// screen comes back when this is destroyed, and on every signal that ends or stops the program. One
// at a time; one thread.
class Terminal {
 public:
  enum Key : int { kNone = -1, kEnd = -2, kUp = 1'000, kDown, kPageUp, kPageDown, kEscape };

  // Whether standard input and output are one.
  [[nodiscard]] static bool IsThere();

  Terminal();
  ~Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  struct Size {
    std::size_t columns = 80;
    std::size_t rows = 24;
  };
  [[nodiscard]] Size size() const;
  // Lines that are displayable; more than there are rows are left out. `highlighted`: which one is
  // shown in reverse, if it is there.
  void Show(const std::vector<std::string>& lines, std::size_t highlighted);
  // A byte, or one of Key: kNone after `wait`, or earlier if the size changed; kEnd at the end of
  // the input.
  [[nodiscard]] int Read(std::chrono::milliseconds wait);
};

}  // namespace sluice::app
