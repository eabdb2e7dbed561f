// Asks one Redis, as one loop of a node does, with a fixed number of checks in flight, and prints a
// row for each algorithm and number: checks per second, CPU of this process and of the server a
// check, and how long answers took. Driven by bench/redis.sh.
//
//   redis_load HOST:PORT SERVER_PID SECONDS KEYS      redis_load --script NAME: its text
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "cpu_time.h"
#include "net/event_loop.h"
#include "redis/redis_store.h"

namespace sluice::redis {
namespace {

using bench::CpuUsOf;
using bench::OwnCpuUs;
using Clock = std::chrono::steady_clock;

constexpr core::Ban kBan{
    .after = 20, .within = std::chrono::minutes(1), .lasts = std::chrono::minutes(15)};

class Load;

// One check in flight, asked again with another key as soon as it is answered.
class Call final : public store::CheckCall {
 public:
  void Start(Load& load, const core::Quota& quota, bool with_ban);
  void OnAnswered() noexcept override;

 private:
  void Ask();

  Load* load_ = nullptr;
  std::string value_;
  std::array<core::KeyPart, 1> parts_{};
  std::array<store::Check, 1> checks_{};
  std::array<store::CheckAnswer, 1> answers_{};
  Clock::time_point asked_;
};

class Load {
 public:
  Load(RedisStore& asked, std::size_t of_keys, Clock::time_point ends)
      : store(asked), keys(of_keys), until(ends) {}

  RedisStore& store;
  const std::size_t keys;
  const Clock::time_point until;
  std::size_t open = 0;
  std::size_t failed = 0;
  std::uint64_t next = 0;
  std::vector<std::uint32_t> latencies_us;
};

void Call::Start(Load& load, const core::Quota& quota, bool with_ban) {
  load_ = &load;
  ++load.open;
  checks_[0].quota = quota;
  checks_[0].cost = Cost{1};
  checks_[0].ban = with_ban ? &kBan : nullptr;
  checks = checks_;
  answers = answers_;
  Ask();
}

void Call::Ask() {
  load_->next = load_->next * 6364136223846793005U + 1442695040888963407U;
  value_ = "u_" + std::to_string((load_->next >> 33U) % load_->keys);
  parts_[0] = {.attribute = "user_id", .type = core::AttributeType::kText, .value = value_};
  checks_[0].key = {.rule = "api_rate", .formerly = {}, .parts = parts_};
  asked_ = Clock::now();
  store::CheckCall* const one = this;
  load_->store.CheckMany({&one, 1});
}

void Call::OnAnswered() noexcept {
  const auto answered = Clock::now();
  load_->failed += error == store::StoreError::kNone ? 0 : 1;
  load_->latencies_us.push_back(static_cast<std::uint32_t>(
      std::chrono::duration_cast<std::chrono::microseconds>(answered - asked_).count()));
  if (answered < load_->until) {
    Ask();
  } else {
    --load_->open;
  }
}

core::Quota QuotaOf(core::Algorithm algorithm) {
  core::Quota quota;
  quota.algorithm = algorithm;
  quota.limit = 200;
  quota.rate = 1000;
  quota.window = std::chrono::minutes(1);
  return quota;
}

void Measure(RedisStore& store, net::EventLoop& loop, core::Algorithm algorithm, bool with_ban,
             std::size_t in_flight, const std::string& pid, std::size_t keys, double seconds) {
  const auto begin = Clock::now();
  Load load(
      store, keys,
      begin + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds)));
  load.latencies_us.reserve(1U << 20U);
  const double own = OwnCpuUs();
  const double server = CpuUsOf(pid);
  std::vector<std::unique_ptr<Call>> calls;
  for (std::size_t i = 0; i < in_flight; ++i) {
    calls.push_back(std::make_unique<Call>());
    calls.back()->Start(load, QuotaOf(algorithm), with_ban);
  }
  while (load.open != 0) {
    loop.RunOne();
  }
  const double took = std::chrono::duration<double>(Clock::now() - begin).count();
  auto& all = load.latencies_us;
  std::ranges::sort(all);
  const auto count = static_cast<double>(all.size());
  std::printf(
      "%-24s %3zu in flight %8.0f/s  node %5.2f us  redis %5.2f us  p50 %5u us  p99 %5u us%s\n",
      (std::string(core::NameOf(algorithm)) + (with_ban ? ", with a ban" : "")).c_str(), in_flight,
      count / took, (OwnCpuUs() - own) / count, (CpuUsOf(pid) - server) / count,
      all[all.size() / 2], all[all.size() * 99 / 100], load.failed == 0 ? "" : "  (some failed)");
}

int Main(int argc, char** argv) {
  if (argc == 3 && std::string_view(argv[1]) == "--script") {
    for (const Script& script : kScripts) {
      if (script.name == argv[2]) {
        std::fwrite(script.text.data(), 1, script.text.size(), stdout);
        return 0;
      }
    }
    return 1;
  }
  if (argc != 5) {
    std::fprintf(stderr, "redis_load HOST:PORT SERVER_PID SECONDS KEYS\n");
    return 2;
  }
  const auto target = net::ParseDialTarget(argv[1], "6379");
  if (!target) {
    std::fprintf(stderr, "%s\n", target.error().message.c_str());
    return 2;
  }
  const base::SystemClock clock;
  net::EventLoop loop;
  RedisSettings settings;
  settings.target = *target;
  settings.channel.deadline = std::chrono::seconds(10);
  RedisStore store(settings, clock, [](bool, const std::string&) {});
  const auto attachment = store.Attach(loop);
  while (!attachment->route().up()) {
    loop.RunOne();
  }
  constexpr std::array<std::size_t, 3> kInFlight{1, 16, 64};
  const auto measure = [&](core::Algorithm algorithm, bool with_ban, std::size_t in_flight) {
    Measure(store, loop, algorithm, with_ban, in_flight, argv[2],
            static_cast<std::size_t>(std::atol(argv[4])), std::atof(argv[3]));
  };
  for (const auto algorithm :
       {core::Algorithm::kGcra, core::Algorithm::kTokenBucket, core::Algorithm::kLeakyBucket,
        core::Algorithm::kFixedWindow, core::Algorithm::kSlidingWindowCounter,
        core::Algorithm::kSlidingWindow, core::Algorithm::kSlidingWindowLog,
        core::Algorithm::kConcurrency}) {
    for (const std::size_t in_flight : kInFlight) {
      measure(algorithm, false, in_flight);
    }
  }
  for (const std::size_t in_flight : kInFlight) {
    measure(core::Algorithm::kGcra, true, in_flight);
  }
  return 0;
}

}  // namespace
}  // namespace sluice::redis

int main(int argc, char** argv) {
  return sluice::redis::Main(argc, argv);
}
