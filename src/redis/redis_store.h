#pragma once

#include <atomic>
#include <memory>
#include <optional>

#include "redis/counting_call.h"
#include "redis/link.h"
#include "redis/redis_metrics.h"
#include "redis/route.h"
#include "redis/shared_secret.h"
#include "store/answer_records.h"
#include "store/key_store.h"
#include "store/loop_places.h"

namespace sluice::net {
class EventLoop;
}  // namespace sluice::net

namespace sluice::redis {

// Keys and their state in a Redis, shared by every node that asks it. What core/attempt_window.h
// judges are counters that envoyproxy/ratelimit knows (counting_call.h). Any other call is one
// script on the server, so that its checks are charged together or not at all; time is the
// server's. In a cluster the same holds of keys in one slot; for those in several see
// spanning_call.h.
//
// Verbs are called on a loop's thread and answered on it, later. Each loop has its own route,
// created by Attach(). A call whose deadline passes is answered kUnavailable, and one that cannot
// be sent kDidNotRun, at once.
class RedisStore final : public store::KeyStore, public store::AnswerRecords {
 public:
  // `clock` is asked for the node's idea of the time, which decides nothing but which calendar
  // periods are sent along; with channel.by_given_clock it decides all. What operators should
  // know goes to `on_event`, on any loop's thread.
  // `seconds`: another Redis, for counters of one-second windows.
  RedisStore(RedisSettings settings, const base::Clock& clock, Channel::OnEvent on_event,
             std::optional<RedisSettings> seconds = std::nullopt);
  ~RedisStore() override;

  // A loop's way to Redis, until it is destroyed, which answers what is under way. Made before the
  // loop runs or on its thread, destroyed on its thread or after it ended, before loop and store.
  class Attachment {
   public:
    Attachment(RedisStore& store, net::EventLoop& loop);
    ~Attachment();
    Attachment(const Attachment&) = delete;
    Attachment& operator=(const Attachment&) = delete;

    [[nodiscard]] Route& route() { return *route_; }

   private:
    friend class RedisStore;

    RedisStore& store_;
    std::size_t place_ = 0;
    // Both outlive the routes, which answer their calls.
    std::unique_ptr<CountingCalls> counting_;
    std::unique_ptr<SharedSecret> secret_;  // Of the first loop.
    std::unique_ptr<Route> route_;
    std::unique_ptr<Route> seconds_;  // nullptr: there is no other Redis.
  };
  [[nodiscard]] std::unique_ptr<Attachment> Attach(net::EventLoop& loop) {
    return std::make_unique<Attachment>(*this, loop);
  }

  [[nodiscard]] const RedisMetrics& metrics() const { return metrics_; }

  // How many nodes share this Redis, this one among them: as of the last count.
  [[nodiscard]] const std::atomic<int>& nodes() const { return nodes_; }

  void CheckMany(std::span<store::CheckCall* const> batch) override;
  void Refund(store::RefundCall& call) override;
  void Reset(store::ResetCall& call) override;
  void Release(store::HoldCall& call) override;
  void Renew(store::HoldCall& call) override;
  // Any receipt of the shared store is taken for one that it gave: the caller makes sure of that.
  void Settle(store::SettleCall& call) override;
  void Ban(store::BanCall& call) override;
  void Unban(store::BanCall& call) override;
  // Looks through all keys of the server, or of all servers of a cluster.
  void ListBans(store::BansCall& call) override;

  // AnswerRecords
  void Claim(store::RecordCall& call) override;
  void Keep(store::RecordCall& call) override;
  void Drop(store::RecordCall& call) override;

 private:
  // Of the calling thread; nullptr on a thread whose loop is not attached.
  [[nodiscard]] Attachment* Own() const;
  // False if the call was answered: nothing to ask.
  [[nodiscard]] static bool Prepare(store::CheckCall& call, const base::Clock& clock);
  // Calls `send` with this thread's attachment and the time; without one the call did not run.
  template <class Send>
  void Ask(store::StoreCall& call, Send send);
  template <class Verb>
  void Ask(typename Verb::Call& call);

  const RedisSettings settings_;
  std::optional<RedisSettings> seconds_settings_;
  const base::Clock& clock_;
  const Channel::OnEvent on_event_;
  RedisMetrics metrics_;
  std::atomic<int> nodes_{1};
  // By the first loop, for all.
  std::atomic<bool> joined_{false};
  std::atomic<bool> asks_for_secret_{false};
  store::LoopPlaces<Attachment> attached_;
};

}  // namespace sluice::redis
