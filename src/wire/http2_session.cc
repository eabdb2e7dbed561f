#include "wire/http2_session.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include <nghttp2/nghttp2.h>

#include "base/assert.h"
#include "wire/http2_callbacks.h"

namespace sluice::wire {
namespace {

// Room comes in steps, so that an answer a few bytes longer than those before allocates nothing.
std::size_t RoundUp(std::size_t size) {
  constexpr std::size_t kStep = 512;
  return (size + kStep - 1) / kStep * kStep;
}

// CONTINUATION frames of one header. A header has at most 16 KiB, which is one frame, except from
// clients that split it. nghttp2's own limit counts every piece of bytes in which a frame arrives,
// so it is larger: a frame's header alone has nine bytes.
constexpr std::size_t kMostContinuations = 8;
constexpr std::size_t kMostContinuationPieces = 16 * kMostContinuations;
// Answers to PING and SETTINGS that wait to be sent. Above this limit the connection is closed.
constexpr std::size_t kMostAcknowledgements = 500;
constexpr std::size_t kMostSettings = 32;  // Entries of one SETTINGS frame.

}  // namespace

Http2Session::Http2Session(Http2User& user, std::shared_ptr<Http2Memory> memory,
                           const Http2Limits& limits, Time now)
    : user_(user),
      memory_(std::move(memory)),
      limits_(limits),
      idle_frames_left_(limits.idle_frames),
      resets_left_(limits.resets),
      last_refill_(now) {
  nghttp2_option* option = nullptr;
  int failed = nghttp2_option_new(&option);
  SLUICE_ASSERT(failed == 0);
  nghttp2_option_set_no_auto_window_update(option, 1);
  nghttp2_option_set_no_closed_streams(option, 1);
  nghttp2_option_set_max_outbound_ack(option, kMostAcknowledgements);
  nghttp2_option_set_max_settings(option, kMostSettings);
  nghttp2_option_set_max_continuations(option, kMostContinuationPieces);
  nghttp2_option_set_stream_reset_rate_limit(option, limits.resets, limits.resets_per_second);
  failed = nghttp2_session_server_new3(&session_, Http2Callbacks::All(), this, option,
                                       static_cast<nghttp2_mem*>(memory_->native()));
  nghttp2_option_del(option);
  SLUICE_ASSERT(failed == 0);
  const std::array<nghttp2_settings_entry, 4> settings{{
      {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, limits.streams},
      {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, limits.stream_window},
      {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, static_cast<std::uint32_t>(limits.header_bytes)},
      {NGHTTP2_SETTINGS_NO_RFC7540_PRIORITIES, 1},
  }};
  failed = nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, settings.data(), settings.size());
  SLUICE_ASSERT(failed == 0);
  failed = nghttp2_session_set_local_window_size(
      session_, NGHTTP2_FLAG_NONE, 0, static_cast<std::int32_t>(limits.connection_window));
  SLUICE_ASSERT(failed == 0);
}

Http2Session::~Http2Session() {
  nghttp2_session_del(session_);
}

