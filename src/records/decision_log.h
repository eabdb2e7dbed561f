#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "sluice/result.h"

namespace sluice::records {

// A file of lines that does not grow without bound. If the next line would make it longer than
// `max_bytes`, it becomes PATH.1, PATH.1 becomes PATH.2 and so on; what would be PATH.(keep + 1) is
// deleted. After Reopen() it follows a program that has moved it away, such as logrotate.
//
// What cannot be written is dropped and counted: a full disk costs lines, and nothing else. A file
// never ends with a part of a line. One thread, except for Reopen() and the counts.
class DecisionLog {
 public:
  struct Options {
    std::string path;
    std::uint64_t max_bytes = 100'000'000;
    std::uint32_t keep = 5;
    // Called with a text for operators when writing begins to fail, and with "" when it works
    // again. On the thread of Write().
    std::function<void(const std::string& trouble)> on_trouble{};
  };

  // Opens the file, or makes it, for this user and its group. Errors name the path.
  [[nodiscard]] static Result<std::unique_ptr<DecisionLog>> Open(Options options);
  ~DecisionLog();
  DecisionLog(const DecisionLog&) = delete;
  DecisionLog& operator=(const DecisionLog&) = delete;

  // Appends `lines`, each with its line feed.
  void Write(std::string_view lines);

  // The next Write() opens the path again. Any thread.
  void Reopen() { must_reopen_.store(true, std::memory_order_relaxed); }

  // Lines that were written, and lines that could not be. Any thread.
  [[nodiscard]] std::uint64_t written() const { return written_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t failed() const { return failed_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t rotations() const {
    return rotations_.load(std::memory_order_relaxed);
  }

 private:
  explicit DecisionLog(Options options);

  // "" or what went wrong.
  [[nodiscard]] std::string OpenFile();
  [[nodiscard]] std::string Rotate();
  [[nodiscard]] std::string Append(std::string_view lines);
  // The first of `lines` that one file has room for: all of them, or as many as fit, or one.
  [[nodiscard]] std::string_view FirstOf(std::string_view lines) const;
  void Close();
  void Report(std::string trouble);

  const Options options_;
  int file_ = -1;
  std::uint64_t size_ = 0;
  bool is_troubled_ = false;
  std::atomic<bool> must_reopen_{false};
  std::atomic<std::uint64_t> written_{0};
  std::atomic<std::uint64_t> failed_{0};
  std::atomic<std::uint64_t> rotations_{0};
};

}  // namespace sluice::records
