#pragma once

// Asks a Sluice daemon.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "answers.h"
#include "connection.h"

namespace sluice_client {

class Client;

// An estimate that is charged. Settle it with the actual cost; otherwise the estimate stays
// charged. Its client outlives it.
class Reservation {
 public:
  Reservation(Client& client, Decision made) : decision(std::move(made)), client_(&client) {}

  // Once; later calls do nothing. A daemon that does not answer leaves the estimate charged.
  // `costs`: attributes that rules use as their cost.
  std::vector<Settled> Settle(std::int64_t cost,
                              const std::vector<std::pair<std::string, std::int64_t>>& costs = {});

  Decision decision;

 private:
  Client* client_;
  bool settled_ = false;
};

// Slots of concurrency rules. A thread renews them, and they are released at the end of the scope.
// Its client outlives it.
class HeldSlots {
 public:
  HeldSlots(Client& client, Decision made, Milliseconds renew_every);
  HeldSlots(HeldSlots&&) noexcept = default;
  HeldSlots& operator=(HeldSlots&&) = delete;
  ~HeldSlots() { Release(); }

  // Frees them now. If the daemon does not answer, they are freed by the rule's `hold_ttl`.
  void Release() noexcept;
  // They expired or were reset: others may have them now. Safe from any thread.
  [[nodiscard]] bool IsLost() const { return state_ != nullptr && state_->lost.load(); }
  [[nodiscard]] int renewals() const { return state_ == nullptr ? 0 : state_->renewals.load(); }

  Decision decision;

 private:
  struct State {
    std::mutex mutex;
    std::condition_variable ended;
    bool done = false;
    std::atomic<bool> lost{false};
    std::atomic<int> renewals{0};
    std::thread thread;
  };

  Client* client_;
  std::unique_ptr<State> state_;
};

// Asks a Sluice daemon over HTTP. Safe from any thread: make one for a process, and share it.
class Client {
 public:
  // Throws std::invalid_argument for options that are out of range.
  explicit Client(ClientOptions options = {})
      : options_(std::move(options)),
        server_(detail::Server::Of(options_.url)),
        breaker_(options_.breaker_failures, options_.breaker_retry_every, *options_.clock) {
    if (options_.timeout.count() <= 0 || options_.retries < 0) {
      throw std::invalid_argument("timeout is above 0 and retries are not negative");
    }
    for (const char c : options_.token) {
      if (c < ' ' || c > '~') {
        throw std::invalid_argument("token: it has a character that HTTP does not allow");
      }
    }
  }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // Whether a request with these attributes may pass now, and if so charges its cost. Does not
  // wait. Ends within the timeout; if Sluice does not answer, the fail mode decides. Throws
  // CallError if the call is wrong.
  Decision Check(const Attributes& attributes, const CheckOptions& options = {}) {
    std::string key = options.idempotency_key;
    if (key.empty() && options_.retries > 0 && !options.peek) {
      key = detail::NewKey();
    }
    try {
      return detail::DecisionOf(
          Post("check", detail::CheckBody(attributes, options), key, options_.retries));
    } catch (const Unavailable& error) {
      return WithoutSluice(error.what());
    }
  }

  // Up to 1,000 checks in one call, each judged on its own; the decisions are in the same order. A
  // batch carries no idempotency key, so it is not sent again once it is on its way. Throws
  // CallError if one of the checks is wrong; the others were charged.
  std::vector<Decision> CheckMany(const std::vector<BatchedCheck>& checks) {
    if (checks.empty()) {
      return {};
    }
    std::string body = "[";
    for (const BatchedCheck& each : checks) {
      body += body.size() > 1 ? "," : "";
      CheckOptions options;
      options.cost = each.cost;
      options.peek = each.peek;
      body += detail::CheckBody(each.attributes, options);
    }
    try {
      const detail::Json answers = detail::JsonOf(Post("batch", body + "]", "", 0));
      if (answers.items.size() != checks.size()) {
        throw Unavailable("the answer to a batch has another length than the batch");
      }
      std::vector<Decision> decisions;
      for (const detail::Json& answer : answers.items) {
        decisions.push_back(detail::DecisionOf(
            static_cast<int>(answer.Integer("status").value_or(400)), answer, {}));
      }
      return decisions;
    } catch (const Unavailable& error) {
      return std::vector<Decision>(checks.size(), WithoutSluice(error.what()));
    }
  }

