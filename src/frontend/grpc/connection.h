#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <boost/intrusive/list.hpp>

#include "frontend/exchanges.h"
#include "frontend/grpc/exchange.h"
#include "frontend/http2_conversation.h"
#include "net/timer_wheel.h"
#include "wire/grpc_message.h"

namespace sluice::frontend::grpc {

class FrontEnd;

inline constexpr std::string_view kRequestIdField = "x-request-id";

// One client's connection: its calls, from a stream's header to its trailers. Each kind of call is
// submitted as one batch per turn. The connection's age is bounded, too.
class Connection final : public Http2Conversation {
 public:
  Connection(FrontEnd& front_end, std::unique_ptr<net::Transport> transport);

  [[nodiscard]] bool has_watches() const { return !watching_.empty(); }
  void OnHealthChanged();

  // One of this connection's exchanges became ready.
  void OnExchangeReady(Exchange& exchange);

 private:
  // The service whose health is requested.
  enum class Watched : std::uint8_t { kUnknown, kServer, kService };
  // A stream's call: being received, submitted to a service, watching, or being answered.
  struct Call final : Request {
    Exchange* exchange = nullptr;  // The exchange that was submitted and is not answered yet.
    Method method = Method::kUnknown;
    std::string encoding;
    net::SteadyTime deadline = net::SteadyTime::max();
    bool ended = false;                                        // Its remaining bytes are ignored.
    wire::ServingStatus sent = wire::ServingStatus::kUnknown;  // The last status sent to a watcher.
    Watched watched = Watched::kUnknown;
  };
  [[nodiscard]] static Call& CallOf(const wire::Http2Stream& stream) {
    return static_cast<Call&>(RequestOf(stream));
  }

  void OnHeader(wire::Http2Stream& stream, bool whole) noexcept override;
  void OnBody(wire::Http2Stream& stream, std::string_view bytes) noexcept override;
  void OnEnd(wire::Http2Stream& stream) noexcept override;
  void OnClosed(wire::Http2Stream& stream) noexcept override;

  void AskBatch() override;
  void AnswerReady() override;
  void RefuseLate(Request& request) override;
  void OnDrain(bool first) override;
  [[nodiscard]] net::SteadyTime Deadline() override;
  [[nodiscard]] bool OnDeadline() override;
  void OnClose() override;

  [[nodiscard]] Call& TakeCall(wire::Http2Stream& stream);
  // The fault of a call's header; kOk: its body may follow.
  [[nodiscard]] Status ReadHeader(Call& call, const wire::HttpRequest& header);
  void Run(Call& call);
  [[nodiscard]] Status Ask(Call& call, std::string_view message);
  void RunHealth(Call& call, std::string_view message);
  void TellHealth(Call& call);
  [[nodiscard]] wire::ServingStatus HealthOf(const Call& call) const;

  // Ends a call with trailers alone, and x-request-id.
  void Refuse(Call& call, const Status& status, std::string_view id);
  // The same of a call that had no exchange.
  void Refuse(Call& call, const Status& status);
  // Ends it as a server without gRPC would.
  void RefuseHttp(Call& call, int status);
  void Answer(Exchange& exchange);
  // `id`: x-request-id of the header; "": it has none.
  void AnswerMessage(Call& call, std::string_view framed, std::string_view id);
  [[nodiscard]] std::span<const wire::HttpField> Trailers(const Status& status);
  // Takes the id that the call's header has, if it has one.
  static void ReadTrace(const wire::Http2Stream& stream, base::TraceParent& trace);
  static void ReadRequestId(const wire::Http2Stream& stream, base::RequestId& id);

  FrontEnd& front_end_;
  Pool<Call> calls_;
  boost::intrusive::list<Call, boost::intrusive::constant_time_size<false>> watching_;
  std::vector<envoy::RateLimitCall*> rate_limit_batch_;
  std::vector<service::Operation*> batch_;
  std::vector<Exchange*> ready_;
  std::string message_;   // Room for one answer.
  std::string inflated_;  // Room for one request.
  std::string status_text_;
  std::array<wire::HttpField, 3> fields_;

  net::SteadyTime old_at_ = net::SteadyTime::max();
  net::SteadyTime end_at_ =
      net::SteadyTime::max();  // Of a connection that was sent GOAWAY for its age.
};

}  // namespace sluice::frontend::grpc
