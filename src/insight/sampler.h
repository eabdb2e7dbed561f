#pragma once

#include <atomic>
#include <cstdint>

#include "base/random.h"

namespace sluice::insight {

// Picks one request of `step` on average, each with the same chance and independent of all others
// (the gaps between them are geometric). So a picked one stands for `step` requests: what is summed
// up of them has no bias, whatever order clients send in. With a step of 1 it picks every request.
//
// One thread picks; another one may set the step.
class Sampler {
 public:
  static constexpr std::uint32_t kMostStep = 1U << 20U;

  explicit Sampler(std::uint64_t seed = base::UniqueNumber()) : random_(seed) {}

  // Called once per request. False for most: then it costs a comparison and a decrement.
  [[nodiscard]] bool Picks() noexcept {
    if (setting_.load(std::memory_order_relaxed) != drawn_for_) [[unlikely]] {
      Draw(0);
    }
    return --left_ == 0;
  }
  // For how many requests the one stands that Picks() picked.
  [[nodiscard]] std::uint32_t weight() const noexcept { return weight_; }
  // After each pick: draws the next one, with a step of 2^`shift` times the step that is set.
  void Draw(unsigned shift) noexcept;

  // From the next request on. 1 to kMostStep. One thread at a time, which need not be the one
  // that picks.
  void set_step(std::uint32_t step) noexcept {
    const std::uint64_t before = setting_.load(std::memory_order_relaxed);
    setting_.store(((before >> 32U) + 1) << 32U | step, std::memory_order_relaxed);
  }
  [[nodiscard]] std::uint32_t step() const noexcept {
    return static_cast<std::uint32_t>(setting_.load(std::memory_order_relaxed));
  }

 private:
  // The step, and above it how often it was set: what was drawn with a shift ends then, too.
  std::atomic<std::uint64_t> setting_{1};
  std::uint64_t drawn_for_ = 0;
  std::uint32_t weight_ = 1;
  std::uint64_t left_ = 1;
  base::Random random_;
};

// The step by which about `target` of `seen` requests are picked, a power of two. It rises at once,
// and falls by what is more than twice too much only, so that it does not swing.
[[nodiscard]] std::uint32_t NextStep(std::uint32_t step, std::uint64_t seen, std::uint64_t target);

}  // namespace sluice::insight
