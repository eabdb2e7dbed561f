#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sluice/result.h"
#include "sluice/time.h"

#include "base/random.h"
#include "net/dial.h"
#include "net/http_stream.h"
#include "net/timer_wheel.h"
#include "net/tls_context.h"

namespace sluice::net {
class EventLoop;
}  // namespace sluice::net

namespace sluice::otlp {

// Where a collector is, and how it is spoken to.
struct Collector {
  net::DialTarget server;
  std::string path;  // What comes before "/v1/metrics"; often "".
  // Certificates for a connection, read each time so that they can be changed; none: plain.
  std::function<Result<std::shared_ptr<const net::TlsContext>>()> tls{};
  // Fields of every request. Called for each, so that a token can be changed.
  std::function<Result<std::vector<std::pair<std::string, std::string>>>()> fields{};
  Duration timeout = std::chrono::seconds(10);
  bool gzip = true;
};

// What became of messages.
enum class Sent : std::uint8_t {
  kTaken,
  kFailed,    // No answer, or one that says to try again later.
  kRejected,  // The collector does not want this message.
};
inline constexpr std::size_t kSentResults = 3;

// Sends one kind of message to a collector, one at a time. After a failure it rests, a second at
// first and up to a minute, so that a collector that is away costs one attempt a minute. One
// thread, the loop's; counts are read by any.
class Sender {
 public:
  using OnDone = std::function<void(Sent result)>;
  // What an operator should know; `good`: that it is over. Once for each change.
  using OnEvent = std::function<void(bool good, const std::string& text)>;

  // `target`: "/v1/metrics". All outlive it.
  Sender(net::EventLoop& loop, const Collector& collector, std::string_view target,
         OnEvent on_event);
  ~Sender();
  Sender(const Sender&) = delete;
  Sender& operator=(const Sender&) = delete;

  // Whether nothing is under way and it does not rest.
  [[nodiscard]] bool ready(net::SteadyTime now) const { return !busy() && now >= resume_at_; }
  [[nodiscard]] bool busy() const { return request_ != nullptr || failed_early_.armed(); }
  // Requires that it is not busy. `on_done` is called once, later, unless the sender ends before;
  // it may send again.
  void Send(std::string message, OnDone on_done);

  [[nodiscard]] std::uint64_t count(Sent result) const {
    return counts_[static_cast<std::size_t>(result)].load(std::memory_order_relaxed);
  }

 private:
  // More of an answer is not read: it says what went wrong.
  static constexpr std::size_t kMostAnswer = 16 * 1024;

  [[nodiscard]] Result<net::HttpStream::Call> CallOf(std::string message) const;
  void OnEnd(int status);
  void Finish(Sent result, std::string_view why);

  net::EventLoop& loop_;
  const Collector& collector_;
  const std::string target_;
  const OnEvent on_event_;
  base::Random random_;
  std::shared_ptr<net::HttpStream> request_;
  OnDone on_done_;
  std::string answer_;
  int failures_ = 0;  // In a row.
  bool reported_ = false;
  net::SteadyTime resume_at_{};
  net::Timer failed_early_;  // Answers what could not be sent at all, later.
  std::string why_not_sent_;
  std::array<std::atomic<std::uint64_t>, kSentResults> counts_{};
};

}  // namespace sluice::otlp
