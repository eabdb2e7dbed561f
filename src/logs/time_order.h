#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/decision.h"
#include "sluice/time.h"

namespace sluice::logs {

// The requests of one second, in order, with the bytes of their values. Reused, so that its memory
// is allocated only a few times.
class SecondOfRequests {
 public:
  // A value. An empty one differs from an absent one.
  struct Piece {
    std::uint32_t offset = kAbsent;
    std::uint32_t size = 0;
  };
  static constexpr std::uint32_t kAbsent = UINT32_MAX;

  struct Entry {
    WallInstant at{};
    Units cost = 1;
    std::uint64_t line = 0;
    std::uint32_t first_piece = 0;
  };

  void Add(WallInstant at, Units cost, std::uint64_t line);
  // Adds a value of the request added last. Call it once for each attribute.
  void AddValue(std::string_view value);

  // Sorts by time; equal times stay in order. Call it before the first entry().
  void Sort();
  void Clear();

  [[nodiscard]] std::size_t size() const { return entries_.size(); }
  [[nodiscard]] bool empty() const { return entries_.empty(); }
  [[nodiscard]] const Entry& entry(std::size_t i) const { return entries_[i]; }
  // A view without data where the value is absent.
  [[nodiscard]] std::string_view Value(const Entry& entry, std::size_t i) const {
    const Piece& piece = pieces_[entry.first_piece + i];
    return piece.offset == kAbsent ? std::string_view()
                                   : std::string_view(bytes_.data() + piece.offset, piece.size);
  }
  [[nodiscard]] std::size_t memory() const {
    return bytes_.size() + (pieces_.size() * sizeof(Piece)) + (entries_.size() * sizeof(Entry));
  }

 private:
  std::vector<Entry> entries_;
  std::vector<Piece> pieces_;
  std::string bytes_;
  bool sorted_ = true;
};

// Sorts requests that are out of order by less than a horizon: a log in the order of completion is
// out of order by the duration of its longest request. The usual solution is a heap. But timestamps
// fall into seconds, and a ring with a bucket for each second of the horizon needs no comparisons:
// a bucket is sorted, if necessary, once it is complete.
//
// One thread. Memory: the requests of the log within the horizon.
class TimeOrder {
 public:
  // `horizon`: 0 to kLongestHorizon, in whole seconds.
  static constexpr std::chrono::seconds kLongestHorizon{3600};
  explicit TimeOrder(std::chrono::seconds horizon);

  // The bucket for a request at `at`. If later requests have already been returned, the request is
  // late: `at` is moved forward, and the late request is counted. Requires Fits(at).
  [[nodiscard]] SecondOfRequests& PlaceFor(WallInstant& at);
  // Whether `at` is within the horizon after all requests that have been returned. If not, take the
  // seconds from TakeBefore() first.
  [[nodiscard]] bool Fits(WallInstant at) const;

  // Sets the start of the ring. Call it before the first PlaceFor().
  void StartAt(WallInstant first);
  // The latest request so far.
  [[nodiscard]] WallInstant newest() const { return newest_; }

  // The next second that is complete if `at` is the latest time, sorted; nullptr if there is none,
  // and then Fits(at). Valid until the third further call of TakeBefore() or TakeAny().
  [[nodiscard]] SecondOfRequests* TakeBefore(WallInstant at);
  // The earliest second: at the end of the log, or when memory is short.
  [[nodiscard]] SecondOfRequests* TakeAny();

  [[nodiscard]] std::uint64_t late() const { return late_; }
  [[nodiscard]] Duration latest() const { return latest_; }  // By at most this much.
  // How late, at most, a request was that was put in order.
  [[nodiscard]] Duration put_right() const { return put_right_; }

 private:
  [[nodiscard]] SecondOfRequests& BucketOf(std::int64_t second) {
    return ring_[static_cast<std::size_t>(second) % ring_.size()];
  }
  // Returns the bucket and replaces it with an empty one.
  SecondOfRequests* Hand(SecondOfRequests& bucket);

  std::int64_t horizon_;  // Seconds.
  std::vector<SecondOfRequests> ring_;
  std::vector<SecondOfRequests> handed_;  // Three, in turn.
  std::size_t turn_ = 0;
  std::int64_t floor_ = 0;  // The first second that has not been returned.
  std::size_t held_ = 0;    // Non-empty buckets in the ring.
  WallInstant newest_{};
  std::uint64_t late_ = 0;
  Duration latest_{};
  Duration put_right_{};
};

}  // namespace sluice::logs
