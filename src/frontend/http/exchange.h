#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "frontend/exchanges.h"
#include "frontend/http/front_end_settings.h"
#include "frontend/http/response.h"
#include "frontend/redemption.h"
#include "net/timer_wheel.h"
#include "service/operation.h"
#include "wire/check_json.h"
#include "wire/form_query.h"
#include "wire/http_request.h"

namespace sluice::net {
class EventLoop;
}

namespace sluice::frontend::http {

inline constexpr std::string_view kRequestIdField = "X-Request-Id";

class Exchange;
class ExchangePool;

// One client's connection to a front end, as its exchanges see it over HTTP/1.1 and HTTP/2. One
// thread.
class Client {
 public:
  virtual ~Client() = default;

  // The peer: Transport::peer_address().
  [[nodiscard]] virtual std::string_view peer_address() const = 0;

  // One of this connection's exchanges became ready.
  virtual void OnExchangeReady(Exchange& exchange) = 0;
};

// A step that a request waits for and that is not one operation of the service: several operations,
// a change of the rules, Envoy's service. Made for one exchange, which owns it from Exchange::Run()
// until its next request. One thread.
class Task {
 public:
  Task() = default;
  Task(const Task&) = delete;
  Task& operator=(const Task&) = delete;
  virtual ~Task() = default;

  // Answers the exchange in the end and calls its OnTaskDone(): once, during this or later, and
  // then touches neither.
  virtual void Start() = 0;
};

// How a proxy's auth request is answered.
struct ProxyAnswer {
  int deny_status = 429;  // For every refusal: NGINX takes 403 only.
  bool grpc = false;      // The request is gRPC's, so a refusal has gRPC's form.
  std::string origin{};   // For Access-Control-Allow-Origin of a refusal; "": none.
};

// The request, as far as its answer depends on it, and the memory for what handlers read.
struct RequestContext {
  bool keep_alive = true;
  bool head_only = false;
  int minor_version = 1;
  bool wait = false;     // A shaped answer is held back until it is due.
  bool receipt = false;  // The answer has a receipt, or a reservation of what was charged.
  bool reserve = false;
  ProxyAnswer proxy;
  // They hold the bytes that a check's attributes view.
  wire::CheckJson json;
  wire::FormQuery query;
};

// One request from the parser to the socket: the request, its operation, and the response. Pooled,
// so that a request in steady state allocates nothing. A store may hold the operation, so an
// exchange outlives its connection if the client leaves before the store has answered.
//
//   fresh -> (Answer..., or Ask then submitted, then maybe held, or Run) -> ready -> back in the
//   pool
class Exchange final : private service::Completion {
 public:
  // Makes the response from the operation's outcome.
  using Writer = void (*)(Exchange& exchange);

  explicit Exchange(ExchangePool& pool);

  // Starts a request of `client`; without one to answer a request that could not be read, or did
  // not arrive in time.
  void Begin(Client& client, const wire::HttpRequest* request);

  RequestContext context;
  service::Operation operation;
  Redemption redemption;
  Response response;

  // The answer is known.
  void AnswerProblem(const Problem& problem);
  void AnswerText(int status, std::string_view content_type, std::string_view body);
  // `response` is the answer.
  void SetReady() { state_ = State::kReady; }
  // The answer has the request's id, even if it refuses nothing and the client sent none.
  void NameAnswer() { is_named_ = true; }
  // What X-Request-Id of the answer is; "": it has none. Every answer with a status of 400 or above
  // has one, and every answer to a request that had one.
  [[nodiscard]] std::string_view IdInAnswer();
  // The connection ends after this answer.
  void CloseAfterwards() { context.keep_alive = false; }
  // The answer refuses the request itself, so it is logged with the reason.
  void Log(int status, std::string_view detail) const;

  // The operation must be submitted; then `write` makes the answer.
  void Ask(Writer write) {
    write_ = write;
    state_ = State::kAsking;
  }
  // The same, but `write` is called even if the client has gone meanwhile: others need its answer.
  void AskForOthers(Writer write) {
    Ask(write);
    for_others_ = true;
  }
  // The answer that is being written is held back for this long.
  void HoldBack(Duration wait) { hold_back_ = wait; }
  // A task is not done yet.
  void Run(std::unique_ptr<Task> task);
  [[nodiscard]] Task* task() const { return task_.get(); }
  // The last thing that a task does. The exchange is answered.
  void OnTaskDone();

  [[nodiscard]] ExchangePool& pool() { return pool_; }
  // The connection is gone: no answer can be sent.
  [[nodiscard]] bool abandoned() const { return client_ == nullptr; }
  // Of the client: Transport::peer_address().
  [[nodiscard]] std::string_view peer_address() const { return client_->peer_address(); }
  // Of a clock that does not step back.
  [[nodiscard]] Duration Now() const;

  [[nodiscard]] bool must_ask() const { return state_ == State::kAsking; }
  [[nodiscard]] bool ready() const { return state_ == State::kReady; }

  // Appends the whole response. Requires ready(). `keep_alive` false: the connection ends here.
  void Render(std::string_view date, bool keep_alive, std::string& out);

  void* owner_context = nullptr;  // The connection's own.

  // The connection is gone. Returns to the pool: now, or when the store has answered.
  void Abandon();

 private:
  enum class State : std::uint8_t { kFresh, kAsking, kTask, kHeld, kReady };

  void OnCompleted(service::Operation& operation) noexcept override;
  void BecomeReady();

  ExchangePool& pool_;
  net::Timer hold_;           // While a shaped answer waits.
  Client* client_ = nullptr;  // None: abandoned.
  State state_ = State::kFresh;
  bool task_starts_ = false;
  bool for_others_ = false;
  bool is_named_ = false;
  Writer write_ = nullptr;
  Duration hold_back_{};
  std::unique_ptr<Task> task_;
};

// The exchanges of one front end on one loop, and what they share. One thread.
class ExchangePool {
 public:
  ExchangePool(net::EventLoop& loop, const base::Clock& clock, const FrontEndSettings& settings)
      : loop_(loop), clock_(clock), settings_(settings) {}
  ExchangePool(const ExchangePool&) = delete;
  ExchangePool& operator=(const ExchangePool&) = delete;

  [[nodiscard]] net::EventLoop& loop() { return loop_; }
  [[nodiscard]] const base::Clock& clock() const { return clock_; }
  [[nodiscard]] const FrontEndSettings& settings() const { return settings_; }

  [[nodiscard]] Exchange& Take() { return exchanges_.Take(*this); }
  void Return(Exchange& exchange) noexcept { exchanges_.Return(exchange); }

  // How many connections or stores hold.
  [[nodiscard]] std::size_t in_use() const { return exchanges_.in_use(); }

 private:
  net::EventLoop& loop_;
  const base::Clock& clock_;
  const FrontEndSettings& settings_;
  Pool<Exchange> exchanges_;
};

}  // namespace sluice::frontend::http
