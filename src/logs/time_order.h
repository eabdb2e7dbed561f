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

// The requests of one second, in order, with the bytes of their values. Filled and emptied
// again and again, so that its room is allocated a few times only.
class SecondOfRequests {
 public:
  // Whether a value was there: an empty one is not the same as none.
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
  // Of the request added last, as many as there are attributes.
  void AddValue(std::string_view value);

  // By time; of one time in the order in which they came. Before the first entry() call.
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

// Puts requests in order of time that come out of it by less than a horizon: a log in the
// order of completion is as far out as its longest request took. The problem is old, a heap
// its usual answer; but stamps fall into seconds, and a ring of a bucket for each second of the
// horizon costs no comparisons: a bucket is sorted, if it has to be, once it is complete.
//
// One thread. Memory: what the log says within the horizon.
class TimeOrder {
 public:
  // `horizon`: 0 to kLongestHorizon, in whole seconds.
  static constexpr std::chrono::seconds kLongestHorizon{3600};
  explicit TimeOrder(std::chrono::seconds horizon);

  // Where a request at `at` goes. If it is so late that what came after it has been given out,
  // it counts as if it came now: `at` is moved up, and the late ones are counted. Requires
  // Fits(at).
  [[nodiscard]] SecondOfRequests& PlaceFor(WallInstant& at);
  // Whether `at` is less than the horizon past all that has been given out: else take what
  // TakeBefore() has to give first.
  [[nodiscard]] bool Fits(WallInstant at) const;

  // Where the ring begins: before anything has a place.
  void StartAt(WallInstant first);
  // The latest request so far.
  [[nodiscard]] WallInstant newest() const { return newest_; }

  // The next complete second, sorted, when `at` is the latest there is; nullptr if there is none:
  // then Fits(at). It is the caller's until it calls TakeBefore() or TakeAny() three times
  // more.
  [[nodiscard]] SecondOfRequests* TakeBefore(WallInstant at);
  // The earliest second there is: at the end of the log, or when memory is short.
  [[nodiscard]] SecondOfRequests* TakeAny();

  [[nodiscard]] std::uint64_t late() const { return late_; }
  [[nodiscard]] Duration latest() const { return latest_; }  // By how much, at most.
  // How far back, at most, a request came that was put right.
  [[nodiscard]] Duration put_right() const { return put_right_; }

 private:
  [[nodiscard]] SecondOfRequests& BucketOf(std::int64_t second) {
    return ring_[static_cast<std::size_t>(second) % ring_.size()];
  }
  // Hands the bucket out and puts an empty one in its place.
  SecondOfRequests* Hand(SecondOfRequests& bucket);

  std::int64_t horizon_;  // Seconds.
  std::vector<SecondOfRequests> ring_;
  std::vector<SecondOfRequests> handed_;  // Three, in turn.
  std::size_t turn_ = 0;
  std::int64_t floor_ = 0;  // The first second that has not been handed out.
  std::size_t held_ = 0;    // Buckets in the ring that are not empty.
  WallInstant newest_{};
  std::uint64_t late_ = 0;
  Duration latest_{};
  Duration put_right_{};
};

}  // namespace sluice::logs
