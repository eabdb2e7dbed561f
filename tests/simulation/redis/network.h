#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "redis/channel.h"
#include "support/manual_clock.h"
#include "wire/resp_command_parser.h"

namespace sluice::redis {

// A time of its own on one thread, and chance: all that happens is drawn from the seed. For a few
// seconds things go wrong; from quiet_from() on nothing does.
class Network {
 public:
  using Time = Channel::Time;

  Network(std::uint64_t seed, Duration trouble_for)
      : random_(seed), quiet_from_(now_ + trouble_for) {}

  // From 0 up to and without `below`.
  [[nodiscard]] std::int64_t Draw(std::int64_t below);
  [[nodiscard]] bool Chance(int per_thousand) { return Draw(1000) < per_thousand; }
  [[nodiscard]] std::uint64_t DrawSeed() { return random_(); }
  // Of bytes on their way: mostly well below a call's deadline, sometimes far above.
  [[nodiscard]] Duration Delay();

  void At(Time when, std::function<void()> run);
  // Runs the next event before `end`. False: there is none.
  bool Step(Time end);

  [[nodiscard]] Time now() const { return now_; }
  [[nodiscard]] Time quiet_from() const { return quiet_from_; }
  [[nodiscard]] const base::Clock& clock() const { return clock_; }

 private:
  struct Event {
    Time at;
    std::uint64_t number;
    std::function<void()> run;
    bool operator>(const Event& other) const {
      return at != other.at ? at > other.at : number > other.number;
    }
  };

  std::mt19937_64 random_;
  support::ManualClock clock_;
  Time now_ = Time() + std::chrono::hours(1);
  const Time quiet_from_;
  std::uint64_t events_ = 0;
  std::vector<Event> queue_;  // A heap, the next one first.
};

// A server as its connections see it.
class Host {
 public:
  struct Session {
    bool asking = false;
  };

  virtual ~Host() = default;
  // Runs one command of a connection, and returns the reply.
  virtual std::string Execute(const wire::RespCommandParser& command, Session& session) = 0;

  bool there = true;  // Whether it accepts connections.
  Channel::Time stalled_until{};
};

// What carries a channel's bytes to a host and back: late, in pieces, and not always. Bytes of a
// connection that has ended are nobody's, but those that are under way to the host may still run.
class Line {
 public:
  // All outlive it. `on_lost` is called as Link's is; it may be empty.
  Line(Network& network, Channel& channel, Host& host, std::function<void()> on_lost = {});
  ~Line();
  Line(const Line&) = delete;
  Line& operator=(const Line&) = delete;

  // After verbs were called.
  void Pump();
  // Ends the connection, if there is one.
  void Drop(const char* why);
  // Nothing comes through until Mend(); nobody is told.
  void Cut();
  void Mend() { reachable_ = true; }

  [[nodiscard]] const Host& host() const { return host_; }

 private:
  struct Connection {
    bool node_open = true;
    bool host_open = true;
    Network::Time to_host{};  // When the last bytes under way come: none overtake others.
    Network::Time to_node{};
    std::string inbox{};  // Has come while the host stalls.
    bool waits = false;   // For the end of the stall.
    Host::Session session{};
    wire::RespCommandParser parser{{.arguments = 1024, .command_bytes = 1024 * 1024}};
  };

  // Does nothing once the line is gone.
  void At(Network::Time when, std::function<void(Line&)> run);
  void Dial();
  void Lose(const char* why);
  void ToHost(const std::shared_ptr<Connection>& connection, const std::string& bytes);
  static void Serve(Network& network, Host& host, const std::shared_ptr<Connection>& connection,
                    const std::weak_ptr<Line*>& line);
  static void Carry(Network& network, Network::Time& last, const std::string& bytes,
                    const std::function<void(std::string piece)>& arrive);

  Network& network_;
  Channel& channel_;
  Host& host_;
  const std::function<void()> on_lost_;
  std::shared_ptr<Connection> connection_;
  bool dialing_ = false;
  bool reachable_ = true;
  Network::Time wake_at_ = Network::Time::max();
  std::shared_ptr<Line*> life_;
};

}  // namespace sluice::redis
