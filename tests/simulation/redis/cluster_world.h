#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "redis/cluster_route.h"
#include "simulation/redis/network.h"
#include "simulation/redis/simulated_cluster.h"
#include "support/store_calls.h"

namespace sluice::redis {

// Several nodes and a Redis Cluster in a time of their own, on one thread: everything that happens
// is drawn from the seed. Beside what bad networks do, slots move, primaries are replaced, with
// every write or without the last ones, and servers send calls away. For a few seconds; then
// nothing goes wrong any more.
//
// No two checks have the same cost, so that each charge says whose it is.
class ClusterWorld {
 public:
  struct Faults {
    bool cuts = true;          // Connections end, some with what was under way on them.
    bool losses = true;        // Primaries end, or are cut off, with writes that no replica has.
    bool only_a_hang = false;  // Instead of all: a primary says nothing more, and is replaced.
  };
  struct Report {
    std::string problem;             // "": none.
    Units late = 0;                  // Charges that were given back.
    Units undos = 0;                 // Parts of requests over several slots that were taken back.
    std::array<int, 4> sent_away{};  // MOVED, ASK, TRYAGAIN, CLUSTERDOWN.

    friend bool operator==(const Report&, const Report&) = default;
  };

  ClusterWorld(std::uint64_t seed, Faults faults);
  ~ClusterWorld();
  ClusterWorld(const ClusterWorld&) = delete;
  ClusterWorld& operator=(const ClusterWorld&) = delete;

  // A fault of ours that the checkers must find.
  void PlantForTest() { planted_ = true; }

  // Runs to the end and looks at what came out of it.
  Report Run();

 private:
  using Time = Network::Time;
  class Way;
  class Ways;

  struct Call final : store::CheckCall {
    void OnAnswered() noexcept override { world->OnAnswered(*this); }
    ClusterWorld* world = nullptr;
    Time answer_by;
    std::vector<store::Check> own_checks;
    std::vector<store::CheckAnswer> own_answers;
    std::vector<std::size_t> keys;
    int answers_got = 0;
  };
  struct Node {
    std::vector<Way*> ways;
    std::unique_ptr<ClusterRoute> route;
  };

  [[nodiscard]] bool IsQuiet() const;
  void Begin();
  void Add(Call& call, std::size_t key);
  void AskAtRandom(Time end);
  void AskInTurn(Time end);
  void Ask(Node& node, std::size_t user);
  void OnAnswered(Call& call);
  void Hang();
  void Misfortune();
  void Change();  // Of who has what.
  void ReplacePrimary(std::size_t shard);
  void MoveSlot();
  void MoveKeys(std::uint16_t slot);
  void CutOff(std::size_t server);
  void Judge();
  void JudgeCall(const Call& call);
  void Complain(std::string problem);

  Network network_;
  const Faults faults_;
  bool planted_ = false;
  RedisMetrics metrics_;
  SimulatedCluster cluster_;
  std::vector<std::unique_ptr<support::OwnedKey>> keys_;  // 2 * i and 2 * i + 1 are of one slot.
  std::vector<std::string> names_;                        // In Redis.
  std::vector<Units> admitted_;                           // By key.
  std::deque<Call> calls_;  // Outlive the routes, which answer what is left.
  Units checks_ = 0;
  Time settled_;  // From then on every call is answered by a server.
  bool changing_ = false;
  int answered_after_ = 0;
  std::string problem_;
  std::vector<std::unique_ptr<Node>> nodes_;
};

}  // namespace sluice::redis
