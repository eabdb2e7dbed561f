// What a decision costs a node with Redis as the store, by sync: exact and sync: lease. One loop
// asks batches of 32 checks, of keys drawn evenly, as fast as they are answered. Driven by
// bench/redis.sh.
//
//   lease_load HOST:PORT SERVER_PID SECONDS KEYS
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include "base/clock.h"
#include "cpu_time.h"
#include "lease/lease_store.h"
#include "net/event_loop.h"
#include "redis/redis_store.h"
#include "store/table.h"

namespace sluice::lease {
namespace {

using bench::CpuUsOf;
using bench::OwnCpuUs;
using Clock = std::chrono::steady_clock;

struct Call final : store::CheckCall {
  void OnAnswered() noexcept override { --*open; }

  std::size_t* open = nullptr;
  std::string value;
  std::array<core::KeyPart, 1> parts{};
  std::array<store::Check, 1> own_checks{};
  std::array<store::CheckAnswer, 1> own_answers{};
};

void Measure(redis::RedisStore& redis, LeaseStore& leases, net::EventLoop& loop, core::Sync sync,
             const std::string& pid, std::uint64_t keys, double seconds) {
  core::Quota quota;
  quota.algorithm = core::Algorithm::kFixedWindow;
  quota.limit = 1'000'000;
  quota.window = std::chrono::minutes(1);
  std::array<Call, 32> calls;
  std::array<store::CheckCall*, 32> batch{};
  std::size_t open = 0;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    calls[i].open = &open;
    batch[i] = &calls[i];
  }
  const auto begin = Clock::now();
  const auto ends =
      begin + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  const double own = OwnCpuUs();
  const double server = CpuUsOf(pid);
  const auto before = redis.metrics().Read(redis::RedisCount::kAnswered);
  double count = 0;
  std::uint64_t next = 1;
  while (Clock::now() < ends) {
    for (Call& call : calls) {
      next = next * 6364136223846793005U + 1442695040888963407U;
      call.value = "u_" + std::to_string((next >> 33U) % keys);
      call.parts[0] = {
          .attribute = "user_id", .type = core::AttributeType::kText, .value = call.value};
      call.own_checks[0] = {.key = {.rule = sync == core::Sync::kLease ? "lent" : "exact",
                                    .formerly = {},
                                    .parts = call.parts},
                            .quota = quota,
                            .cost = {},
                            .sync = sync};
      call.checks = call.own_checks;
      call.answers = call.own_answers;
    }
    open = batch.size();
    leases.CheckMany(batch);
    (void)loop.Poll();
    while (open != 0) {
      loop.RunOne();
    }
    count += static_cast<double>(batch.size());
  }
  const double took = std::chrono::duration<double>(Clock::now() - begin).count();
  const auto asked =
      static_cast<double>(redis.metrics().Read(redis::RedisCount::kAnswered) - before);
  std::printf("sync: %-6s %9.0f/s  node %5.2f us  redis %5.2f us  %7.1f decisions a call\n",
              std::string(core::NameOf(sync)).c_str(), count / took, (OwnCpuUs() - own) / count,
              (CpuUsOf(pid) - server) / count, count / asked);
}

int Main(int argc, char** argv) {
  const auto target = argc == 5 ? net::ParseDialTarget(argv[1], "6379") : Result<net::DialTarget>{};
  if (argc != 5 || !target) {
    std::fprintf(stderr, "lease_load HOST:PORT SERVER_PID SECONDS KEYS\n");
    return 2;
  }
  const base::SystemClock clock;
  net::EventLoop loop;
  redis::RedisSettings settings;
  settings.target = *target;
  settings.channel.deadline = std::chrono::seconds(10);
  redis::RedisStore redis(settings, clock, [](bool, const std::string&) {});
  auto table = store::Table::Create({.path = "", .keys = 1'000}, clock);
  if (!table) {
    return 2;
  }
  LeaseStore leases(redis, **table, redis.nodes(), clock, {});
  const auto book = leases.Attach(&loop);  // Outlives the other, which answers through it.
  const auto attachment = redis.Attach(loop);
  while (!attachment->route().up()) {
    loop.RunOne();
  }
  for (const core::Sync sync : {core::Sync::kExact, core::Sync::kLease}) {
    Measure(redis, leases, loop, sync, argv[2], std::strtoull(argv[4], nullptr, 10),
            std::atof(argv[3]));
  }
  return 0;
}

}  // namespace
}  // namespace sluice::lease

int main(int argc, char** argv) {
  return sluice::lease::Main(argc, argv);
}