bool Http2Session::Receive(std::string_view bytes, Time now) {
  if (broken_) {
    return false;
  }
  Refill(now);
  const ssize_t taken = nghttp2_session_mem_recv(
      session_, reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  broken_ = taken < 0;
  return !broken_;
}

void Http2Session::Send(std::string& out, std::size_t most) {
  while (out.size() < most) {
    const std::uint8_t* bytes = nullptr;
    const ssize_t size = nghttp2_session_mem_send(session_, &bytes);
    if (size <= 0) {
      broken_ = broken_ || size < 0;
      return;
    }
    const std::string_view frame(reinterpret_cast<const char*>(bytes),
                                 static_cast<std::size_t>(size));
    if (out.size() + frame.size() > out.capacity()) {
      out.reserve(std::max(2 * out.capacity(), RoundUp(out.size() + frame.size())));
    }
    out.append(frame);
  }
}

bool Http2Session::finished() const {
  return nghttp2_session_want_read(session_) == 0 && nghttp2_session_want_write(session_) == 0;
}

void Http2Session::Answer(Http2Stream& stream, int status, std::span<const HttpField> fields,
                          std::string_view body, bool last) {
  SLUICE_DCHECK(!stream.answered_ && status >= 200 && status <= 599);
  stream.answered_ = true;
  stream.finished_ = last;
  std::string& text = stream.answer_text_;
  std::size_t size = 3;
  for (const HttpField& field : fields) {
    size += field.name.size() + field.value.size();
  }
  text.reserve(RoundUp(size));  // It must not move after this.
  std::array<char, 8> digits{};
  std::to_chars(digits.data(), digits.data() + digits.size(), status);
  text.append(digits.data(), 3);
  Http2FieldList list;
  list.Add(":status", {text.data(), 3});
  for (const HttpField& field : fields) {
    const char* const name = text.data() + text.size();
    text.append(field.name).append(field.value);
    list.Add({name, field.name.size()}, {name + field.name.size(), field.value.size()});
  }
  stream.body_ = body;
  const nghttp2_data_provider provider{.source = {.ptr = &stream},
                                       .read_callback = Http2Callbacks::ReadBody};
  const bool has_body = !last || !body.empty();
  // It fails for closed streams; OnClosed() reports those.
  (void)nghttp2_submit_response(session_, stream.id_, list.data(), list.size(),
                                has_body ? &provider : nullptr);
}

void Http2Session::Append(Http2Stream& stream, std::string_view body) {
  SLUICE_DCHECK(stream.answered_ && !stream.finished_);
  stream.body_.erase(0, stream.sent_);
  stream.sent_ = 0;
  stream.body_ += body;
  if (std::exchange(stream.deferred_, false)) {
    (void)nghttp2_session_resume_data(session_, stream.id_);
  }
}

void Http2Session::Finish(Http2Stream& stream, std::span<const HttpField> trailers) {
  SLUICE_DCHECK(stream.answered_ && !stream.finished_);
  for (const HttpField& field : trailers) {
    const std::size_t at = stream.trailer_text_.size();
    stream.trailers_.push_back({.name = at,
                                .name_size = field.name.size(),
                                .value = at + field.name.size(),
                                .value_size = field.value.size()});
    stream.trailer_text_.append(field.name).append(field.value);
  }
  stream.finished_ = true;
  if (std::exchange(stream.deferred_, false)) {
    (void)nghttp2_session_resume_data(session_, stream.id_);
  }
}

void Http2Session::Consume(Http2Stream& stream, std::size_t size) {
  SLUICE_DCHECK(size <= stream.unconsumed_);
  stream.unconsumed_ -= size;
  (void)nghttp2_session_consume(session_, stream.id_, size);
}

void Http2Session::Shutdown(bool final) {
  if (final) {
    const std::int32_t last = nghttp2_session_get_last_proc_stream_id(session_);
    (void)nghttp2_submit_goaway(session_, NGHTTP2_FLAG_NONE, last, NGHTTP2_NO_ERROR, nullptr, 0);
  } else {
    (void)nghttp2_submit_shutdown_notice(session_);
  }
}

Http2Stream& Http2Session::Take(std::int32_t id) {
  if (free_.empty()) {
    streams_.push_back(std::make_unique<Http2Stream>());
    free_.push_back(streams_.back().get());
  }
  Http2Stream& stream = *free_.back();
  free_.pop_back();
  stream.Begin(id);
  return stream;
}

void Http2Session::Release(Http2Stream& stream) {
  free_.push_back(&stream);
}

void Http2Session::Refill(Time now) {
  if (now <= last_refill_) {
    return;
  }
  const double passed = std::chrono::duration<double>(now - last_refill_).count();
  idle_frames_left_ = std::min<double>(limits_.idle_frames,
                                       idle_frames_left_ + passed * limits_.idle_frames_per_second);
  resets_left_ =
      std::min<double>(limits_.resets, resets_left_ + passed * limits_.resets_per_second);
  last_refill_ = now;
}

void Http2Session::SpendIdleFrame() {
  idle_frames_left_ -= 1;
  if (idle_frames_left_ < 0) {
    EndCalmly();
  }
}

void Http2Session::SpendReset() {
  resets_left_ -= 1;
  if (resets_left_ < 0) {
    EndCalmly();
  }
}

void Http2Session::CountContinuation() {
  if (++continuations_ > kMostContinuations) {
    EndCalmly();
  }
}

void Http2Session::EndCalmly() {
  if (!std::exchange(ended_, true)) {
    (void)nghttp2_session_terminate_session(session_, NGHTTP2_ENHANCE_YOUR_CALM);
  }
}

}  // namespace sluice::wire
