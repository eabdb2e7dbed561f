#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "breaker.h"
#include "decision.h"

namespace sluice_client {

// Keeps your own HTTP calls within the limits that servers show, with any HTTP library: a request
// whose quota is used up waits for the reset *before* it is sent, and after a 429 as long as the
// server says. Each resource waits by itself; resources share a bucket once the server names it
// (X-RateLimit-Resource, X-RateLimit-Bucket). Safe from any thread.
class Throttle {
 public:
  explicit Throttle(Policy policy = {}, Clock& clock = Clock::System())
      : policy_(policy), clock_(clock) {}

  struct Request {
    std::string host;      // A limit for all buckets of a server holds its host.
    std::string resource;  // What has a quota of its own, such as host and path.
    std::string method = "GET";
    bool idempotency_key = false;  // It carries one.
    std::optional<Milliseconds>
        deadline{};  // For it with all its waits, from now; nothing: for ever.
  };

  // Calls `send`, which returns the Answer to one attempt, until no limit refuses the request or
  // the policy gives up: the last Answer. Throws Throttled without sending if the wait is too long,
  // and what `send` throws.
  template <class Send>
  Answer Run(const Request& request, Send&& send) {
    const Deadline from = clock_.Now();
    const auto left = [&]() -> std::optional<Milliseconds> {
      if (!request.deadline) {
        return std::nullopt;
      }
      return *request.deadline - std::chrono::ceil<Milliseconds>(clock_.Now() - from);
    };
    Caller caller;
    caller.method = request.method;
    caller.idempotency_key = request.idempotency_key;
    for (;; ++caller.attempt) {
      Await(request, left);
      Answer answer;
      try {
        answer = send();
      } catch (...) {
        Leave(request, nullptr);
        throw;
      }
      caller.now_ms = clock_.WallMs();
      caller.left = left();
      const Advice advice = Advise(answer, caller, policy_);
      Leave(request, &advice);
      if (advice.action != Advice::Action::kWait) {
        return answer;
      }
      clock_.Sleep(advice.Wait(clock_.Random()));
    }
  }

  // How long requests to this resource are held now, and why; nothing if they are not.
  [[nodiscard]] std::optional<std::pair<Milliseconds, std::string>> Holding(
      const std::string& host, const std::string& resource) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const Wait wait = WaitOf(host, resource);
    return wait.time.count() == 0 ? std::nullopt
                                  : std::make_optional(std::pair(wait.time, wait.advice.Explain()));
  }

 private:
  static constexpr std::size_t kMostBuckets = 4096;  // The least recently used are forgotten.

  // What is known of one quota of a server.
  struct Bucket {
    std::string name;
    Deadline until{};                  // Nothing is sent before.
    Advice advice;                     // Why.
    std::optional<std::int64_t> left;  // Units of the last answer, less what was sent since.
    Deadline reset{};
    int in_flight = 0;
  };
  struct Wait {
    Milliseconds time{};
    Advice advice;
  };

  // Waits until the request may be sent, and counts it as under way.
  template <class Left>
  void Await(const Request& request, const Left& left) {
    while (true) {
      Wait wait;
      {
        const std::lock_guard<std::mutex> lock(mutex_);
        wait = WaitOf(request.host, request.resource);
        if (wait.time.count() == 0) {
          Bucket& bucket = BucketOf(NameOf(request.resource));
          ++bucket.in_flight;
          bucket.left = bucket.left ? std::optional<std::int64_t>(*bucket.left - 1) : std::nullopt;
          return;
        }
      }
      const std::optional<Milliseconds> rest = left();
      if (wait.time > policy_.cap) {
        throw Throttled(request.resource, wait.time, wait.advice, "cap");
      }
      if (rest && wait.time >= *rest) {
        throw Throttled(request.resource, wait.time, wait.advice, "deadline");
      }
      const double extended =
          static_cast<double>(wait.time.count()) * (1 + policy_.jitter * clock_.Random());
      const Milliseconds time(static_cast<std::int64_t>(extended));
      clock_.Sleep(rest ? std::min(time, *rest) : time);
    }
  }

  // Requires the lock.
  Wait WaitOf(const std::string& host, const std::string& resource) {
    const Deadline now = clock_.Now();
    const auto until = [&](Deadline at) { return std::chrono::ceil<Milliseconds>(at - now); };
    Bucket& bucket = BucketOf(NameOf(resource));
    if (const auto whole = by_name_.find(host);
        whole != by_name_.end() && whole->second->until > now) {
      return {until(whole->second->until), whole->second->advice};
    }
    if (bucket.until > now) {
      return {until(bucket.until), bucket.advice};
    }
    if (bucket.left && now >= bucket.reset) {
      bucket.left.reset();  // A new window: the next answer says how much it holds.
    }
    if (bucket.left && *bucket.left <= policy_.headroom) {
      // While requests are under way, their answers say more, and come before the reset.
      const Milliseconds reset = until(bucket.reset);
      return {bucket.in_flight == 0 ? reset : std::min(reset, Milliseconds(50)), bucket.advice};
    }
    return {};
  }

  void Leave(const Request& request, const Advice* advice) {
    const std::lock_guard<std::mutex> lock(mutex_);
    Bucket* bucket = &BucketOf(NameOf(request.resource));
    bucket->in_flight = std::max(0, bucket->in_flight - 1);
    if (advice == nullptr) {
      return;
    }
    const Deadline now = clock_.Now();
    if (!advice->bucket.empty()) {
      if (named_.size() >= kMostBuckets && named_.count(request.resource) == 0) {
        named_.clear();  // The next answers name their buckets again.
      }
      bucket = &BucketOf(named_[request.resource] = request.host + " " + advice->bucket);
    }
    if (advice->hold.count() > 0) {
      Bucket& held = advice->everywhere ? BucketOf(request.host) : *bucket;
      if (now + advice->hold > held.until) {
        held.until = now + advice->hold;
        held.advice = *advice;
      }
    }
    if (advice->left) {
      bucket->left = advice->left->units - bucket->in_flight;
      bucket->reset = now + advice->left->reset;
      bucket->advice = *advice;
    }
  }

  [[nodiscard]] const std::string& NameOf(const std::string& resource) const {
    const auto named = named_.find(resource);
    return named == named_.end() ? resource : named->second;
  }
  // Makes it the most recently used one.
  Bucket& BucketOf(const std::string& name) {
    if (const auto found = by_name_.find(name); found != by_name_.end()) {
      buckets_.splice(buckets_.begin(), buckets_, found->second);
      return buckets_.front();
    }
    if (buckets_.size() >= kMostBuckets && buckets_.back().in_flight == 0) {
      by_name_.erase(buckets_.back().name);
      buckets_.pop_back();
    }
    buckets_.emplace_front().name = name;
    by_name_[name] = buckets_.begin();
    return buckets_.front();
  }

  const Policy policy_;
  Clock& clock_;
  std::mutex mutex_;  // Guards all below.
  std::list<Bucket> buckets_;
  std::unordered_map<std::string, std::list<Bucket>::iterator> by_name_;
  std::unordered_map<std::string, std::string>
      named_;  // Resource to bucket, as the server named it.
};

}  // namespace sluice_client
