#include "frontend/http/http2_connection.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "frontend/http/front_end.h"
#include "wire/ascii.h"

namespace sluice::frontend::http {

namespace {

Http2Settings SettingsOf(const FrontEndSettings& settings) {
  wire::Http2Limits limits;
  limits.streams = static_cast<std::uint32_t>(settings.pipeline);
  limits.header_bytes = settings.request.header_bytes;
  limits.fields = settings.request.fields;
  // A little more than is accepted, so that an excess is seen and answered.
  limits.stream_window = static_cast<std::uint32_t>(settings.request.body_bytes + 16 * 1024);
  limits.connection_window = std::max(limits.connection_window, 2 * limits.stream_window);
  return {.limits = limits,
          .output_bytes = settings.output_bytes,
          .header_timeout = settings.header_timeout,
          .body_timeout = settings.body_timeout,
          .idle_timeout = settings.idle_timeout,
          .conversation = {.write_timeout = settings.write_timeout,
                           .linger = settings.linger,
                           .drain_grace = settings.drain_grace}};
}

bool IsLongerThan(std::string_view content_length, std::size_t most) {
  std::size_t length = 0;
  const auto [end, error] =
      std::from_chars(content_length.data(), content_length.data() + content_length.size(), length);
  return error == std::errc::result_out_of_range || (error == std::errc() && length > most);
}

}  // namespace

Http2Connection::Http2Connection(FrontEnd& front_end, std::unique_ptr<net::Transport> transport,
                                 std::string_view begun)
    : Http2Conversation(front_end.loop_, front_end.connections_, std::move(transport),
                        front_end.http2_memory_, SettingsOf(front_end.settings_)),
      front_end_(front_end),
      begun_(begun) {}

void Http2Connection::OnStart() {
  if (!begun_.empty()) {
    Receive(std::exchange(begun_, {}));
  }
}

void Http2Connection::OnClose() {
  ready_.clear();
  for (const auto& request : requests_.all()) {
    if (request->exchange != nullptr) {
      std::exchange(request->exchange, nullptr)->Abandon();
    }
  }
}

void Http2Connection::OnExchangeReady(Exchange& exchange) {
  ready_.push_back(&exchange);
  SettleSoon();
}

void Http2Connection::AskBatch() {
  if (!batch_.empty()) {
    front_end_.service_.Submit(batch_);
    batch_.clear();
  }
}

void Http2Connection::AnswerReady() {
  for (std::size_t i = 0; i < ready_.size(); ++i) {
    Answer(*ready_[i]);
  }
  ready_.clear();
}

void Http2Connection::OnHeader(wire::Http2Stream& stream, bool whole) noexcept {
  Routed& request = requests_.Take();
  OnBegun(request, stream);
  const std::size_t most = front_end_.settings_.request.body_bytes;
  if (stream.fault() == wire::Http2Fault::kHeaderTooLarge) {
    Refuse(request, 431, "the header has too many fields or bytes");
  } else if (stream.fault() == wire::Http2Fault::kBadTarget) {
    Refuse(request, 400, "the path has bytes that are not allowed in a URI");
  } else if (whole) {
    Route(request);
  } else if (IsLongerThan(stream.request().Field("content-length"), most)) {
    Refuse(request, 413, "the body is too large");
  }
}

void Http2Connection::OnBody(wire::Http2Stream& stream, std::string_view bytes) noexcept {
  Routed& request = RoutedOf(stream);
  if (request.exchange != nullptr || stream.answered()) {
    session().Consume(stream, bytes.size());  // It was refused.
    return;
  }
  if (request.body.size() + bytes.size() > front_end_.settings_.request.body_bytes) {
    session().Consume(stream, bytes.size());
    DropBody(request);
    Refuse(request, 413, "the body is too large");
    return;
  }
  request.body += bytes;
}

void Http2Connection::OnEnd(wire::Http2Stream& stream) noexcept {
  Routed& request = RoutedOf(stream);
  if (request.exchange == nullptr && !stream.answered()) {
    Route(request);
  }
}

void Http2Connection::OnClosed(wire::Http2Stream& stream) noexcept {
  Routed& request = RoutedOf(stream);
  if (Exchange* const exchange = std::exchange(request.exchange, nullptr)) {
    std::erase(ready_, exchange);
    exchange->Abandon();
  }
  OnGone(request);
  requests_.Return(request);
}

// The request is complete.
void Http2Connection::Route(Routed& request) {
  OnWhole(request);
  Exchange& exchange = front_end_.pool_.Take();
  request.exchange = &exchange;
  whole_ = request.stream->request();
  whole_.body = request.body;
  exchange.Begin(*this, &whole_);
  exchange.owner_context = &request;
  front_end_.router_.Route(whole_, exchange);
  if (exchange.must_ask()) {
    batch_.push_back(&exchange.operation);
  } else if (exchange.ready()) {
    ready_.push_back(&exchange);
  }
}

void Http2Connection::Refuse(Routed& request, int status, std::string_view detail) {
  OnWhole(request);
  Exchange& exchange = front_end_.pool_.Take();
  request.exchange = &exchange;
  exchange.Begin(*this, nullptr);
  exchange.owner_context = &request;
  exchange.AnswerProblem({.status = status, .title = {}, .detail = detail, .code = {}});
  ready_.push_back(&exchange);
}

void Http2Connection::Answer(Exchange& exchange) {
  Routed& request = *static_cast<Routed*>(exchange.owner_context);
  fields_.clear();
  field_text_.clear();
  const Response& response = exchange.response;
  // Reserves space for all of it, so that the views stay valid. Names are in lower case here.
  field_text_.reserve(response.fields.size() + 20);
  std::string_view rest = response.fields;
  while (!rest.empty()) {
    const std::size_t end = rest.find("\r\n");
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 2);
    const std::size_t colon = line.find(": ");
    if (colon == std::string_view::npos) {
      continue;
    }
    const std::size_t at = field_text_.size();
    for (const char c : line.substr(0, colon)) {
      field_text_ += wire::ToLower(c);
    }
    fields_.push_back({std::string_view(field_text_).substr(at), line.substr(colon + 2)});
  }
  const std::size_t at = field_text_.size();
  std::array<char, 20> digits{};
  const auto end =
      std::to_chars(digits.data(), digits.data() + digits.size(), response.body.size()).ptr;
  field_text_.append(digits.data(), end);
  if (!response.content_type.empty()) {
    fields_.push_back({"content-type", response.content_type});
  }
  fields_.push_back({"content-length", std::string_view(field_text_).substr(at)});
  fields_.push_back({"date", front_end_.DateNow()});
  if (const std::string_view id = exchange.IdInAnswer(); !id.empty()) {
    fields_.push_back({"x-request-id", id});
  }
  const std::string_view body = exchange.context.head_only ? std::string_view() : response.body;
  DropBody(request);
  session().Answer(*request.stream, response.status, fields_, body);
  front_end_.Count(response.status);
  request.exchange = nullptr;
  OnAnswered(request);
  front_end_.pool_.Return(exchange);
}

void Http2Connection::RefuseLate(Request& request) {
  Refuse(static_cast<Routed&>(request), 408, "the body did not arrive in time");
}

}  // namespace sluice::frontend::http
