#include "wire/http2_session.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <utility>

#include <nghttp2/nghttp2.h>

#include "base/assert.h"

namespace sluice::wire {
namespace {

// CONTINUATION frames of one header. Ours holds 16 KiB: one frame, were it not for clients that
// cut small. nghttp2's own bound counts every piece of bytes in which one comes, so it stands
// further out: a frame's head is nine bytes.
constexpr std::size_t kMostContinuations = 8;
constexpr std::size_t kMostContinuationPieces = 16 * kMostContinuations;
// Answers to PING and SETTINGS that wait to be sent; above it the connection ends.
constexpr std::size_t kMostAcknowledgements = 500;
constexpr std::size_t kMostSettings = 32;  // Entries of one SETTINGS frame.
constexpr double kIdleFramesPerRequest = 10;
// Memory of an unusually large request or answer is not kept for the next one.
constexpr std::size_t kMostTextKept = 32 * 1024;
// Headers above their limit by so much are not read to their end any more.
constexpr std::size_t kHopelesslyLarge = 8;

void Shrink(std::string& text) {
  text.clear();
  if (text.capacity() > kMostTextKept) {
    text.shrink_to_fit();
  }
}

std::uint8_t* Bytes(const char* text) {
  return reinterpret_cast<std::uint8_t*>(const_cast<char*>(text));
}

nghttp2_nv Field(const char* name, std::size_t name_size, const char* value,
                 std::size_t value_size) {
  return {.name = Bytes(name),
          .value = Bytes(value),
          .namelen = name_size,
          .valuelen = value_size,
          .flags = NGHTTP2_NV_FLAG_NO_COPY_NAME | NGHTTP2_NV_FLAG_NO_COPY_VALUE};
}

// Most answers have fewer; more are cut off, which ours never are.
constexpr std::size_t kMostFieldsSent = 64;

struct FieldList {
  std::array<nghttp2_nv, kMostFieldsSent> all;
  std::size_t size = 0;
};

}  // namespace

void Http2Stream::Begin(std::int32_t id) {
  context = nullptr;
  id_ = id;
  request_.method = HttpMethod::kOther;
  request_.method_text = {};
  request_.target = {};
  request_.path = {};
  request_.query = {};
  request_.fields.clear();
  fault_ = Http2Fault::kNone;
  Shrink(text_);
  extents_.clear();
  header_bytes_ = 0;
  header_done_ = false;
  request_done_ = false;
  unconsumed_ = 0;
  Shrink(answer_text_);
  Shrink(trailer_text_);
  trailers_.clear();
  Shrink(body_);
  sent_ = 0;
  answered_ = false;
  finished_ = false;
  deferred_ = false;
}

void Http2Stream::AddField(std::string_view name, std::string_view value,
                           const Http2Limits& limits) {
  constexpr std::size_t kOverhead = 32;
  constexpr std::size_t kPseudoFields = 4;
  header_bytes_ += name.size() + value.size() + kOverhead;
  if (header_bytes_ > limits.header_bytes || extents_.size() >= limits.fields + kPseudoFields) {
    fault_ = Http2Fault::kHeaderTooLarge;
    return;
  }
  extents_.push_back({.name = text_.size(),
                      .name_size = name.size(),
                      .value = text_.size() + name.size(),
                      .value_size = value.size()});
  text_.append(name).append(value);
}

void Http2Stream::FinishHeader() {
  header_done_ = true;
  const std::string_view text = text_;
  for (const Extent& extent : extents_) {
    const std::string_view name = text.substr(extent.name, extent.name_size);
    const std::string_view value = text.substr(extent.value, extent.value_size);
    if (!name.starts_with(':')) {
      request_.fields.push_back({name, value});
    } else if (name == ":method") {
      request_.method_text = value;
      request_.method = MethodOf(value);
    } else if (name == ":path") {
      request_.target = value;
    } else if (name == ":authority") {
      request_.fields.push_back({"host", value});
    }
  }
  if (!SplitTarget(request_) && fault_ == Http2Fault::kNone) {
    fault_ = Http2Fault::kBadTarget;
  }
}

// nghttp2's calls, as calls of the session and its user.
struct Http2Callbacks {
  static Http2Session& SessionOf(void* user) { return *static_cast<Http2Session*>(user); }
  static Http2Stream* StreamOf(nghttp2_session* session, std::int32_t id) {
    return static_cast<Http2Stream*>(nghttp2_session_get_stream_user_data(session, id));
  }

