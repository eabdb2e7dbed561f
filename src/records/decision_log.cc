#include "records/decision_log.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sluice::records {

namespace {

std::string Why(std::string_view what, const std::string& path) {
  return std::string(what) + " " + path + ": " + std::generic_category().message(errno);
}

std::uint64_t CountOf(std::string_view lines) {
  return static_cast<std::uint64_t>(std::ranges::count(lines, '\n'));
}

}  // namespace

Result<std::unique_ptr<DecisionLog>> DecisionLog::Open(Options options) {
  std::unique_ptr<DecisionLog> log(new DecisionLog(std::move(options)));
  if (const std::string wrong = log->OpenFile(); !wrong.empty()) {
    return tl::unexpected(Error{.message = wrong});
  }
  return log;
}

DecisionLog::DecisionLog(Options options) : options_(std::move(options)) {}

DecisionLog::~DecisionLog() {
  Close();
}

void DecisionLog::Write(std::string_view lines) {
  if (must_reopen_.exchange(false, std::memory_order_relaxed)) {
    Close();
  }
  std::string wrong = file_ < 0 ? OpenFile() : "";
  while (wrong.empty() && !lines.empty()) {
    const std::string_view first = FirstOf(lines);
    if (size_ != 0 && size_ + first.size() > options_.max_bytes) {
      wrong = Rotate();
      continue;
    }
    wrong = Append(first);
    if (wrong.empty()) {
      written_.fetch_add(CountOf(first), std::memory_order_relaxed);
      lines.remove_prefix(first.size());
    }
  }
  failed_.fetch_add(CountOf(lines), std::memory_order_relaxed);
  Report(std::move(wrong));
}

std::string_view DecisionLog::FirstOf(std::string_view lines) const {
  const std::uint64_t room = options_.max_bytes - std::min(options_.max_bytes, size_);
  if (lines.size() <= room) {
    return lines;
  }
  const std::size_t last = lines.substr(0, room).rfind('\n');
  return lines.substr(0, (last != std::string_view::npos ? last : lines.find('\n')) + 1);
}

std::string DecisionLog::OpenFile() {
  const std::string& path = options_.path;
  file_ =
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, S_IRUSR | S_IWUSR | S_IRGRP);
  struct stat status{};
  if (file_ < 0 || ::fstat(file_, &status) != 0) {
    std::string wrong = Why("cannot open", path);
    Close();
    return wrong;
  }
  size_ = static_cast<std::uint64_t>(status.st_size);
  return "";
}

// If a rename fails, the file stays, and is tried again with the next lines. A gap in the numbers
// is no fault.
std::string DecisionLog::Rotate() {
  const std::string& path = options_.path;
  const auto numbered = [&path](std::uint32_t number) {
    return number == 0 ? path : path + "." + std::to_string(number);
  };
  if (options_.keep == 0) {
    if (::unlink(path.c_str()) != 0 && errno != ENOENT) {
      return Why("cannot delete", path);
    }
  }
  for (std::uint32_t number = options_.keep; number > 0; --number) {
    if (std::rename(numbered(number - 1).c_str(), numbered(number).c_str()) != 0 &&
        errno != ENOENT) {
      return Why("cannot rename", numbered(number - 1));
    }
  }
  Close();
  rotations_.fetch_add(1, std::memory_order_relaxed);
  return OpenFile();
}

std::string DecisionLog::Append(std::string_view lines) {
  const std::uint64_t before = size_;
  while (!lines.empty()) {
    const ssize_t written = ::write(file_, lines.data(), lines.size());
    if (written < 0 && errno == EINTR) {
      continue;
    }
    if (written <= 0) {
      std::string wrong = Why("cannot write", options_.path);
      if (size_ != before && ::ftruncate(file_, static_cast<off_t>(before)) == 0) {
        size_ = before;
      }
      return wrong;
    }
    size_ += static_cast<std::uint64_t>(written);
    lines.remove_prefix(static_cast<std::size_t>(written));
  }
  return "";
}

void DecisionLog::Close() {
  if (file_ >= 0) {
    (void)::close(file_);
    file_ = -1;
  }
}

void DecisionLog::Report(std::string trouble) {
  const bool is_troubled = !trouble.empty();
  if (std::exchange(is_troubled_, is_troubled) != is_troubled && options_.on_trouble) {
    options_.on_trouble(trouble);
  }
}

}  // namespace sluice::records
