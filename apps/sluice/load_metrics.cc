#include "load_metrics.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>
#include <utility>

#include <sys/resource.h>
#include <unistd.h>

#include "net/event_loop.h"

namespace sluice::app {

namespace {

double Seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

std::uint64_t ResidentBytes() {
  std::uint64_t size = 0;
  std::uint64_t resident = 0;  // In pages.
  std::ifstream("/proc/self/statm") >> size >> resident;
  return resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

std::uint64_t OpenFiles() {
  std::uint64_t count = 0;
  std::error_code error;
  std::filesystem::directory_iterator at("/proc/self/fd", error);
  for (; !error && at != std::filesystem::directory_iterator(); at.increment(error)) {
    ++count;
  }
  return count;
}

}  // namespace

void LoadMetrics::Write(telemetry::Exposition& out) const {
  using Type = telemetry::Exposition::Type;
  out.Family("sluice_requests_in_flight",
             "Requests that worker threads are answering or have to wait with.", Type::kGauge);
  out.Sample("sluice_requests_in_flight", {},
             static_cast<double>(in_flight_.load(std::memory_order_relaxed)));
  out.Family("sluice_loop_lag_seconds",
             "How long ready work waits for its worker thread, in seconds.", Type::kHistogram);
  out.Samples("sluice_loop_lag_seconds", lag_.Read());
  out.Family("sluice_shed_total", "Work refused or given up because of load.", Type::kCounter);
  const auto write = [&out](std::string_view reason, std::uint64_t count) {
    out.Sample("sluice_shed_total", std::array{telemetry::Label{.name = "reason", .value = reason}},
               count);
  };
  write("connections", connections_.refused());
  write("connections_per_peer", connections_.refused_of_peers());
  if (redis_ != nullptr) {
    write("store_queue", redis_->Read(redis::RedisCount::kQueueFull));
    write("store_deadline", redis_->Read(redis::RedisCount::kTimedOut));
  }
}

LoopWatch::LoopWatch(net::EventLoop& loop, LoadMetrics& metrics,
                     std::function<std::size_t()> in_flight)
    : loop_(loop),
      metrics_(metrics),
      in_flight_(std::move(in_flight)),
      timer_([this] { Look(); }) {}

void LoopWatch::Start() {
  due_ = std::chrono::steady_clock::now() + kEvery;
  loop_.Arm(timer_, due_, net::TimerPrecision::kExact);
}

void LoopWatch::Look() {
  // An exact timer comes up to a step late on a loop that has nothing else to do.
  const auto late = std::chrono::steady_clock::now() - due_ - net::kTimerStep;
  metrics_.lag_.Record(std::max<Duration>(late, Duration::zero()));
  const auto now_in_flight = static_cast<std::int64_t>(in_flight_());
  metrics_.in_flight_.fetch_add(now_in_flight - std::exchange(seen_, now_in_flight),
                                std::memory_order_relaxed);
  Start();
}

void ProcessMetrics::Write(telemetry::Exposition& out) const {
  using Type = telemetry::Exposition::Type;
  rusage usage{};
  (void)::getrusage(RUSAGE_SELF, &usage);
  out.Family("process_cpu_seconds_total", "CPU time of the process, in seconds.", Type::kCounter);
  out.Sample("process_cpu_seconds_total", {}, Seconds(usage.ru_utime) + Seconds(usage.ru_stime));
  out.Family("process_resident_memory_bytes", "Memory of the process in RAM, its table included.",
             Type::kGauge);
  out.Sample("process_resident_memory_bytes", {}, ResidentBytes());
  out.Family("process_open_fds", "Open file descriptors.", Type::kGauge);
  out.Sample("process_open_fds", {}, OpenFiles());
  out.Family("process_start_time_seconds", "Unix time at which the process started.", Type::kGauge);
  out.Sample("process_start_time_seconds", {},
             std::chrono::duration<double>(started_.time_since_epoch()).count());
}

}  // namespace sluice::app
