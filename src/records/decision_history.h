#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "insight/kept_request.h"

namespace sluice::records {

// Which of the last decisions are asked for. Empty texts match everything.
struct DecisionFilter {
  std::string_view rule{};        // A rule that judged the request.
  std::string_view request_id{};  // The whole id.
  std::string_view key{};         // A value of a key, or "user_id=u_42".
  std::string_view outcome{};     // "allowed", "denied", or the outcome of a rule: "shadow_denied".
  std::size_t most = 100;
};

// Whether `request` is asked for.
[[nodiscard]] bool Matches(const DecisionFilter& filter, const insight::KeptRequest& request);

// The last requests with a denial, and the last without one: half of the bytes for each, so that
// allowed traffic pushes no denial out. In each half, what takes the most room makes room: the
// oldest record of the rule that has the most bytes. Of one key there are at most kMostOfKey
// denials. So neither a flood of one rule's nor of one key's denials pushes the others out.
//
// Any thread.
class DecisionHistory {
 public:
  static constexpr std::size_t kMostOfKey = 32;

  // `bytes`: what the records may take, with what keeps them.
  explicit DecisionHistory(std::size_t bytes) : denied_(bytes / 2), allowed_(bytes / 2) {}

  // Adds a record, the last one so far: `request` is what DecodeRequest() reads in `bytes`.
  void Add(std::string_view bytes, const insight::KeptRequest& request);

  // Calls `take` with those that match, the last one first.
  void ForEach(const DecisionFilter& filter,
               const std::function<void(const insight::KeptRequest&)>& take) const;

  [[nodiscard]] std::size_t size() const;

 private:
  struct Entry {
    std::uint64_t number = 0;  // In the order in which they came.
    std::uint64_t key = 0;
    WallInstant at{};  // Of the decision, or of when it was collected.
    std::string bytes;
  };
  class Part {
   public:
    explicit Part(std::size_t most_bytes) : most_bytes_(most_bytes) {}
    // `most_of_key`: 0 for any number.
    void Add(std::string_view rule, Entry entry, std::size_t most_of_key);
    void ForEach(const std::function<void(const Entry&)>& take) const;
    [[nodiscard]] std::size_t size() const;

   private:
    struct OfRule {
      std::list<Entry> entries;  // The oldest first.
      std::unordered_map<std::uint64_t, std::deque<std::list<Entry>::iterator>> of_keys;
      std::size_t bytes = 0;
    };
    void Drop(OfRule& of_rule, std::list<Entry>::iterator entry);

    const std::size_t most_bytes_;
    std::size_t bytes_ = 0;
    std::unordered_map<std::string, OfRule> rules_;
  };

  mutable std::mutex mutex_;
  std::uint64_t added_ = 0;
  Part denied_;
  Part allowed_;
};

}  // namespace sluice::records