  // Waits until a request may pass, as long as the daemon says and the policy allows. Throws Denied
  // at once if the wait would be longer than `deadline` from now.
  Decision Acquire(const Attributes& attributes, const CheckOptions& options = {},
                   std::optional<Milliseconds> deadline = {}) {
    const Deadline from = options_.clock->Now();
    Caller caller;
    caller.method = "POST";
    caller.idempotency_key = true;
    for (;; ++caller.attempt) {
      const Decision decision = Check(attributes, options);
      if (decision.allowed) {
        return decision;
      }
      caller.now_ms = options_.clock->WallMs();
      if (deadline) {
        caller.left = *deadline - std::chrono::ceil<Milliseconds>(options_.clock->Now() - from);
      }
      Answer answer;
      answer.status = decision.status;
      answer.body = detail::AnswerBody(decision);
      answer.fields = decision.headers;
      const Advice advice = Advise(answer, caller, options_.policy);
      if (advice.action != Advice::Action::kWait) {
        throw Denied(decision);
      }
      options_.clock->Sleep(advice.Wait(options_.clock->Random()));
    }
  }

  // Charges an estimate, which Settle() replaces by the actual cost. Throws Denied if it may not
  // pass.
  [[nodiscard]] Reservation Reserve(const Attributes& attributes, std::int64_t cost) {
    CheckOptions options;
    options.cost = cost;
    options.reserve = true;
    Decision decision = Check(attributes, options);
    if (!decision.allowed) {
      throw Denied(std::move(decision));
    }
    return Reservation(*this, std::move(decision));
  }

  // Takes slots of concurrency rules until the end of the scope. Throws Denied if none is free.
  // `renew_every`: nothing for a third of the time that the slots have.
  [[nodiscard]] HeldSlots Hold(const Attributes& attributes, const CheckOptions& options = {},
                               std::optional<Milliseconds> renew_every = {}) {
    Decision decision = Check(attributes, options);
    if (!decision.allowed) {
      throw Denied(std::move(decision));
    }
    const Milliseconds every = renew_every.value_or(RenewalInterval(decision));
    return HeldSlots(*this, std::move(decision), every);
  }

  // What a check would answer now. Charges nothing. Throws Unavailable.
  Decision Status(const Attributes& attributes, std::int64_t cost = 1) {
    CheckOptions options;
    options.cost = cost;
    options.peek = true;
    return detail::DecisionOf(
        Post("check", detail::CheckBody(attributes, options), "", options_.retries));
  }

  // Charges the actual cost of a reservation. Only the first settlement counts, so it is safe to
  // repeat. Throws Unavailable.
  std::vector<Settled> Settle(std::string_view reservation, std::optional<std::int64_t> cost,
                              const std::vector<std::pair<std::string, std::int64_t>>& costs = {}) {
    std::string body = "{\"reservation\":";
    detail::AppendJsonText(reservation, body);
    if (cost) {
      body += ",\"cost\":" + std::to_string(*cost);
    }
    for (const auto& [name, units] : costs) {
      body += ',';
      detail::AppendJsonText(name, body);
      body += ':' + std::to_string(units);
    }
    std::vector<Settled> settled;
    const detail::Json answer = detail::JsonOf(Post("settle", body + "}", "", options_.retries));
    if (const detail::Json* const list = answer.Find("settled")) {
      for (const detail::Json& item : list->items) {
        settled.push_back({item.Text("name"), item.Integer("charged").value_or(0),
                           item.Integer("cost").value_or(0)});
      }
    }
    return settled;
  }

