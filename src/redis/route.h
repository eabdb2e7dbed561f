#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "core/key.h"
#include "redis/channel.h"
#include "redis/counter_call.h"
#include "redis/secret_call.h"
#include "store/answer_records.h"
#include "store/key_store.h"

namespace sluice::redis {

// One loop's way to whoever keeps the keys: a server, or a cluster of them. The verbs are those of
// a store; a check has at least one that IsAsked(). One thread, the loop's.
class Route {
 public:
  using Time = Channel::Time;

  virtual ~Route() = default;

  virtual void Check(store::CheckCall& call, Time now) = 0;
  // Any verb about one key: `key` is the call's own.
  virtual void Send(Channel::Kind kind, store::StoreCall& call, core::KeyView& key, Time now) = 0;
  // Takes many questions, and looks through all keys.
  virtual void ListBans(store::BansCall& call, Time now) = 0;
  virtual void Count(CounterCall& call, Time now) = 0;
  virtual void Record(store::RecordCall& call, Time now) = 0;
  virtual void Secret(SecretCall& call, Time now) = 0;
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

}  // namespace sluice::redis
