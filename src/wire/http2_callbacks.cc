#include "wire/http2_callbacks.h"

#include <algorithm>
#include <string_view>

#include "base/assert.h"

namespace sluice::wire {
namespace {

// Each request permits this many more idle frames.
constexpr double kIdleFramesPerRequest = 10;
// A header that exceeds its limit by this much is not read to its end.
constexpr std::size_t kHopelesslyLarge = 8;

}  // namespace

int Http2Callbacks::OnBeginFrame(nghttp2_session*, const nghttp2_frame_hd* header, void* user) {
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

int Http2Callbacks::OnBeginHeaders(nghttp2_session* native, const nghttp2_frame* frame,
                                   void* user) {
  Http2Session& session = SessionOf(user);
  if (session.left_ && frame->headers.cat == NGHTTP2_HCAT_REQUEST) {
    return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;  // The stream is reset.
  }
  session.in_header_ = true;
  session.continuations_ = 0;
  ++session.headers_;
  if (!session.ended_ && frame->headers.cat == NGHTTP2_HCAT_REQUEST) {
    const std::int32_t id = frame->hd.stream_id;
    nghttp2_session_set_stream_user_data(native, id, &session.Take(id));
  }
  return 0;
}

int Http2Callbacks::OnHeader(nghttp2_session* native, const nghttp2_frame* frame,
                             const std::uint8_t* name, std::size_t name_size,
                             const std::uint8_t* value, std::size_t value_size, std::uint8_t,
                             void* user) {
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

int Http2Callbacks::OnFrame(nghttp2_session* native, const nghttp2_frame* frame, void* user) {
  Http2Session& session = SessionOf(user);
  session.left_ |= frame->hd.type == NGHTTP2_GOAWAY;
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

int Http2Callbacks::OnData(nghttp2_session* native, std::uint8_t, std::int32_t id,
                           const std::uint8_t* bytes, std::size_t size, void* user) {
  Http2Stream* const stream = StreamOf(native, id);
  if (stream == nullptr) {
    return nghttp2_session_consume(native, id, size);
  }
  stream->unconsumed_ += size;
  SessionOf(user).user_.OnBody(*stream, {reinterpret_cast<const char*>(bytes), size});
  return 0;
}

int Http2Callbacks::OnStreamClose(nghttp2_session* native, std::int32_t id, std::uint32_t,
                                  void* user) {
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

// The answer is complete: a client that is still sending its request need not continue.
//
// If we reset a stream because of what the client sent on it (a window that overflows, an
// unexpected frame), that is like a reset by the client: the store still decides the request
// (MadeYouReset, CVE-2025-8671). Both use the same budget. Streams above the limit of concurrent
// ones do not count, because they never began, and neither do streams with a complete answer.
int Http2Callbacks::OnSent(nghttp2_session* native, const nghttp2_frame* frame, void* user) {
  if (frame->hd.type == NGHTTP2_RST_STREAM && frame->rst_stream.error_code != NGHTTP2_NO_ERROR &&
      frame->rst_stream.error_code != NGHTTP2_REFUSED_STREAM) {
    SessionOf(user).SpendReset();
  }
  if ((frame->hd.type == NGHTTP2_HEADERS || frame->hd.type == NGHTTP2_DATA) &&
      (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0) {
    const Http2Stream* const stream = StreamOf(native, frame->hd.stream_id);
    if (stream != nullptr && !stream->request_done_) {
      nghttp2_submit_rst_stream(native, NGHTTP2_FLAG_NONE, frame->hd.stream_id, NGHTTP2_NO_ERROR);
    }
  }
  return 0;
}

ssize_t Http2Callbacks::ReadBody(nghttp2_session* native, std::int32_t id, std::uint8_t* into,
                                 std::size_t size, std::uint32_t* flags,
                                 nghttp2_data_source* source, void*) {
  Http2Stream& stream = *static_cast<Http2Stream*>(source->ptr);
  const std::size_t taken = std::min(size, stream.body_.size() - stream.sent_);
  std::copy_n(stream.body_.data() + stream.sent_, taken, into);
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

void Http2Callbacks::SubmitTrailers(nghttp2_session* native, std::int32_t id,
                                    const Http2Stream& stream) {
  const std::string_view text = stream.trailer_text_;
  Http2FieldList list;
  for (const Http2Stream::Extent& extent : stream.trailers_) {
    list.Add(text.substr(extent.name, extent.name_size),
             text.substr(extent.value, extent.value_size));
  }
  nghttp2_submit_trailer(native, id, list.data(), list.size());
}

const nghttp2_session_callbacks* Http2Callbacks::All() {
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

}  // namespace sluice::wire
