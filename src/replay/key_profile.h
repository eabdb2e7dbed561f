#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::replay {

// The most frequent of many texts, by the algorithm of Misra and Gries (1982): few counters,
// whatever comes. A count is exact as long as there are no more texts than counters, and else at
// most too low.
class FrequentTexts {
 public:
  void Add(std::string_view text);

  struct Top {
    std::string text{};  // Cut to kMostBytes; "" if nothing was added.
    std::uint64_t count = 0;
  };
  [[nodiscard]] Top top() const;

 private:
  static constexpr std::size_t kCounters = 8;
  static constexpr std::size_t kMostBytes = 200;

  std::vector<Top> counters_;
};

// What the denied requests of one key were, as far as the log says: for whoever asks who would be
// hit. About 500 bytes, and more only with long texts.
class KeyProfile {
 public:
  // Views without data are values that the log does not have.
  void Add(std::string_view status, std::string_view endpoint, std::string_view user_agent);

  [[nodiscard]] std::uint64_t requests() const { return requests_; }
  // Of status 1xx to 5xx; the first one is of those without a status.
  [[nodiscard]] const std::array<std::uint64_t, 6>& statuses() const { return statuses_; }
  [[nodiscard]] FrequentTexts::Top endpoint() const { return endpoints_.top(); }
  [[nodiscard]] FrequentTexts::Top user_agent() const { return user_agents_.top(); }

 private:
  std::uint64_t requests_ = 0;
  std::array<std::uint64_t, 6> statuses_{};
  FrequentTexts endpoints_;
  FrequentTexts user_agents_;
};

}  // namespace sluice::replay
