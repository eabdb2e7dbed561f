#include "frontend/http/http2_connection.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include <boost/asio/error.hpp>

#include "frontend/http/door.h"
#include "wire/ascii.h"

namespace sluice::frontend::http {

namespace {

wire::Http2Limits LimitsOf(const DoorSettings& settings) {
  wire::Http2Limits limits;
  limits.streams = static_cast<std::uint32_t>(settings.pipeline);
  limits.header_bytes = settings.request.header_bytes;
  limits.fields = settings.request.fields;
  // Room for more than is taken, so that too much is seen, and answered, rather than waited for.
  limits.stream_window = static_cast<std::uint32_t>(settings.request.body_bytes + 16 * 1024);
  limits.connection_window = std::max(limits.connection_window, 2 * limits.stream_window);
  return limits;
}

bool IsLongerThan(std::string_view content_length, std::size_t most) {
  std::size_t length = 0;
  const auto [end, error] =
      std::from_chars(content_length.data(), content_length.data() + content_length.size(), length);
  return error == std::errc::result_out_of_range || (error == std::errc() && length > most);
}

}  // namespace

Http2Connection::Http2Connection(Door& door, std::unique_ptr<net::Transport> transport,
                                 std::string_view begun)
    : door_(door),
      transport_(std::move(transport)),
      session_(*this, door.http2_memory_, LimitsOf(door.settings_),
               std::chrono::steady_clock::now()),
      begun_(begun),
      timer_([this] { OnTimer(); }) {}

void Http2Connection::Start() {
  now_ = std::chrono::steady_clock::now();
  idle_since_ = now_;
  if (!begun_.empty()) {
    Receive(std::exchange(begun_, {}));
  }
  Settle();
}

void Http2Connection::Drain() {
  now_ = std::chrono::steady_clock::now();
  draining_ = true;
  draining_since_ = now_;
  session_.Shutdown(/*final=*/false);
  Settle();
}

void Http2Connection::Close() {
  if (closed_) {
    return;
  }
  closed_ = true;
  timer_.Cancel();
  transport_->Close();
  ready_.clear();
  for (Requests* list : {&coming_, &asked_, &answered_}) {
    for (Request& request : *list) {
      if (request.exchange != nullptr) {
        std::exchange(request.exchange, nullptr)->Abandon();
      }
    }
  }
  door_.Forget(*this);  // Perhaps the last owner: nothing after this line.
}

void Http2Connection::OnRead(const boost::system::error_code& error, std::size_t size) noexcept {
  const auto self = shared_from_this();
  reading_ = false;
  if (closed_) {
    return;
  }
  now_ = std::chrono::steady_clock::now();
  if (error) {
    if (error != boost::asio::error::eof || ending_) {
      Close();
      return;
    }
    input_ended_ = true;  // It may still want its answers.
  } else if (!ending_) {
    Receive({input_.data(), size});
  }  // Else dropped: we only wait for the client's end.
  Settle();
}

void Http2Connection::OnWritten(const boost::system::error_code& error) noexcept {
  const auto self = shared_from_this();
  writing_.clear();
  if (closed_) {
    return;
  }
  if (error) {
    Close();
    return;
  }
  now_ = std::chrono::steady_clock::now();
  Settle();
}

// Answers that come in the turn that asked are taken up by Settle(); late ones share one turn,
// and so one write, with whatever else comes before the loop gets to it.
void Http2Connection::OnExchangeReady(Exchange& exchange) {
  ready_.push_back(&exchange);
  if (in_turn_ || settle_posted_) {
    return;
  }
  settle_posted_ = true;
  door_.loop_.Post([self = std::static_pointer_cast<Http2Connection>(shared_from_this())] {
    self->settle_posted_ = false;
    if (!self->closed_) {
      self->now_ = std::chrono::steady_clock::now();
      self->Settle();
    }
  });
}

void Http2Connection::Receive(std::string_view bytes) {
  in_turn_ = true;
  batch_.clear();
  broken_ = !session_.Receive(bytes, now_) || broken_;
  if (!batch_.empty()) {
    door_.service_.Decide(batch_);
  }
  in_turn_ = false;
  if (std::exchange(headers_seen_, session_.headers()) != session_.headers()) {
    header_since_ = now_;
  }
}

void Http2Connection::OnHeader(wire::Http2Stream& stream, bool whole) noexcept {
  if (free_.empty()) {
    all_.push_back(std::make_unique<Request>());
    free_.push_back(all_.back().get());
  }
  Request& request = *free_.back();
  free_.pop_back();
  request.stream = &stream;
  request.exchange = nullptr;
  request.body.clear();
  request.since = now_;
  stream.context = &request;
  coming_.push_back(request);
  const std::size_t most = door_.settings_.request.body_bytes;
  if (stream.fault() == wire::Http2Fault::kHeaderTooLarge) {
    Refuse(request, 431, "the header has too many fields or bytes");
  } else if (stream.fault() == wire::Http2Fault::kBadTarget) {
    Refuse(request, 400, "the path has bytes that no URI has");
  } else if (whole) {
    Route(request);
  } else if (IsLongerThan(stream.request().Field("content-length"), most)) {
    Refuse(request, 413, "the body is too large");
  }
}

void Http2Connection::OnBody(wire::Http2Stream& stream, std::string_view bytes) noexcept {
  Request& request = *static_cast<Request*>(stream.context);
  if (request.exchange != nullptr || stream.answered()) {
    session_.Consume(stream, bytes.size());  // It was refused.
    return;
  }
  if (request.body.size() + bytes.size() > door_.settings_.request.body_bytes) {
    session_.Consume(stream, request.body.size() + bytes.size());
    request.body.clear();
    Refuse(request, 413, "the body is too large");
    return;
  }
  request.body += bytes;
}

void Http2Connection::OnEnd(wire::Http2Stream& stream) noexcept {
  Request& request = *static_cast<Request*>(stream.context);
  if (request.exchange == nullptr && !stream.answered()) {
    Route(request);
  }
}

void Http2Connection::OnClosed(wire::Http2Stream& stream) noexcept {
  Forget(*static_cast<Request*>(stream.context));
}

// The request is whole.
void Http2Connection::Route(Request& request) {
  asked_.splice(asked_.end(), coming_, coming_.iterator_to(request));
  Exchange& exchange = door_.pool_.Take();
  request.exchange = &exchange;
  whole_ = request.stream->request();
  whole_.body = request.body;
  exchange.Begin(*this, whole_);
  exchange.owner_context = &request;
  door_.router_.Route(whole_, exchange);
  if (exchange.must_ask()) {
    batch_.push_back(&exchange);
  } else if (exchange.ready()) {
    ready_.push_back(&exchange);
  }
}

void Http2Connection::Refuse(Request& request, int status, std::string_view detail) {
  asked_.splice(asked_.end(), coming_, coming_.iterator_to(request));
  Exchange& exchange = door_.pool_.Take();
  request.exchange = &exchange;
  exchange.BeginWithoutRequest(*this);
  exchange.owner_context = &request;
  exchange.AnswerProblem({.status = status, .title = {}, .detail = detail, .code = {}});
  ready_.push_back(&exchange);
}

void Http2Connection::Answer(Exchange& exchange) {
  Request& request = *static_cast<Request*>(exchange.owner_context);
  fields_.clear();
  field_text_.clear();
  const Exchange::Parts parts = exchange.parts();
  // Room for all of it, so that the views stay good. Names are in lower case here.
  field_text_.reserve(parts.fields.size() + 20);
  std::string_view rest = parts.fields;
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
      std::to_chars(digits.data(), digits.data() + digits.size(), parts.body.size()).ptr;
  field_text_.append(digits.data(), end);
  if (!parts.content_type.empty()) {
    fields_.push_back({"content-type", parts.content_type});
  }
  fields_.push_back({"content-length", std::string_view(field_text_).substr(at)});
  fields_.push_back({"date", door_.DateNow()});
  const std::string_view body = parts.head_only ? std::string_view() : parts.body;
  if (!request.body.empty()) {
    session_.Consume(*request.stream, request.body.size());
    request.body.clear();
  }
  session_.Answer(*request.stream, parts.status, fields_, body);
  request.exchange = nullptr;
  request.since = now_;
  answered_.splice(answered_.end(), asked_, asked_.iterator_to(request));
  door_.pool_.Return(exchange);
}

void Http2Connection::Forget(Request& request) {
  if (Exchange* const exchange = std::exchange(request.exchange, nullptr)) {
    std::erase(ready_, exchange);
    exchange->Abandon();
  }
  request.unlink();
  request.stream = nullptr;
  if (request.body.capacity() > 16 * 1024) {
    request.body = std::string();
  }
  free_.push_back(&request);
  idle_since_ = now_;
}

// Everything that can be done without waiting, then waits for what is missing.
void Http2Connection::Settle() {
  const auto self = shared_from_this();
  in_turn_ = true;
  for (std::size_t i = 0; i < ready_.size(); ++i) {
    Answer(*ready_[i]);
  }
  ready_.clear();
  session_.Send(output_, door_.settings_.output_bytes);
  in_turn_ = false;
  StartWrite();
  FinishIfDone();
  if (closed_) {
    return;
  }
  StartRead();
  Watch();
}

void Http2Connection::StartWrite() {
  if (output_.empty() || !writing_.empty()) {
    return;
  }
  std::swap(output_, writing_);
  writing_since_ = now_;
  transport_->Write(writing_, shared_from_this());
}

// Ends the connection once it has nothing more to say and nothing more to hear.
void Http2Connection::FinishIfDone() {
  if (closed_ || ending_ || !writing_.empty() || !output_.empty()) {
    return;
  }
  if (broken_ || session_.finished() || (last_told_ && session_.open() == 0)) {
    // As with HTTP/1.1: closing with bytes unread may overtake what was said last.
    ending_ = true;
    ending_since_ = now_;
    transport_->ShutdownWrite();
  } else if (input_ended_ && session_.open() == 0) {
    Close();
  }
}

void Http2Connection::StartRead() {
  const bool may_read = ending_ || (!broken_ && output_.size() < door_.settings_.output_bytes);
  if (!reading_ && !input_ended_ && may_read) {
    reading_ = true;
    transport_->Read(input_, shared_from_this());
  }
}

net::SteadyTime Http2Connection::GraceEnd() const {
  return draining_since_ + door_.settings_.drain_grace;
}

net::SteadyTime Http2Connection::Deadline() const {
  const DoorSettings& settings = door_.settings_;
  if (ending_) {
    return ending_since_ + settings.linger;
  }
  net::SteadyTime deadline = net::SteadyTime::max();
  const auto also = [&deadline](net::SteadyTime since, Duration limit) {
    deadline = std::min<net::SteadyTime>(deadline, since + limit);
  };
  if (session_.open() == 0) {
    also(idle_since_, settings.idle_timeout);
  }
  if (session_.in_header()) {
    also(header_since_, settings.header_timeout);
  }
  if (!coming_.empty()) {
    also(coming_.front().since, settings.body_timeout);
  }
  if (!answered_.empty()) {
    also(answered_.front().since, settings.write_timeout);
  }
  if (!writing_.empty()) {
    also(writing_since_, settings.write_timeout);
  }
  if (draining_ && !last_told_) {
    also(draining_since_, settings.drain_grace);
  }
  return deadline;
}

// The timer is armed anew only for an earlier deadline; a later one is found when it fires.
void Http2Connection::Watch() {
  const net::SteadyTime deadline = Deadline();
  if (deadline < timer_at_) {
    timer_at_ = deadline;
    door_.loop_.Arm(timer_, deadline);
  }
}

void Http2Connection::OnTimer() {
  const auto self = shared_from_this();
  timer_at_ = net::SteadyTime::max();
  now_ = std::chrono::steady_clock::now();
  if (closed_) {
    return;
  }
  if (now_ < Deadline()) {
    Watch();
    return;
  }
  const DoorSettings& settings = door_.settings_;
  if (draining_ && !last_told_ && now_ >= GraceEnd()) {
    last_told_ = true;
    session_.Shutdown(/*final=*/true);
  }
  const auto over = [this](net::SteadyTime since, Duration limit) { return now_ >= since + limit; };
  const bool stuck = (!writing_.empty() && over(writing_since_, settings.write_timeout)) ||
                     (!answered_.empty() && over(answered_.front().since, settings.write_timeout));
  const bool idle = session_.open() == 0 && over(idle_since_, settings.idle_timeout);
  const bool half_a_header = session_.in_header() && over(header_since_, settings.header_timeout);
  if (stuck || idle || half_a_header || ending_) {
    Close();
    return;
  }
  EndLateBodies(now_);
  Settle();
}

void Http2Connection::EndLateBodies(net::SteadyTime now) {
  while (!coming_.empty() && now >= coming_.front().since + door_.settings_.body_timeout) {
    Refuse(coming_.front(), 408, "the body did not come in time");
  }
}

}  // namespace sluice::frontend::http
