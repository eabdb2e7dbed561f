#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <boost/system/error_code.hpp>

#include "sluice/time.h"

#include "net/timer_wheel.h"
#include "net/transport.h"

namespace sluice::net {
class EventLoop;
}  // namespace sluice::net

namespace sluice::service {
class LimiterService;
}  // namespace sluice::service

namespace sluice::frontend {

class ConnectionSet;

struct ConversationSettings {
  Duration write_timeout;  // How long a client may take to read what is written.
  Duration linger;         // After our last bytes, how long we wait for the client to close.
  // A client that does not know yet that we stop may send requests for this long.
  Duration drain_grace;
  bool exact_now = false;  // now() is read, at eight times the cost of the kernel's last tick.
};

// The behaviour that all connections to front ends share, over any protocol: when a connection
// reads, writes, waits and ends. It goes in turns:
//
//   something comes (bytes, the end of a write, late answers, a timer, a drain)
//     -> Proceed(): all that can be answered goes to output()
//     -> one write, if none is under way; the end, if nothing is left to be said; one read; a timer
//
// A client that has ended its side may still read its answers. If our side ends first, it says so
// and drops further bytes until the client ends too. If it closed with unread bytes, the connection
// would be reset, and the reset may overtake the last answer (RFC 9112, section 9.6).
//
// A derived class implements the protocol in the private functions; they are called per turn, not
// per request. Owned by its front end's set and, until they end, by its reads, writes and posts.
// One thread.
class Conversation : public net::TransportUser, public std::enable_shared_from_this<Conversation> {
 public:
  Conversation(const Conversation&) = delete;
  Conversation& operator=(const Conversation&) = delete;

  void Start();
  // Answers all requests, and those that arrive within the grace period, then closes.
  void Drain();
  // Closes at once. Exchanges that a store still has return to their pools by themselves.
  void Close();

  void OnRead(const boost::system::error_code& error, std::size_t size) noexcept final;
  void OnWritten(const boost::system::error_code& error) noexcept final;

 protected:
  enum class Next : std::uint8_t {
    kGoOn,
    kEnd,    // Our side has ended; only the client's end is awaited.
    kClose,  // Neither side has anything to send.
  };

  // `loop` and `set` outlive it.
  Conversation(net::EventLoop& loop, ConnectionSet& set, std::unique_ptr<net::Transport> transport,
               const ConversationSettings& settings);

  // Begins a turn that none of the events above began. Settle() ends it.
  void BeginTurn();
  // Does all that needs no waiting; then waits for what is missing. May close.
  void Settle();
  // An answer has arrived. Within a turn it is processed by itself. Late answers share one turn,
  // and so one write, with other events that come before the loop gets to it.
  void SettleSoon();
  // Ends this conversation but not the connection, which another conversation takes over.
  [[nodiscard]] std::unique_ptr<net::Transport> HandOn();

  [[nodiscard]] const net::Transport& transport() const { return *transport_; }
  // The start of this turn.
  [[nodiscard]] net::SteadyTime now() const { return now_; }
  // Answers that are not yet being written.
  [[nodiscard]] std::string& output() { return output_; }
  [[nodiscard]] const std::string& output() const { return output_; }
  [[nodiscard]] bool all_written() const { return output_.empty() && writing_.empty(); }
  [[nodiscard]] bool reading() const { return reading_; }
  // The client has ended its side.
  [[nodiscard]] bool input_ended() const { return input_ended_; }
  [[nodiscard]] bool draining() const { return grace_end_ != net::SteadyTime::max(); }
  // max() if it does not drain.
  [[nodiscard]] net::SteadyTime grace_end() const { return grace_end_; }

 private:
  virtual void OnStart() {}
  // Settle() follows.
  virtual void OnDrain(bool /*first*/) {}
  // This many bytes arrived where Room() said.
  virtual void OnBytes(std::size_t size) = 0;
  virtual void Proceed() = 0;
  // Whether to end, once everything is written.
  [[nodiscard]] virtual Next WhatNext() const = 0;
  [[nodiscard]] virtual bool MayRead() const = 0;
  // Stays put until OnBytes(), or the end.
  [[nodiscard]] virtual std::span<char> Room() = 0;
  // The next deadline, besides the one for the client's reading.
  [[nodiscard]] virtual net::SteadyTime Deadline() = 0;
  // The deadline has passed. False: the connection ends.
  [[nodiscard]] virtual bool OnDeadline() = 0;
  // Gives up all requests in flight.
  virtual void OnClose() = 0;

  [[nodiscard]] net::SteadyTime DeadlineOfAll();
  void Watch();
  void OnTimer();

  net::EventLoop& loop_;
  ConnectionSet& set_;
  std::unique_ptr<net::Transport> transport_;
  const ConversationSettings settings_;
  std::string output_;
  std::string writing_;  // Stays put until OnWritten().

  net::Timer timer_;
  net::SteadyTime timer_at_ = net::SteadyTime::max();
  net::SteadyTime now_;
  net::SteadyTime writing_since_;
  net::SteadyTime ending_since_;
  net::SteadyTime grace_end_ = net::SteadyTime::max();

  bool input_ended_ = false;
  bool ending_ = false;  // Our side has ended; only the client's end is awaited.
  bool closed_ = false;
  bool reading_ = false;
  bool in_turn_ = false;
  bool settle_posted_ = false;
};

// A front end's connections, each from its start to its end. One thread.
class ConnectionSet {
 public:
  // Starts it, and drains it if the front end is draining already.
  void Add(const std::shared_ptr<Conversation>& connection) {
    connections_.emplace(connection.get(), connection);
    connection->Start();
    if (draining_ && connections_.contains(connection.get())) {
      connection->Drain();
    }
  }
  void Forget(Conversation& connection) { connections_.erase(&connection); }

  // `use` may end this connection or others.
  template <class Use>
  void ForEach(Use use) {
    std::vector<std::shared_ptr<Conversation>> all;
    all.reserve(connections_.size());
    for (const auto& [key, connection] : connections_) {
      all.push_back(connection);
    }
    for (const auto& connection : all) {
      use(*connection);
    }
  }
  void Drain() {
    draining_ = true;
    ForEach([](Conversation& connection) { connection.Drain(); });
  }
  void CloseAll() {
    while (!connections_.empty()) {
      connections_.begin()->second->Close();
    }
  }

  [[nodiscard]] bool draining() const { return draining_; }
  [[nodiscard]] std::size_t size() const { return connections_.size(); }

 private:
  std::unordered_map<Conversation*, std::shared_ptr<Conversation>> connections_;
  bool draining_ = false;
};

// One listener's side of one loop, for any protocol: its connections and what they share. Lives on
// its loop's thread; made before the loop runs and destroyed after it stopped and every store has
// answered. A derived class calls CloseAll() in its destructor, while what its connections use is
// there.
class FrontEndBase {
 public:
  FrontEndBase(const FrontEndBase&) = delete;
  FrontEndBase& operator=(const FrontEndBase&) = delete;

  // Every connection answers its requests, and those that arrive within the grace period, and then
  // closes.
  void Drain() { connections_.Drain(); }
  // Closes all at once.
  void CloseAll() { connections_.CloseAll(); }

  [[nodiscard]] std::size_t connections() const { return connections_.size(); }

 protected:
  FrontEndBase(net::EventLoop& loop, service::LimiterService& service)
      : loop_(loop), service_(service) {}
  ~FrontEndBase() = default;

  net::EventLoop& loop_;
  service::LimiterService& service_;
  ConnectionSet connections_;
};

}  // namespace sluice::frontend
