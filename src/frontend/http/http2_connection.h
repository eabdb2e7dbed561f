#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/exchanges.h"
#include "frontend/http/exchange.h"
#include "frontend/http2_conversation.h"

namespace sluice::frontend::http {

class FrontEnd;

// One client's HTTP/2 connection: its requests, from a stream's header to its answer.
class Http2Connection final : public Http2Conversation, public Client {
 public:
  // `begun`: bytes that were read already.
  Http2Connection(FrontEnd& front_end, std::unique_ptr<net::Transport> transport,
                  std::string_view begun);

  void OnExchangeReady(Exchange& exchange) override;
  [[nodiscard]] std::string_view peer_address() const override {
    return transport().peer_address();
  }

 private:
  struct Routed final : Request {
    Exchange* exchange = nullptr;  // The exchange that was routed and is not answered yet.
  };
  [[nodiscard]] static Routed& RoutedOf(const wire::Http2Stream& stream) {
    return static_cast<Routed&>(RequestOf(stream));
  }

  void OnHeader(wire::Http2Stream& stream, bool whole) noexcept override;
  void OnBody(wire::Http2Stream& stream, std::string_view bytes) noexcept override;
  void OnEnd(wire::Http2Stream& stream) noexcept override;
  void OnClosed(wire::Http2Stream& stream) noexcept override;

  void OnStart() override;
  void AskBatch() override;
  void AnswerReady() override;
  void RefuseLate(Request& request) override;
  void OnClose() override;

  void Route(Routed& request);
  void Refuse(Routed& request, int status, std::string_view detail);
  void Answer(Exchange& exchange);

  FrontEnd& front_end_;
  std::string begun_;
  Pool<Routed> requests_;
  std::vector<service::Operation*> batch_;
  std::vector<Exchange*> ready_;
  wire::HttpRequest whole_;              // A stream's request, with its body.
  std::vector<wire::HttpField> fields_;  // Of an answer, in field_text_.
  std::string field_text_;
};

}  // namespace sluice::frontend::http
