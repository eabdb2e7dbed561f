#include "logs/time_order.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace sluice::logs {

namespace {

std::int64_t SecondOf(WallInstant at) {
  return std::chrono::floor<std::chrono::seconds>(at.time_since_epoch()).count();
}

}  // namespace

void SecondOfRequests::Add(WallInstant at, Units cost, std::uint64_t line) {
  sorted_ = sorted_ && (entries_.empty() || entries_.back().at <= at);
  entries_.push_back({.at = at,
                      .cost = cost,
                      .line = line,
                      .first_piece = static_cast<std::uint32_t>(pieces_.size())});
}

void SecondOfRequests::AddValue(std::string_view value) {
  if (value.data() == nullptr) {
    pieces_.push_back({});
    return;
  }
  pieces_.push_back({.offset = static_cast<std::uint32_t>(bytes_.size()),
                     .size = static_cast<std::uint32_t>(value.size())});
  bytes_.append(value);
}

void SecondOfRequests::Sort() {
  if (!sorted_) {
    std::ranges::stable_sort(entries_, {}, &Entry::at);
    sorted_ = true;
  }
}

void SecondOfRequests::Clear() {
  entries_.clear();
  pieces_.clear();
  bytes_.clear();
  sorted_ = true;
}

TimeOrder::TimeOrder(std::chrono::seconds horizon)
    : horizon_(std::clamp(horizon, std::chrono::seconds(0), kLongestHorizon).count()),
      ring_(static_cast<std::size_t>(horizon_) + 1),
      handed_(3) {}

void TimeOrder::StartAt(WallInstant first) {
  floor_ = std::max<std::int64_t>(SecondOf(first) - horizon_, 0);
  newest_ = first;
}

bool TimeOrder::Fits(WallInstant at) const {
  return SecondOf(at) <= floor_ + horizon_;
}

SecondOfRequests& TimeOrder::PlaceFor(WallInstant& at) {
  if (at < newest_) {
    const Duration back = newest_ - at;
    if (SecondOf(at) < floor_) {
      ++late_;
      latest_ = std::max(latest_, back);
      at = WallInstant(std::chrono::seconds(floor_));
    } else {
      put_right_ = std::max(put_right_, back);
    }
  } else {
    newest_ = at;
  }
  SecondOfRequests& bucket = BucketOf(SecondOf(at));
  held_ += bucket.empty() ? 1 : 0;
  return bucket;
}

SecondOfRequests* TimeOrder::TakeBefore(WallInstant at) {
  const std::int64_t first_kept = SecondOf(at) - horizon_;
  while (held_ != 0 && floor_ < first_kept) {
    SecondOfRequests& bucket = BucketOf(floor_);
    ++floor_;
    if (!bucket.empty()) {
      return Hand(bucket);
    }
  }
  floor_ = std::max(floor_, first_kept);
  return nullptr;
}

SecondOfRequests* TimeOrder::TakeAny() {
  for (; held_ != 0; ++floor_) {
    SecondOfRequests& bucket = BucketOf(floor_);
    if (!bucket.empty()) {
      return Hand(bucket);  // The second stays open: more requests of it may follow.
    }
  }
  return nullptr;
}

SecondOfRequests* TimeOrder::Hand(SecondOfRequests& bucket) {
  --held_;
  turn_ = (turn_ + 1) % handed_.size();
  SecondOfRequests& room = handed_[turn_];
  room.Clear();
  std::swap(room, bucket);
  room.Sort();
  return &room;
}

}  // namespace sluice::logs