  static int OnBeginFrame(nghttp2_session*, const nghttp2_frame_hd* header, void* user) {
    switch (header->type) {
      case NGHTTP2_HEADERS:
        break;
      case NGHTTP2_CONTINUATION:
        SessionOf(user).CountContinuation();
        break;
      case NGHTTP2_RST_STREAM:
        SessionOf(user).SpendReset();
        break;
      case NGHTTP2_DATA:
        if (header->length == 0 && (header->flags & NGHTTP2_FLAG_END_STREAM) == 0) {
          SessionOf(user).SpendIdleFrame();
        }
        break;
      default:
        SessionOf(user).SpendIdleFrame();
    }
    return 0;
  }

  static int OnBeginHeaders(nghttp2_session* native, const nghttp2_frame* frame, void* user) {
    Http2Session& session = SessionOf(user);
    session.in_header_ = true;
    session.continuations_ = 0;
    ++session.headers_;
    if (!session.ended_ && frame->headers.cat == NGHTTP2_HCAT_REQUEST) {
      const std::int32_t id = frame->hd.stream_id;
      nghttp2_session_set_stream_user_data(native, id, &session.Take(id));
    }
    return 0;
  }

  static int OnHeader(nghttp2_session* native, const nghttp2_frame* frame, const std::uint8_t* name,
                      std::size_t name_size, const std::uint8_t* value, std::size_t value_size,
                      std::uint8_t, void* user) {
    Http2Stream* const stream = StreamOf(native, frame->hd.stream_id);
    if (stream == nullptr || stream->header_done_) {
      return 0;  // A trailer.
    }
    const Http2Limits& limits = SessionOf(user).limits_;
    stream->AddField({reinterpret_cast<const char*>(name), name_size},
                     {reinterpret_cast<const char*>(value), value_size}, limits);
    return stream->header_bytes_ > kHopelesslyLarge * limits.header_bytes
               ? NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE  // The stream is reset.
               : 0;
  }

  static int OnFrame(nghttp2_session* native, const nghttp2_frame* frame, void* user) {
    Http2Session& session = SessionOf(user);
    if (frame->hd.type != NGHTTP2_HEADERS && frame->hd.type != NGHTTP2_DATA) {
      return 0;
    }
    if (frame->hd.type == NGHTTP2_HEADERS) {
      session.in_header_ = false;
    }
    Http2Stream* const stream = StreamOf(native, frame->hd.stream_id);
    if (stream == nullptr) {
      return 0;
    }
    const bool last = (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;
    stream->request_done_ = last;
    if (!stream->header_done_) {
      session.idle_frames_left_ = std::min(session.idle_frames_left_ + kIdleFramesPerRequest,
                                           static_cast<double>(session.limits_.idle_frames));
      stream->FinishHeader();
      ++session.open_;
      session.user_.OnHeader(*stream, last);
    } else if (last) {
      session.user_.OnEnd(*stream);
    }
    return 0;
  }

  static int OnData(nghttp2_session* native, std::uint8_t, std::int32_t id,
                    const std::uint8_t* bytes, std::size_t size, void* user) {
    Http2Stream* const stream = StreamOf(native, id);
    if (stream == nullptr) {
      return nghttp2_session_consume(native, id, size);
    }
    stream->unconsumed_ += size;
    SessionOf(user).user_.OnBody(*stream, {reinterpret_cast<const char*>(bytes), size});
    return 0;
  }

  static int OnStreamClose(nghttp2_session* native, std::int32_t id, std::uint32_t, void* user) {
    Http2Session& session = SessionOf(user);
    Http2Stream* const stream = StreamOf(native, id);
    if (stream == nullptr) {
      return 0;
    }
    if (stream->header_done_) {
      --session.open_;
      session.user_.OnClosed(*stream);
    } else {
      session.in_header_ = false;
    }
    if (stream->unconsumed_ > 0) {
      nghttp2_session_consume_connection(native, stream->unconsumed_);
    }
    session.Release(*stream);
    return 0;
  }

  // The answer is whole: a client that still sends its request need not go on.
  static int OnSent(nghttp2_session* native, const nghttp2_frame* frame, void*) {
    if ((frame->hd.type == NGHTTP2_HEADERS || frame->hd.type == NGHTTP2_DATA) &&
        (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0) {
      const Http2Stream* const stream = StreamOf(native, frame->hd.stream_id);
      if (stream != nullptr && !stream->request_done_) {
        nghttp2_submit_rst_stream(native, NGHTTP2_FLAG_NONE, frame->hd.stream_id, NGHTTP2_NO_ERROR);
      }
    }
    return 0;
  }

  static ssize_t ReadBody(nghttp2_session* native, std::int32_t id, std::uint8_t* into,
                          std::size_t size, std::uint32_t* flags, nghttp2_data_source* source,
                          void*) {
    Http2Stream& stream = *static_cast<Http2Stream*>(source->ptr);
    const std::size_t taken = std::min(size, stream.body_.size() - stream.sent_);
    std::memcpy(into, stream.body_.data() + stream.sent_, taken);
    stream.sent_ += taken;
    if (stream.sent_ == stream.body_.size()) {
      if (stream.finished_) {
        *flags |= NGHTTP2_DATA_FLAG_EOF;
        if (!stream.trailers_.empty()) {
          *flags |= NGHTTP2_DATA_FLAG_NO_END_STREAM;
          SubmitTrailers(native, id, stream);
        }
      } else if (taken == 0) {
        stream.deferred_ = true;
        return NGHTTP2_ERR_DEFERRED;
      }
    }
    return static_cast<ssize_t>(taken);
  }

  static void SubmitTrailers(nghttp2_session* native, std::int32_t id, const Http2Stream& stream) {
    FieldList list;
    for (const auto& extent : stream.trailers_) {
      list.all[list.size++] = Field(stream.trailer_text_.data() + extent.name, extent.name_size,
                                    stream.trailer_text_.data() + extent.value, extent.value_size);
    }
    nghttp2_submit_trailer(native, id, list.all.data(), list.size);
  }

  // The same for all sessions; immutable.
  static const nghttp2_session_callbacks* All() {
    static const nghttp2_session_callbacks* const all = [] {
      nghttp2_session_callbacks* made = nullptr;
      const int failed = nghttp2_session_callbacks_new(&made);
      SLUICE_ASSERT(failed == 0);
      nghttp2_session_callbacks_set_on_begin_frame_callback(made, OnBeginFrame);
      nghttp2_session_callbacks_set_on_begin_headers_callback(made, OnBeginHeaders);
      nghttp2_session_callbacks_set_on_header_callback(made, OnHeader);
      nghttp2_session_callbacks_set_on_frame_recv_callback(made, OnFrame);
      nghttp2_session_callbacks_set_on_data_chunk_recv_callback(made, OnData);
      nghttp2_session_callbacks_set_on_stream_close_callback(made, OnStreamClose);
      nghttp2_session_callbacks_set_on_frame_send_callback(made, OnSent);
      return made;
    }();
    return all;
  }
};

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
    out.append(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size));
  }
}

