#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <nghttp2/nghttp2.h>

#include "wire/http2_session.h"

namespace sluice::wire {

// The fields of a header or of trailers, for nghttp2. Views: the texts must stay where they are
// until they are sent.
// NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): only the first size() are read.
class Http2FieldList {
 public:
  // More fields are dropped. Our answers have fewer.
  static constexpr std::size_t kMost = 64;

  void Add(std::string_view name, std::string_view value) {
    if (size_ < kMost) {
      fields_[size_++] = {.name = Bytes(name),
                          .value = Bytes(value),
                          .namelen = name.size(),
                          .valuelen = value.size(),
                          .flags = NGHTTP2_NV_FLAG_NO_COPY_NAME | NGHTTP2_NV_FLAG_NO_COPY_VALUE};
    }
  }

  [[nodiscard]] const nghttp2_nv* data() const { return fields_.data(); }
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  static std::uint8_t* Bytes(std::string_view text) {
    return reinterpret_cast<std::uint8_t*>(const_cast<char*>(text.data()));
  }

  std::array<nghttp2_nv, kMost> fields_;
  std::size_t size_ = 0;
};

// Translates nghttp2's callbacks into calls of the session and its user.
struct Http2Callbacks {
  // The same for all sessions; immutable.
  static const nghttp2_session_callbacks* All();

  // Reads the rest of the answer's body of the stream that `source` points to.
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
