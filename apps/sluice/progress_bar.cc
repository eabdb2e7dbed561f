#include "progress_bar.h"

#include <algorithm>
#include <cstdio>
#include <string>

#include <unistd.h>

#include "replay/human_text.h"

namespace sluice::app {

namespace {

constexpr std::chrono::milliseconds kEvery{100};
constexpr int kWidth = 40;

}  // namespace

ProgressBar::ProgressBar(const logs::LogMerge& logs)
    : logs_(logs), on_terminal_(isatty(STDERR_FILENO) == 1), began_(SteadyClock::now()) {}

ProgressBar::~ProgressBar() {
  if (on_screen_) {
    std::fprintf(stderr, "\r\033[K");
    std::fflush(stderr);
  }
}

void ProgressBar::Show() {
  if (!on_terminal_) {
    return;
  }
  const auto now = SteadyClock::now();
  if (now - drawn_ < kEvery) {
    return;
  }
  drawn_ = now;
  on_screen_ = true;
  const std::uint64_t lines = logs_.LinesRead();
  const double seconds = std::chrono::duration<double>(now - began_).count();
  std::string text = "\r\033[K";
  if (const double part = logs_.Progress(); part >= 0) {
    const int done = std::clamp(static_cast<int>(part * kWidth), 0, kWidth);
    text += '[';
    text.append(static_cast<std::size_t>(done), '#');
    text.append(static_cast<std::size_t>(kWidth - done), ' ');
    text += "] " + std::to_string(static_cast<int>(part * 100)) + " %  ";
  }
  text += replay::Grouped(lines) + " lines";
  if (seconds > 0) {
    text += ", " +
            replay::Grouped(static_cast<std::uint64_t>(static_cast<double>(lines) / seconds)) +
            " a second";
  }
  std::fputs(text.c_str(), stderr);
  std::fflush(stderr);
}

}  // namespace sluice::app
