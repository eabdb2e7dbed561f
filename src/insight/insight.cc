#include "insight/insight.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/random.h"
#include "insight/key_text.h"

namespace sluice::insight {

namespace {

// None of a denial in shadow that the store did not make: it says nothing about the key.
std::optional<Kind> KindOf(const Decision& decision) {
  if (decision.allowed) {
    return Kind::kAllowed;
  }
  if (decision.shadow) {
    return decision.degraded ? std::nullopt : std::optional(Kind::kShadow);
  }
  return decision.reason == Reason::kBanned ? Kind::kBanned : Kind::kDenied;
}

// By which power of two the step rises while so much of a ring waits for its reader: not at all up
// to a half, and from there so steeply that no thread fills the ring between two ticks.
unsigned ShiftAt(std::size_t waiting) {
  constexpr std::size_t kHalfRing = SampleRing::kBytes / 2;
  constexpr std::size_t kSegments = 20;
  return waiting < kHalfRing
             ? 0
             : static_cast<unsigned>((waiting - kHalfRing) / (kHalfRing / kSegments)) + 1;
}

}  // namespace

thread_local constinit Insight::Mine Insight::mine_;

Insight::Insight(const base::Clock& clock)
    : clock_(clock), serial_(base::UniqueNumber()), started_(clock.Read()), top_(started_.boot) {}

Insight::~Insight() = default;

Insight::ThreadShare* Insight::Join() noexcept {
  const std::lock_guard lock(mutex_);
  const auto at = std::ranges::find(shares_, std::this_thread::get_id(),
                                    [](const auto& share) { return share->thread; });
  ThreadShare* share = at == shares_.end() ? nullptr : at->get();
  if (share == nullptr && shares_.size() < kMostThreads) {
    share = shares_.emplace_back(std::make_unique<ThreadShare>()).get();
  }
  mine_ = {.owner = serial_, .share = share};
  return share;
}

void Insight::Keep(const RequestRecord& request, ThreadShare& share, Sampler& sampler) noexcept {
  const std::size_t count = request.decisions.size();
  for (std::size_t i = 0; i < count; ++i) {
    const DecisionRecord made = request.decisions.At(i);
    const std::optional<Kind> kind = KindOf(*made.decision);
    if (!kind) {
      continue;
    }
    KeyRoom room;  // NOLINT(cppcoreguidelines-pro-type-member-init): WriteKey() fills what is read.
    const bool written =
        share.ring.Write({.rule = made.rule,
                          .key = WriteKey(made.parts, room),
                          .kind = *kind,
                          .newly_denied = *kind == Kind::kShadow && request.allowed,
                          .of_denied_request = request.any_denied,
                          .weight = sampler.weight(),
                          .at = request.now});
    if (!written) [[unlikely]] {
      lost_.fetch_add(sampler.weight(), std::memory_order_relaxed);
    }
  }
  sampler.Draw(ShiftAt(share.ring.waiting()));
}

void Insight::Collect(WallInstant now) {
  for (const std::unique_ptr<ThreadShare>& share : shares_) {
    share->ring.Read([&](KeySample sample) {
      (sample.of_denied_request ? share->denied_seen : share->allowed_seen) += sample.weight;
      if (sample.at == WallInstant{}) {
        sample.at = now;
      }
      top_.Add(sample);
    });
  }
}

bool Insight::Tick() {
  const base::ClockReading now = clock_.Read();
  const std::lock_guard lock(mutex_);
  Collect(now.wall_clock);
  for (const std::unique_ptr<ThreadShare>& share : shares_) {
    share->allowed.set_step(
        NextStep(share->allowed.step(), std::exchange(share->allowed_seen, 0), kSamplesPerTick));
    share->denied.set_step(
        NextStep(share->denied.step(), std::exchange(share->denied_seen, 0), kSamplesPerTick));
  }
  return top_.Advance(now.boot);
}

void Insight::KeepRules(const std::function<bool(std::string_view rule)>& keep) {
  const std::lock_guard lock(mutex_);
  top_.KeepRules(keep);
}

Insight::TopReading Insight::Top(const TopKeys::Query& query) {
  const base::ClockReading now = clock_.Read();
  const std::lock_guard lock(mutex_);
  Collect(now.wall_clock);
  return {.now = now.wall_clock,
          .covered =
              query.window == Window::kMinute ? top_.MinuteAt(now.boot) : now.boot - started_.boot,
          .capacity = top_.capacity(),
          .rules = top_.Top(query)};
}

std::vector<RuleShare> Insight::Shares(double share, std::uint64_t least_total) {
  const std::lock_guard lock(mutex_);
  return top_.Shares(share, least_total);
}

}  // namespace sluice::insight
