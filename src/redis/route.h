#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "net/dial.h"
#include "redis/channel.h"
#include "redis/request.h"
#include "store/key_store.h"

namespace sluice::redis {

// One loop's way to the servers that store the keys: a server, or a cluster of them. One thread,
// the loop's.
class Route {
 public:
  using Time = Channel::Time;

  virtual ~Route() = default;

  // Of its checks at least one IsAsked().
  virtual void Check(store::CheckCall& call, Time now) = 0;
  // Any other request, which lies in one place.
  virtual void Send(const Request& request, Time now) = 0;
  // Takes many questions, and looks through all keys.
  virtual void ListBans(store::BansCall& call, Time now) = 0;
  // After verbs were called: what they wrote leaves at the end of this turn.
  virtual void Kick() = 0;

  // Before the loop runs: see Channel::Join().
  virtual void Join(const std::string& member, std::atomic<int>& nodes) = 0;
  [[nodiscard]] virtual bool RunsHere() const = 0;

  // For tests: of the server, or of the first of a cluster.
  [[nodiscard]] virtual Channel& ChannelForTest() = 0;
  // Every server that owns something is connected.
  [[nodiscard]] virtual bool up() const = 0;
  // Nothing is under way.
  [[nodiscard]] virtual bool idle() const = 0;
};

// A way to one server: its channel, and the code that transfers the channel's bytes.
class Peer {
 public:
  virtual ~Peer() = default;
  virtual Channel& channel() = 0;
  // After verbs were called: what they wrote leaves soon.
  virtual void Kick() = 0;
};

// What a route over several servers needs of the world around it, so that tests and simulations can
// be that world. One thread.
class Environment {
 public:
  class Sleeper {
   public:
    virtual ~Sleeper() = default;
    virtual void OnWake(Channel::Time now) = 0;
  };

  virtual ~Environment() = default;
  // Dials soon. `on_lost` is called whenever a connection ended or there was none to be had.
  virtual std::unique_ptr<Peer> To(const net::DialTarget& target,
                                   std::function<void()> on_lost) = 0;
  [[nodiscard]] virtual Channel::Time Now() const = 0;
  // Wakes at `when`, not before, and not at what was asked for last. The sleeper lives on.
  virtual void WakeAt(Channel::Time when, Sleeper& sleeper) = 0;
  // What no other node draws, nor this one again.
  virtual std::uint64_t DrawId() = 0;
  // Whether the calling thread is the one of it all.
  [[nodiscard]] virtual bool RunsHere() const = 0;
};

}  // namespace sluice::redis
