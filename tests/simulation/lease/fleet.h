#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <queue>
#include <random>
#include <string>
#include <vector>

#include "lease/lease_store.h"
#include "simulation/lease/slow_wire.h"
#include "store/table.h"
#include "support/manual_clock.h"
#include "support/store_calls.h"

namespace sluice::lease {

// Several nodes that borrow from one store, in a time of their own, on one thread. Everything that
// happens is drawn from the seed.
class Fleet {
 public:
  struct Plan {
    int nodes = 4;
    core::Quota quota{};            // Of the rule that is lent.
    double offered = 1;             // Units that arrive, by what the quota grants in the long run.
    double hot = 0;                 // Part of the arrivals that one node gets; the rest is even.
    int pauses_per_thousand = 0;    // Of ticks after which a node gets nothing for a while.
    int restarts_per_thousand = 0;  // Of ticks after which a node is another.
    bool with_others = false;       // Some requests are judged by an exact and a local rule too.
    Units largest_cost = 1;
    int windows = 3;
    SlowWire::Faults faults{};
  };
  struct Report {
    std::string problem;  // "": none.
    Units admitted = 0;
    Units possible = 0;  // What one exact store would have admitted, of windows alone.
    std::uint64_t decisions = 0;
    std::uint64_t calls = 0;       // To the shared store.
    std::uint64_t given_back = 0;  // Units, by nodes that were not restarted.
    Units most_over = 0;           // Of a bucket: the most above its burst.
  };

  Fleet(std::uint64_t seed, const Plan& plan);
  ~Fleet();

  [[nodiscard]] Report Run();

 private:
  struct Event {
    Duration at;
    std::uint64_t number;
    std::function<void()> run;
    bool operator>(const Event& other) const {
      return at != other.at ? at > other.at : number > other.number;
    }
  };
  struct Node {
    std::unique_ptr<store::Table> local;
    std::unique_ptr<SlowWire> wire;
    std::unique_ptr<LeaseStore> store;
    std::unique_ptr<LeaseStore::Attachment> book;
    Duration pause_until{};
  };
  struct Request final : store::CheckCall {
    void OnAnswered() noexcept override { fleet->OnAnswered(*this); }
    Fleet* fleet = nullptr;
    bool sending = false;
    WallInstant sent{};
    std::vector<store::Check> own_checks;
    std::vector<store::CheckAnswer> own_answers;
  };

  [[nodiscard]] std::int64_t Draw(std::int64_t below);
  [[nodiscard]] Duration Now() const { return clock_.Read().boot; }
  [[nodiscard]] std::int64_t WindowAt(WallInstant wall_clock) const {
    return wall_clock.time_since_epoch() / plan_.quota.window;
  }
  void After(Duration wait, std::function<void()> run);
  void Boot(Node& node);
  void Arrive();
  void TickAll();
  void Send(Node& node);
  void OnAnswered(Request& request);
  void Complain(std::string problem);
  void Judge();

  const Plan plan_;
  std::mt19937_64 random_;
  support::ManualClock clock_;
  std::unique_ptr<store::Table> shared_;
  std::atomic<int> nodes_count_;
  const support::OwnedKey key_{"u", "lent"};
  const support::OwnedKey exact_key_{"u", "exact"};
  const support::OwnedKey local_key_{"u", "local"};
  std::vector<std::unique_ptr<Node>> nodes_;
  std::vector<std::unique_ptr<Request>> free_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::uint64_t next_event_ = 0;
  Duration ends_{};
  std::size_t open_ = 0;
  std::uint64_t retired_calls_ = 0;
  std::map<std::int64_t, Units> admitted_;  // By window.
  std::map<std::int64_t, Units> offered_;
  std::map<std::int64_t, Units> exact_admitted_;
  std::vector<std::pair<Duration, Units>> passed_;  // Of a bucket.
  Report report_;
};

}  // namespace sluice::lease