  // Gives a charge back: units by rule. Works once, so it is safe to repeat. Throws Unavailable.
  std::vector<std::pair<std::string, std::int64_t>> Refund(std::string_view receipt) {
    std::string body = "{\"receipt\":";
    detail::AppendJsonText(receipt, body);
    std::vector<std::pair<std::string, std::int64_t>> refunded;
    const detail::Json answer = detail::JsonOf(Post("refund", body + "}", "", options_.retries));
    if (const detail::Json* const list = answer.Find("refunded")) {
      for (const detail::Json& item : list->items) {
        refunded.emplace_back(item.Text("name"), item.Integer("units").value_or(0));
      }
    }
    return refunded;
  }

  // Frees slots: the number that were still held. Safe to repeat. Throws Unavailable.
  std::int64_t Release(const std::vector<HoldToken>& holds) {
    return PostHolds("release", "released", holds);
  }
  // Extends slots to the rule's `hold_ttl` from now. Throws CallError, "no_such_hold", if one is
  // gone.
  std::int64_t Renew(const std::vector<HoldToken>& holds) {
    return PostHolds("renew", "renewed", holds);
  }

  [[nodiscard]] bool BreakerIsOpen() const { return breaker_.IsOpen(); }

 private:
  detail::Response Post(std::string_view verb, std::string_view body, std::string_view key,
                        int retries) {
    std::string request = "POST " + server_.path + "/v1/ratelimit/";
    request.append(verb).append(" HTTP/1.1\r\nHost: ").append(server_.authority).append("\r\n");
    if (!options_.token.empty()) {
      request.append("Authorization: Bearer ").append(options_.token).append("\r\n");
    }
    if (!key.empty()) {
      for (const char c : key) {
        if (c < ' ' || c > '~') {
          throw std::invalid_argument(
              "idempotency_key: it has a character that HTTP does not allow");
        }
      }
      request.append("Idempotency-Key: ").append(key).append("\r\n");
    }
    request.append("Content-Type: application/json\r\nContent-Length: ")
        .append(std::to_string(body.size()))
        .append("\r\n\r\n")
        .append(body);
    return Send(request, retries);
  }

  // Throws Unavailable when the breaker is open or the time is over.
  detail::Response Send(std::string_view request, int retries) {
    if (!breaker_.Allows()) {
      throw Unavailable("Sluice did not answer lately");
    }
    const Deadline end = std::chrono::steady_clock::now() + options_.timeout;
    for (int left = retries;; --left) {
      try {
        // Each attempt has its part of the time, so that a lost packet leaves time for another.
        const Deadline now = std::chrono::steady_clock::now();
        const Deadline until = now + (end - now) / (left + 1);
        std::unique_ptr<detail::Connection> connection = TakeConnection(until);
        detail::Response response = connection->Exchange(request, until);
        if (response.reusable) {
          const std::lock_guard<std::mutex> lock(mutex_);
          if (idle_.size() < options_.max_idle) {
            idle_.push_back(std::move(connection));
          }
        }
        if (detail::IsNotOurs(response.answer.status) &&
            response.answer.body.find("\"allowed\"") == std::string::npos) {
          breaker_.Failed();
        } else {
          breaker_.Succeeded();
        }
        return response;
      } catch (const Unavailable&) {
        if (left == 0 || std::chrono::steady_clock::now() >= end) {
          breaker_.Failed();
          throw;
        }
      }
    }
  }

  std::unique_ptr<detail::Connection> TakeConnection(Deadline deadline) {
    while (true) {
      std::unique_ptr<detail::Connection> connection;
      {
        const std::lock_guard<std::mutex> lock(mutex_);
        if (idle_.empty()) {
          break;
        }
        connection = std::move(idle_.back());
        idle_.pop_back();
      }
      if (connection->IsUsable()) {
        return connection;
      }
    }
    return std::make_unique<detail::Connection>(server_, deadline);
  }

