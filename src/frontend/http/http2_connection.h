#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <boost/intrusive/list.hpp>

#include "frontend/http/client.h"
#include "frontend/http/exchange.h"
#include "net/timer_wheel.h"
#include "wire/http2_session.h"

namespace sluice::frontend::http {

class Door;

// One client's connection that speaks HTTP/2. Per turn, as with HTTP/1.1: what has come is read
// to its end, all requests that came whole go to the service as one batch, and what is ready goes
// out in one write, in whatever order it became so.
//
// What bounds a client: the session's limits (streams, headers, bodies, resets, idle frames);
// nothing more is read from it while `output_bytes` wait to be taken; a timer watches headers,
// bodies, idleness, writes that get stuck and answers that are not let through by its windows.
class Http2Connection final : public Client, private wire::Http2User {
 public:
  // `begun`: bytes that were read already.
  Http2Connection(Door& door, std::unique_ptr<net::Transport> transport, std::string_view begun);

  void Start() override;
  void Drain() override;
  void Close() override;
  void OnExchangeReady(Exchange& exchange) override;
  [[nodiscard]] std::string_view peer_address() const override {
    return transport_->peer_address();
  }

  void OnRead(const boost::system::error_code& error, std::size_t size) noexcept override;
  void OnWritten(const boost::system::error_code& error) noexcept override;

 private:
  using Hook =
      boost::intrusive::list_base_hook<boost::intrusive::link_mode<boost::intrusive::auto_unlink>>;
  // A stream's request on its way in, at the service, or its answer on its way out.
  struct Request : Hook {
    wire::Http2Stream* stream = nullptr;
    Exchange* exchange = nullptr;  // Where it was routed and is not answered yet.
    std::string body;
    net::SteadyTime since;  // It began, or its answer did.
  };
  // The oldest in front.
  using Requests = boost::intrusive::list<Request, boost::intrusive::constant_time_size<false>>;

  void OnHeader(wire::Http2Stream& stream, bool whole) noexcept override;
  void OnBody(wire::Http2Stream& stream, std::string_view bytes) noexcept override;
  void OnEnd(wire::Http2Stream& stream) noexcept override;
  void OnClosed(wire::Http2Stream& stream) noexcept override;

  void Receive(std::string_view bytes);
  void Route(Request& request);
  void Refuse(Request& request, int status, std::string_view detail);
  void Answer(Exchange& exchange);
  void Forget(Request& request);

  void Settle();
  void StartWrite();
  void FinishIfDone();
  void StartRead();
  [[nodiscard]] net::SteadyTime GraceEnd() const;
  [[nodiscard]] net::SteadyTime Deadline() const;
  void Watch();
  void OnTimer();
  void EndLateBodies(net::SteadyTime now);

  Door& door_;
  std::unique_ptr<net::Transport> transport_;
  wire::Http2Session session_;
  std::string begun_;

  std::vector<std::unique_ptr<Request>> all_;
  std::vector<Request*> free_;
  Requests coming_;  // Not whole yet.
  Requests asked_;
  Requests answered_;  // Not taken by the client yet.
  std::vector<service::DecideCall*> batch_;
  std::vector<Exchange*> ready_;
  wire::Http1Request whole_;             // A stream's request, with its body.
  std::vector<wire::HttpField> fields_;  // Of an answer, in field_text_.
  std::string field_text_;

  std::array<char, 16 * 1024> input_;
  std::string output_;   // Framed, not being written yet.
  std::string writing_;  // Stays put until OnWritten().

  net::Timer timer_;
  net::SteadyTime timer_at_ = net::SteadyTime::max();
  net::SteadyTime now_;  // When this turn began.
  net::SteadyTime idle_since_;
  net::SteadyTime header_since_;
  std::uint64_t headers_seen_ = 0;
  net::SteadyTime writing_since_;
  net::SteadyTime draining_since_;
  net::SteadyTime ending_since_;

  bool broken_ = false;       // What comes is not HTTP/2, or too much of it.
  bool input_ended_ = false;  // The client says that nothing more comes.
  bool draining_ = false;
  bool last_told_ = false;  // The client knows which request is the last.
  bool ending_ = false;     // Our side has said that it ends; only the client's end is awaited.
  bool closed_ = false;
  bool reading_ = false;
  bool in_turn_ = false;
  bool settle_posted_ = false;
};

}  // namespace sluice::frontend::http
