#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <boost/intrusive/list.hpp>

#include "frontend/grpc/calls.h"
#include "frontend/grpc/exchange.h"
#include "net/timer_wheel.h"
#include "net/transport.h"
#include "wire/grpc_health.h"
#include "wire/grpc_status.h"
#include "wire/http2_session.h"

namespace sluice::frontend::grpc {

class Door;

// One client's connection. Per turn: what has come is read to its end, all calls that came whole go
// to their services as one batch each, and what is ready goes out in one write, in whatever order
// it became so.
//
// What bounds a client: the session's limits (streams, headers, bodies, resets, idle frames);
// nothing more is read from it while `output_bytes` wait to be taken; a timer watches headers,
// bodies, idleness, writes that get stuck, answers that are not let through by its windows, and the
// connection's age.
//
// Owned by its Door and, until they end, by its reads, writes and posts. One thread.
class Connection final : public net::TransportUser,
                         public std::enable_shared_from_this<Connection>,
                         private wire::Http2User {
 public:
  Connection(Door& door, std::unique_ptr<net::Transport> transport);

  void Start();
  // Answers what was asked, or is asked within the grace, and closes.
  void Drain();
  // At once. Exchanges that a store still has come back to their pools by themselves.
  void Close();
  [[nodiscard]] bool has_watches() const { return !watching_.empty(); }
  void OnHealthChanged();

  // One of this connection's exchanges became ready.
  void OnExchangeReady(Exchange& exchange);

  void OnRead(const boost::system::error_code& error, std::size_t size) noexcept override;
  void OnWritten(const boost::system::error_code& error) noexcept override;

 private:
  using Hook =
      boost::intrusive::list_base_hook<boost::intrusive::link_mode<boost::intrusive::auto_unlink>>;
  // Whose health is asked for.
  enum class Watched : std::uint8_t { kUnknown, kServer, kService };
  // A stream's call: on its way in, at a service, watching, or its answer on its way out.
  struct Call : Hook {
    wire::Http2Stream* stream = nullptr;
    Exchange* exchange = nullptr;  // Where it was asked and is not answered yet.
    Method method = Method::kUnknown;
    std::string body;
    std::string encoding;
    net::SteadyTime since;  // It began, or its answer did.
    net::SteadyTime deadline = net::SteadyTime::max();
    bool ended = false;  // What still comes of it is passed over.
    wire::ServingStatus told = wire::ServingStatus::kUnknown;  // To who watches.
    Watched watched = Watched::kUnknown;
  };
  // The oldest in front.
  using Calls = boost::intrusive::list<Call, boost::intrusive::constant_time_size<false>>;

  void OnHeader(wire::Http2Stream& stream, bool whole) noexcept override;
  void OnBody(wire::Http2Stream& stream, std::string_view bytes) noexcept override;
  void OnEnd(wire::Http2Stream& stream) noexcept override;
  void OnClosed(wire::Http2Stream& stream) noexcept override;

  void Receive(std::string_view bytes);
  [[nodiscard]] Call& TakeCall(wire::Http2Stream& stream);
  // What is wrong with a call's header; kOk: its body may come.
  [[nodiscard]] Status ReadHeader(Call& call, const wire::Http1Request& header);
  void Run(Call& call);
  [[nodiscard]] Status Ask(Call& call, std::string_view message);
  void RunHealth(Call& call, std::string_view message);
  void TellHealth(Call& call);
  [[nodiscard]] wire::ServingStatus HealthOf(const Call& call) const;

  void DropBody(Call& call);
  // Ends a call with trailers alone.
  void Refuse(Call& call, const Status& status);
  // Ends it as a server that speaks no gRPC here would.
  void RefuseHttp(Call& call, int status);
  void Answer(Exchange& exchange);
  void AnswerMessage(Call& call, std::string_view framed);
  void MoveToAnswered(Call& call);
  [[nodiscard]] std::span<const wire::HttpField> Trailers(const Status& status);

  void Settle();
  void StartWrite();
  void FinishIfDone();
  void StartRead();
  [[nodiscard]] net::SteadyTime GraceEnd() const;
  [[nodiscard]] net::SteadyTime Deadline() const;
  void Watch();
  void OnTimer();
  void EndLateBodies();

  Door& door_;
  std::unique_ptr<net::Transport> transport_;
  wire::Http2Session session_;

  std::vector<std::unique_ptr<Call>> all_;
  std::vector<Call*> free_;
  Calls coming_;  // Not whole yet.
  Calls asked_;
  Calls watching_;
  Calls answered_;  // Not taken by the client yet.
  std::vector<envoy::RateLimitCall*> rate_limit_batch_;
  std::vector<service::DecideCall*> check_batch_;
  std::vector<Exchange*> ready_;
  std::string message_;   // Room for one answer.
  std::string inflated_;  // Room for one request.
  std::string status_text_;
  std::array<wire::HttpField, 3> fields_;

  std::array<char, 16 * 1024> input_;
  std::string output_;   // Framed, not being written yet.
  std::string writing_;  // Stays put until OnWritten().

  net::Timer timer_;
  net::SteadyTime timer_at_ = net::SteadyTime::max();
  net::SteadyTime now_;  // When this turn began.
  net::SteadyTime idle_since_;
  net::SteadyTime old_at_ = net::SteadyTime::max();
  net::SteadyTime header_since_;
  std::uint64_t headers_seen_ = 0;
  net::SteadyTime writing_since_;
  net::SteadyTime draining_since_;
  net::SteadyTime end_at_ = net::SteadyTime::max();  // Of what is told to go for its age.
  net::SteadyTime ending_since_;

  bool broken_ = false;       // What comes is not HTTP/2, or too much of it.
  bool input_ended_ = false;  // The client says that nothing more comes.
  bool draining_ = false;
  bool last_told_ = false;  // The client knows which call is the last.
  bool ending_ = false;     // Our side has said that it ends; only the client's end is awaited.
  bool closed_ = false;
  bool reading_ = false;
  bool in_turn_ = false;
  bool settle_posted_ = false;
};

}  // namespace sluice::frontend::grpc
