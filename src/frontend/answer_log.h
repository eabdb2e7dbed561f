#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>

#include "sluice/time.h"

namespace sluice::frontend {

// Logs which answers of a listener refused the request itself: 400, 401, 404 and similar ones,
// which no rule counts. It writes one line per status and minute, with the number of other such
// answers. So neither a flood nor a single misconfigured client goes unseen or fills the disk.
//
// Shared by the loops of a listener. Any thread; takes no lock.
class AnswerLog {
 public:
  struct Line {
    int status;
    std::string_view peer;    // Who asked; "" where that is not known.
    std::string_view detail;  // What was wrong: for operators. It may quote the client.
    std::uint64_t others;     // Such answers since the last line of this status.
  };
  using Write = std::function<void(const Line&)>;

  static constexpr Duration kInterval = std::chrono::minutes(1);

  // `write` may be called by any loop's thread.
  explicit AnswerLog(Write write) : write_(std::move(write)) {}

  // Whether an HTTP status is such an answer. Statuses of ordinary operation (408, 409, 412, 422,
  // 429) are not.
  [[nodiscard]] static bool IsRefusal(int http_status);

  // Notes an answer at `now`, on a clock that does not step back. `status`: an HTTP status, or the
  // number that another protocol has for it; 0 to 599.
  void Note(Duration now, int status, std::string_view peer, std::string_view detail);

 private:
  struct Kind {
    std::atomic<std::int64_t> next_ns{0};  // When a line may be written again.
    std::atomic<std::uint64_t> others{0};
  };

  Write write_;
  std::array<Kind, 600> kinds_;  // By status.
};

}  // namespace sluice::frontend
