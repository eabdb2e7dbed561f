#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

#include "sluice/time.h"

#include "frontend/access_token.h"
#include "frontend/answer_counts.h"
#include "frontend/answer_log.h"

namespace sluice::signing {
class Keyring;
}  // namespace sluice::signing

namespace sluice::frontend::grpc {

// Whether the daemon serves, as grpc.health.v1.Health reports it. A change is reported to every
// front end (FrontEnd::OnHealthChanged()), for its watches. Any thread.
class Health {
 public:
  [[nodiscard]] bool serving() const { return serving_.load(std::memory_order_relaxed); }
  // True if the state has changed.
  bool Set(bool serving) {
    return serving_.exchange(serving, std::memory_order_relaxed) != serving;
  }

 private:
  std::atomic<bool> serving_{false};
};

// The bounds of one listener. Each protects the memory and file descriptors of all clients from one
// that is malicious or slow.
struct FrontEndSettings {
  std::string name;  // Of the listener, in records: its address.
  LoopAnswers* answers =
      nullptr;               // Where answers are counted, if anywhere. Outlives the front end.
  AnswerLog* log = nullptr;  // Logs refusals of requests. Outlives the front end.
  const AccessToken* token =
      nullptr;  // That `authorization: Bearer` must bring. None: all may ask.
  // By which holds, receipts and reservations are sealed. None: none are given out or taken.
  const signing::Keyring* keys = nullptr;
  std::string health_service{};            // The name for health requests, besides "".
  std::uint32_t streams = 1000;            // Calls of one connection in flight.
  std::size_t header_bytes = 16 * 1024;    // Of one call.
  std::size_t message_bytes = 64 * 1024;   // Of one request, after decompression.
  std::size_t output_bytes = 1024 * 1024;  // Unwritten answers of one connection.
  std::size_t watches = 16;                // Health/Watch of one connection.
  Duration header_timeout = std::chrono::seconds(10);
  Duration body_timeout = std::chrono::seconds(20);  // From a call's header to its end.
  // Without a call: proxies keep connections for a long time.
  Duration idle_timeout = std::chrono::hours(2);
  Duration write_timeout = std::chrono::seconds(20);
  Duration linger = std::chrono::seconds(1);
  Duration drain_grace = std::chrono::milliseconds(500);
  // A connection that is older, a tenth more or less, is sent GOAWAY, and ended once its calls are
  // answered or the grace is over: so that clients are distributed again. zero(): never.
  Duration max_age = Duration::zero();
  Duration max_age_grace = std::chrono::hours(1);
};

}  // namespace sluice::frontend::grpc