bool Http2Session::finished() const {
  return nghttp2_session_want_read(session_) == 0 && nghttp2_session_want_write(session_) == 0;
}

bool Http2Session::wants_to_send() const {
  return nghttp2_session_want_write(session_) != 0;
}

void Http2Session::Answer(Http2Stream& stream, int status, std::span<const HttpField> fields,
                          std::string_view body, bool last) {
  SLUICE_DCHECK(!stream.answered_ && status >= 200 && status <= 599);
  constexpr std::string_view kStatus = ":status";
  stream.answered_ = true;
  stream.finished_ = last;
  std::string& text = stream.answer_text_;
  std::size_t size = 3;
  for (const HttpField& field : fields) {
    size += field.name.size() + field.value.size();
  }
  text.reserve(size);  // It must not move any more.
  std::array<char, 8> digits{};
  std::to_chars(digits.data(), digits.data() + digits.size(), status);
  text.append(digits.data(), 3);
  FieldList list;
  list.all[list.size++] = Field(kStatus.data(), kStatus.size(), text.data(), 3);
  for (const HttpField& field : fields.first(std::min(fields.size(), kMostFieldsSent - 1))) {
    const std::size_t at = text.size();
    text.append(field.name).append(field.value);
    list.all[list.size++] = Field(text.data() + at, field.name.size(),
                                  text.data() + at + field.name.size(), field.value.size());
  }
  stream.body_ = body;
  const nghttp2_data_provider provider{.source = {.ptr = &stream},
                                       .read_callback = Http2Callbacks::ReadBody};
  const bool has_body = !last || !body.empty();
  // It fails for streams that are gone; OnClosed() has said so or will.
  (void)nghttp2_submit_response(session_, stream.id_, list.all.data(), list.size,
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
  for (const HttpField& field : trailers.first(std::min(trailers.size(), kMostFieldsSent))) {
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

void Http2Session::Reset(Http2Stream& stream, std::uint32_t code) {
  (void)nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, stream.id_, code);
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
