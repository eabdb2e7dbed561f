#include "redis/loop_environment.h"

#include <utility>

#include "base/random.h"
#include "net/event_loop.h"

namespace sluice::redis {

LoopEnvironment::LoopEnvironment(net::EventLoop& loop, const RedisSettings& settings,
                                 const base::Clock& clock, RedisMetrics& metrics,
                                 const Channel::OnEvent& on_event)
    : loop_(loop),
      settings_(settings),
      clock_(clock),
      metrics_(metrics),
      on_event_(on_event),
      timer_([this] { sleeper_->OnWake(Now()); }) {}

std::unique_ptr<Peer> LoopEnvironment::To(const net::DialTarget& target,
                                          std::function<void()> on_lost) {
  return std::make_unique<Link>(loop_, settings_, target, clock_, metrics_, on_event_,
                                std::move(on_lost));
}

Channel::Time LoopEnvironment::Now() const {
  return std::chrono::steady_clock::now();
}

void LoopEnvironment::WakeAt(Channel::Time when, Sleeper& sleeper) {
  sleeper_ = &sleeper;
  loop_.Arm(timer_, when, net::TimerPrecision::kExact);
}

std::uint64_t LoopEnvironment::DrawId() {
  return base::UniqueNumber();
}

bool LoopEnvironment::RunsHere() const {
  return loop_.context().get_executor().running_in_this_thread();
}

}  // namespace sluice::redis
