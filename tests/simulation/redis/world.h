#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <queue>
#include <random>
#include <string>
#include <vector>

#include "redis/channel.h"
#include "simulation/redis/simulated_server.h"
#include "support/manual_clock.h"
#include "support/store_calls.h"

namespace sluice::redis {

// Several nodes and one Redis in a time of their own, on one thread: everything that happens is
// drawn from the seed. Bytes are late and come in pieces, connections are cut, nodes cannot reach
// the server, it stalls, forgets its scripts, refuses for a while, or is replaced by a replica that
// lacks the last writes. For a few seconds; then nothing goes wrong any more.
class World {
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
  ~World();

  // A fault of ours that the checkers must find.
  void PlantForTest();

  // Runs to the end and looks at what came out of it.
  Report Run();

 private:
  using Time = Channel::Time;

  struct Event {
    Time at;
    std::uint64_t number;
    std::function<void()> run;
    bool operator>(const Event& other) const {
      return at != other.at ? at > other.at : number > other.number;
    }
  };
  struct Call final : store::CheckCall {
    void OnAnswered() noexcept override { world->OnAnswered(*this); }
    World* world = nullptr;
    Time answer_by;
    std::vector<store::Check> own_checks;
    std::vector<store::CheckAnswer> own_answers;
    int answers_got = 0;
  };
  // One connection; bytes of one that has ended are nobody's.
  struct Connection {
    bool node_open = true;
    bool server_open = true;
    Time to_server{};  // When the last bytes under way come: none overtake others.
    Time to_node{};
    std::string inbox{};  // Has come while the server stalls.
    bool waits = false;   // For the end of the stall.
    wire::RespCommandParser parser{{.arguments = 1024, .command_bytes = 1024 * 1024}};
  };
  struct Node {
    std::unique_ptr<Channel> channel;
    std::shared_ptr<Connection> connection;
    bool dialing = false;
    bool reachable = true;
    Time wake_at = Time::max();
  };

  [[nodiscard]] std::int64_t Draw(std::int64_t below);
  [[nodiscard]] bool Chance(int per_thousand) { return Draw(1000) < per_thousand; }
  [[nodiscard]] Duration Delay();
  void At(Time when, std::function<void()> run);
  void Pump(Node& node);
  void Dial(Node& node);
  void Drop(Node& node, const char* why);
  void Carry(const std::shared_ptr<Connection>& connection, Node& node, std::string bytes,
             bool to_server);
  void Serve(const std::shared_ptr<Connection>& connection, Node& node);
  void Ask(Node& node);
  void OnAnswered(Call& call);
  void Misfortune();
  void CutAll();
  void Complain(std::string problem);

  std::mt19937_64 random_;
  const Faults faults_;
  const Units limit_ = 300;
  support::ManualClock clock_;
  RedisMetrics metrics_;
  SimulatedServer server_;
  support::OwnedKey key_;
  Time now_ = Time() + std::chrono::hours(1);
  Time quiet_from_;
  Time stalled_until_{};
  bool there_ = true;  // Whether the server accepts connections.
  std::uint64_t events_ = 0;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> queue_;
  std::deque<Call> calls_;  // Outlive the channels, which answer what is left.
  std::vector<std::unique_ptr<Node>> nodes_;
  Units admitted_ = 0;
  Units perhaps_ = 0;  // Calls of which nobody knows whether they were charged.
  Units answered_after_ = 0;
  std::string problem_;
};

}  // namespace sluice::redis
