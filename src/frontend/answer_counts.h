#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "telemetry/registry.h"

namespace sluice::frontend {

// The answers of one listener on one loop, by the number that its protocol gives them: an HTTP
// status, a gRPC code. Count() is of that loop's thread; Read() of any.
class LoopAnswers {
 public:
  static constexpr int kEnd = 600;

  // Requires 0 <= status < kEnd.
  void Count(int status) noexcept {
    // One writer: no instruction that locks the bus is needed.
    auto& cell = cells_[static_cast<std::size_t>(status)];
    cell.store(cell.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  [[nodiscard]] std::uint64_t Read(int status) const noexcept {
    return cells_[static_cast<std::size_t>(status)].load(std::memory_order_relaxed);
  }

 private:
  std::array<std::atomic<std::uint64_t>, kEnd> cells_{};
};

// The protocol of a listener. Its answers are counted by an HTTP status, a gRPC code, or one of
// AnswerCounts::kRespAnswer and kRespError.
enum class Protocol : std::uint8_t { kHttp, kGrpc, kResp };

// One protocol's family of counters: sluice_http_requests_total{listener,status},
// sluice_grpc_calls_total{listener,code} or sluice_resp_commands_total{listener,result}: what each
// listener answered, whatever was asked. The labels are bounded: listeners are configured, and the
// numbers are those that this code answers with.
class AnswerCounts final : public telemetry::Source {
 public:
  static constexpr int kRespAnswer = 0;
  static constexpr int kRespError = 1;

  explicit AnswerCounts(Protocol protocol) : protocol_(protocol) {}

  // The counts of one more loop of `listener`, an address. Call it before the loops start; the
  // result is valid as long as this object.
  LoopAnswers& Add(std::string_view listener);

  void Write(telemetry::Exposition& out) const override;

 private:
  struct Listener {
    std::string name;
    std::vector<std::unique_ptr<LoopAnswers>> loops;
  };
  const Protocol protocol_;
  std::vector<Listener> listeners_;
};

}  // namespace sluice::frontend
