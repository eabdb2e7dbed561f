#pragma once

#include <cstddef>
#include <cstdint>

#include <nghttp2/nghttp2.h>

#include "wire/http2_session.h"

namespace sluice::wire {

// nghttp2's calls, as calls of the session and its user.
struct Http2Callbacks {
  // The same for all sessions; immutable.
  static const nghttp2_session_callbacks* All();

  // What is left of the answer's body of the stream that `source` points to.
  static ssize_t ReadBody(nghttp2_session* native, std::int32_t id, std::uint8_t* into,
                          std::size_t size, std::uint32_t* flags, nghttp2_data_source* source,
                          void* user);

 private:
  static Http2Session& SessionOf(void* user) { return *static_cast<Http2Session*>(user); }
  static Http2Stream* StreamOf(nghttp2_session* session, std::int32_t id) {
    return static_cast<Http2Stream*>(nghttp2_session_get_stream_user_data(session, id));
  }

  static int OnBeginFrame(nghttp2_session* native, const nghttp2_frame_hd* header, void* user);
  static int OnBeginHeaders(nghttp2_session* native, const nghttp2_frame* frame, void* user);
  static int OnHeader(nghttp2_session* native, const nghttp2_frame* frame, const std::uint8_t* name,
                      std::size_t name_size, const std::uint8_t* value, std::size_t value_size,
                      std::uint8_t flags, void* user);
  static int OnFrame(nghttp2_session* native, const nghttp2_frame* frame, void* user);
  static int OnData(nghttp2_session* native, std::uint8_t flags, std::int32_t id,
                    const std::uint8_t* bytes, std::size_t size, void* user);
  static int OnStreamClose(nghttp2_session* native, std::int32_t id, std::uint32_t code,
                           void* user);
  static int OnSent(nghttp2_session* native, const nghttp2_frame* frame, void* user);
  static void SubmitTrailers(nghttp2_session* native, std::int32_t id, const Http2Stream& stream);
};

}  // namespace sluice::wire