  // The decision of the fail mode.
  [[nodiscard]] Decision WithoutSluice(const std::string& why) const {
    Decision decision;
    decision.allowed = options_.fail_open;
    decision.degraded = true;
    decision.unavailable = why;
    if (!decision.allowed) {
      decision.status = 503;
      decision.reason = "sluice_unavailable";
      decision.retry_after = std::max(breaker_.RetryIn(), Milliseconds(1000));
      decision.headers.emplace_back("Retry-After",
                                    std::to_string((decision.retry_after->count() + 999) / 1000));
    }
    return decision;
  }

  std::int64_t PostHolds(std::string_view verb, std::string_view member,
                         const std::vector<HoldToken>& holds) {
    std::string body = "{\"holds\":[";
    for (const HoldToken& hold : holds) {
      body += body.back() == '[' ? "{\"name\":" : ",{\"name\":";
      detail::AppendJsonText(hold.name, body);
      body += ",\"id\":";
      detail::AppendJsonText(hold.id, body);
      body += '}';
    }
    return detail::JsonOf(Post(verb, body + "]}", "", options_.retries))
        .Integer(member)
        .value_or(0);
  }

  // A third of the time that the slots have left. The answer says when all slots of the key are
  // free again, in whole seconds, and a slot just granted is the last to expire.
  [[nodiscard]] Milliseconds RenewalInterval(const Decision& decision) const {
    std::optional<std::int64_t> first;
    for (const Limit& limit : decision.limits) {
      for (const HoldToken& hold : decision.holds) {
        if (hold.name == limit.name && limit.reset_at) {
          first = std::min(first.value_or(kMostMs), *limit.reset_at);
        }
      }
    }
    const std::int64_t left_ms = first ? (*first - 1) * 1000 - options_.clock->WallMs() : 30'000;
    return Milliseconds(std::max<std::int64_t>(100, left_ms / 3));
  }

  const ClientOptions options_;
  const detail::Server server_;
  Breaker breaker_;
  std::mutex mutex_;  // Guards idle_.
  std::vector<std::unique_ptr<detail::Connection>> idle_;
};

inline std::vector<Settled> Reservation::Settle(
    std::int64_t cost, const std::vector<std::pair<std::string, std::int64_t>>& costs) {
  if (settled_ || decision.reservation.empty()) {
    return {};
  }
  settled_ = true;
  try {
    return client_->Settle(decision.reservation, cost, costs);
  } catch (const Unavailable&) {
    return {};
  }
}

inline HeldSlots::HeldSlots(Client& client, Decision made, Milliseconds renew_every)
    : decision(std::move(made)), client_(&client) {
  if (decision.holds.empty()) {
    return;
  }
  state_ = std::make_unique<State>();
  state_->thread =
      std::thread([&client, renew_every, state = state_.get(), holds = decision.holds] {
        std::unique_lock<std::mutex> lock(state->mutex);
        while (!state->ended.wait_for(lock, renew_every, [state] { return state->done; })) {
          lock.unlock();
          try {
            client.Renew(holds);
            ++state->renewals;
          } catch (const CallError&) {
            state->lost = true;
            return;
          } catch (const Unavailable&) {  // Until the slots expire, the next time may do.
          }
          lock.lock();
        }
      });
}

inline void HeldSlots::Release() noexcept {
  if (state_ == nullptr || !state_->thread.joinable()) {
    return;
  }
  {
    const std::lock_guard<std::mutex> lock(state_->mutex);
    state_->done = true;
  }
  state_->ended.notify_one();
  state_->thread.join();
  try {
    client_->Release(decision.holds);
  } catch (const std::exception&) {  // They expire.
  }
}

}  // namespace sluice_client
