#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "frontend/http/operation.h"
#include "frontend/http/problem.h"
#include "idempotency/answer_memory.h"
#include "net/timer_wheel.h"
#include "service/limiter_service.h"
#include "wire/check_json.h"
#include "wire/form_query.h"
#include "wire/http1_response.h"
#include "wire/http_request.h"

namespace sluice::net {
class EventLoop;
}

namespace sluice::signing {
class Keyring;
}

namespace sluice::frontend::http {

class Client;
class ExchangePool;

// How a proxy wants its question about a request of its own answered.
struct ProxyAnswer {
  int deny_status = 429;      // For every refusal: NGINX takes 403 only.
  bool grpc = false;          // The request is gRPC's: refused in its words.
  std::string_view origin{};  // For Access-Control-Allow-Origin of a refusal; "": none.
};

// One request and its answer, from the parser to the wire. Pooled, so that a request in
// steady state allocates nothing; the call that a store holds lives in here, so an exchange
// outlives its connection where the client went away before the store answered.
//
//   fresh -> (Answer..., or Ask... then asked, then maybe held, or Send) -> ready -> back in the
//   pool
class Exchange final : public service::DecideCall {
 public:
  explicit Exchange(ExchangePool& pool);

  // Begins anew for `client`'s request.
  void Begin(Client& client, const wire::HttpRequest& request);
  // For an answer without a request: one that could not be read, or did not come in time.
  void BeginWithoutRequest(Client& client);

  // The answer is known without asking. Status 200 to 599.
  void AnswerProblem(const Problem& problem);
  void AnswerText(int status, std::string_view content_type, std::string_view body);
  // Bytes that are no response of their own: 100 Continue.
  void AnswerRaw(std::string_view bytes);
  // One more header field of the answer: 405's Allow, 401's WWW-Authenticate. Text of ours.
  void AddField(std::string_view name, std::string_view value);
  void CloseAfterwards() { keep_alive_ = false; }

  // The service has to be asked; attributes, cost and peek are set.
  void AskCheck(bool wait);
  void AskStatus();
  // An operation has to be waited for; it is kept until the next request.
  void Send(std::unique_ptr<Operation> operation);
  // The last thing that an operation does. The exchange is answered.
  void OnOperationDone();
  // The answer to a proxy: first how, then one of the three others. What is wrong goes to the log;
  // whoever reads the answer is the proxy's client, and learns no more than that.
  void AnswerAsProxyCheck(const ProxyAnswer& answer);
  // The client's request cannot be judged: refused, with X-RL-Status 400.
  void RefuseRequest(std::string_view wrong);
  // The question itself is wrong, whatever the client asked for: 500.
  void BlameProxy(std::string_view wrong);
  void AskProxyCheck();

  // What is answered to the check that is asked next is remembered under `name`, if it allows.
  void RememberIn(idempotency::AnswerMemory& memory, const std::string& name);
  // The answer of an earlier check, and a header field that says so.
  void AnswerAsBefore(const idempotency::AnswerMemory::Answer& answer);

  // The connection is gone: nobody is there to be answered.
  [[nodiscard]] bool abandoned() const { return client_ == nullptr; }
  // Of whoever is connected: Transport::peer_address().
  [[nodiscard]] std::string_view peer_address() const;
  [[nodiscard]] net::EventLoop& loop() const;
  // By which tokens are sealed; nullptr: none are given out or taken.
  [[nodiscard]] const signing::Keyring* keys() const;
  // Of a clock that does not step back.
  [[nodiscard]] Duration Now() const;

  // Whether the answer gives a receipt, a reservation of what was charged; want_receipts is set.
  bool receipt = false;
  bool reserve = false;

  // Room that handlers read a request into. It holds the bytes that `attributes` views.
  wire::CheckJson json;
  wire::FormQuery query;

  [[nodiscard]] bool must_ask() const { return state_ == State::kAsking; }
  [[nodiscard]] bool ready() const { return state_ == State::kReady; }
  // What is sent is no response of its own.
  [[nodiscard]] bool raw() const { return kind_ == Kind::kRaw; }
  [[nodiscard]] bool keep_alive() const { return keep_alive_; }

  // Appends the whole response. Requires ready(). `keep_alive` false: the connection ends here.
  void Render(std::string_view date, bool keep_alive, std::string& out) const;

  // The response for whoever frames it otherwise than HTTP/1.1. Requires ready(); views of this.
  struct Parts {
    int status;
    std::string_view content_type;
    std::string_view fields;  // Lines that end in CR LF.
    std::string_view body;
    bool head_only;  // The request was HEAD: no body.
  };
  [[nodiscard]] Parts parts() const { return {status_, content_type_, fields_, body_, head_only_}; }

  void* owner_context = nullptr;  // The connection's own.

  // The connection is gone. Back to the pool: now, or when the store has answered.
  void Abandon();

  void OnVerdict() noexcept override;

 private:
  enum class State : std::uint8_t { kFresh, kAsking, kOperation, kHeld, kReady };
  enum class Kind : std::uint8_t { kPrepared, kRaw, kCheck, kStatus, kProxyCheck };

  void Reset(Client& client);
  void Log(int status, std::string_view detail) const;
  void Write(const Problem& problem);
  void BecomeReady();
  // Turns the verdict into fields and body: while what it points to lives.
  void TakeVerdict();
  void TakeProxyVerdict();
  void AppendRetryAfter();
  void Remember();

  ExchangePool& pool_;
  net::Timer hold_;  // While a shaped answer waits.

  Client* client_ = nullptr;  // None: abandoned.
  State state_ = State::kFresh;
  Kind kind_ = Kind::kPrepared;
  bool keep_alive_ = true;
  bool head_only_ = false;
  bool wait_ = false;
  bool operation_starts_ = false;
  int minor_version_ = 1;
  int status_ = 200;
  int deny_status_ = 429;
  bool grpc_ = false;
  std::string origin_;
  std::string_view content_type_;
  std::string fields_;  // Header lines, beside those that every response has.
  std::string body_;
  std::unique_ptr<Operation> operation_;
  idempotency::AnswerMemory* memory_ = nullptr;  // Of a check that is to be remembered.
  std::string memory_name_;
};

}  // namespace sluice::frontend::http
