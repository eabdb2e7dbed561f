#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "redis/channel.h"
#include "simulation/redis/network.h"
#include "simulation/redis/simulated_server.h"
#include "support/store_calls.h"

namespace sluice::redis {

// Several nodes and one Redis in a time of their own, on one thread: everything that happens is
// drawn from the seed. Bytes are late and come in pieces, connections are cut, nodes cannot reach
// the server, it stalls, forgets its scripts, refuses for a while, or is replaced by a replica that
// lacks the last writes. For a few seconds; then nothing goes wrong any more.
class World : private Host {
 public:
  struct Faults {
    bool cuts = true;        // Connections end, some with what was under way on them.
    bool promotions = true;  // Another server takes over.
    bool stalls = true;
  };
  struct Report {
    std::string problem;  // "": none.
    Units admitted = 0;
    Units late = 0;  // Charges that were given back.
  };

  World(std::uint64_t seed, Faults faults);
  ~World() override;

  // A fault of ours that the checkers must find.
  void PlantForTest();

  // Runs to the end and looks at what came out of it.
  Report Run();

 private:
  using Time = Channel::Time;

  struct Call final : store::CheckCall {
    void OnAnswered() noexcept override { world->OnAnswered(*this); }
    World* world = nullptr;
    Time answer_by;
    std::vector<store::Check> own_checks;
    std::vector<store::CheckAnswer> own_answers;
    int answers_got = 0;
  };
  struct Node {
    std::unique_ptr<Channel> channel;
    std::unique_ptr<Line> line;
  };

  // Host
  std::string Execute(const wire::RespCommandParser& command, Session& session) override;

  void Ask(Node& node);
  void OnAnswered(Call& call);
  void Misfortune();
  void CutAll();
  void Complain(std::string problem);

  Network network_;
  const Faults faults_;
  const Units limit_ = 300;
  RedisMetrics metrics_;
  SimulatedServer server_;
  support::OwnedKey key_;
  std::deque<Call> calls_;  // Outlive the channels, which answer what is left.
  Units admitted_ = 0;
  Units perhaps_ = 0;  // Calls of which nobody knows whether they were charged.
  Units answered_after_ = 0;
  std::string problem_;
  std::vector<std::unique_ptr<Node>> nodes_;
};

}  // namespace sluice::redis
