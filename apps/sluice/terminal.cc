#include "terminal.h"

#include <array>
#include <csignal>
#include <string_view>

#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

namespace sluice::app {

namespace {

// The other screen, without a cursor, and lines that are cut and not wrapped; and back.
constexpr std::string_view kEnter = "\033[?1049h\033[?25l\033[?7l";
constexpr std::string_view kLeave = "\033[?7h\033[?25h\033[?1049l";
constexpr std::array kEnding{SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGABRT, SIGSEGV, SIGBUS, SIGFPE};

// Of the process, as its terminal is: a signal's handler must find it.
termios saved;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

// Safe in a signal's handler.
void WriteAll(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(STDOUT_FILENO, text.data(), text.size());
    if (written <= 0) {
      return;
    }
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

void Enter() {
  termios raw = saved;
  raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
  raw.c_cc[VMIN] = 1;
  raw.c_cc[VTIME] = 0;
  ::tcsetattr(STDIN_FILENO, TCSADRAIN, &raw);
  WriteAll(kEnter);
}

void Leave() {
  WriteAll(kLeave);
  ::tcsetattr(STDIN_FILENO, TCSADRAIN, &saved);
}

// The signal does what it does without us, to a terminal as it was.
void LeaveAndEnd(int signal) {
  Leave();
  std::signal(signal, SIG_DFL);
  ::raise(signal);
}

void LeaveAndPause(int /*signal*/) {
  Leave();
  ::raise(SIGSTOP);
  Enter();  // SIGCONT came.
}

void Ignore(int /*signal*/) {}

void Handle(int signal, void (*handler)(int)) {
  struct sigaction action{};
  action.sa_handler = handler;
  ::sigaction(signal, &action, nullptr);  // Without SA_RESTART: Read() returns.
}

// What an arrow or a page key sends behind ESC.
int KeyOf(std::string_view sequence) {
  constexpr std::array<std::pair<std::string_view, int>, 6> kSequences{
      {{"[A", Terminal::kUp},
       {"[B", Terminal::kDown},
       {"OA", Terminal::kUp},
       {"OB", Terminal::kDown},
       {"[5~", Terminal::kPageUp},
       {"[6~", Terminal::kPageDown}}};
  for (const auto& [text, key] : kSequences) {
    if (sequence == text) {
      return key;
    }
  }
  return sequence.empty() ? static_cast<int>(Terminal::kEscape) : static_cast<int>(Terminal::kNone);
}

}  // namespace

bool Terminal::IsThere() {
  return ::isatty(STDIN_FILENO) == 1 && ::isatty(STDOUT_FILENO) == 1;
}

Terminal::Terminal() {
  ::tcgetattr(STDIN_FILENO, &saved);
  for (const int signal : kEnding) {
    Handle(signal, LeaveAndEnd);
  }
  Handle(SIGTSTP, LeaveAndPause);
  Handle(SIGWINCH, Ignore);
  Enter();
}

Terminal::~Terminal() {
  Leave();
  for (const int signal : kEnding) {
    std::signal(signal, SIG_DFL);
  }
  std::signal(SIGTSTP, SIG_DFL);
  std::signal(SIGWINCH, SIG_DFL);
}

Terminal::Size Terminal::size() const {
  winsize window{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) != 0 || window.ws_col == 0 ||
      window.ws_row == 0) {
    return {};
  }
  return {.columns = window.ws_col, .rows = window.ws_row};
}

void Terminal::Show(const std::vector<std::string>& lines, std::size_t highlighted) {
  const std::size_t rows = size().rows;
  std::string out = "\033[H";
  for (std::size_t i = 0; i < lines.size() && i < rows; ++i) {
    out += i == 0 ? "" : "\r\n";
    out += i == highlighted ? "\033[7m" + lines[i] + "\033[0m" : lines[i];
    out += "\033[K";
  }
  out += "\033[J";
  WriteAll(out);
}

int Terminal::Read(std::chrono::milliseconds wait) {
  pollfd input{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
  if (::poll(&input, 1, static_cast<int>(wait.count())) <= 0) {
    return kNone;
  }
  std::array<char, 16> bytes{};
  if (::read(STDIN_FILENO, bytes.data(), 1) <= 0) {
    return kEnd;
  }
  if (bytes[0] != '\033') {
    return static_cast<unsigned char>(bytes[0]);
  }
  // A key's sequence comes at once; the Escape key comes alone.
  if (::poll(&input, 1, 0) <= 0) {
    return kEscape;
  }
  const ssize_t more = ::read(STDIN_FILENO, bytes.data(), bytes.size());
  return KeyOf({bytes.data(), more > 0 ? static_cast<std::size_t>(more) : 0});
}

}  // namespace sluice::app
