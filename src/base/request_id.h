#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace sluice::base {

// The id of one request, by which its answer, its record and the logs of its client are matched:
// the one that the client sent (X-Request-Id), or one of ours, which is made when it is first
// needed. Not a secret: who has seen one of ours can guess others. Allocates nothing, and makes no
// system call but for the first one of a thread. One thread.
class RequestId {
 public:
  static constexpr std::size_t kMostBytes = 64;

  // As a new one, without an id.
  void Clear() {
    size_ = 0;
    is_wanted_ = false;
  }

  // The client sent `text` as the id. Every answer then has the id, and it is `text` if that has 1
  // to kMostBytes letters, digits and "-_.:=+/@", which are harmless in header fields, JSON, logs
  // and terminals. Otherwise it is one of ours.
  void Take(std::string_view text);

  // The id. One of ours, of 32 hex digits, differs from all others: the first 16 are random for
  // each thread, the last 16 count. A view of this.
  [[nodiscard]] std::string_view View() {
    if (size_ == 0) {
      Make();
    }
    return {text_.data(), size_};
  }

  // Whether the client sent one: every answer has it then, and not only a refusal.
  [[nodiscard]] bool is_wanted() const { return is_wanted_; }

 private:
  void Make();

  std::array<char, kMostBytes> text_;  // NOLINT: only the first `size_` are read.
  std::uint8_t size_ = 0;              // 0: there is none yet.
  bool is_wanted_ = false;
};

}  // namespace sluice::base
