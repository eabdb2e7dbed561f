#include "support/http2_client.h"

#include <algorithm>
#include <cstdlib>

#include <nghttp2/nghttp2.h>

namespace sluice::support {

struct Http2ClientCalls {
  static Http2Client& Of(void* user) { return *static_cast<Http2Client*>(user); }

  static int OnHeader(nghttp2_session*, const nghttp2_frame* frame, const std::uint8_t* name,
                      std::size_t name_size, const std::uint8_t* value, std::size_t value_size,
                      std::uint8_t, void* user) {
    const std::string key(reinterpret_cast<const char*>(name), name_size);
    const std::string text(reinterpret_cast<const char*>(value), value_size);
    Http2Client::Answer& answer = Of(user).answers[frame->hd.stream_id];
    if (key == ":status") {
      answer.status = std::atoi(text.c_str());
    } else if (frame->headers.cat == NGHTTP2_HCAT_HEADERS) {
      answer.trailers[key] = text;
    } else {
      answer.fields[key] = text;
    }
    return 0;
  }

  static int OnFrame(nghttp2_session* session, const nghttp2_frame* frame, void* user) {
    Http2Client& client = Of(user);
    switch (frame->hd.type) {
      case NGHTTP2_HEADERS:
      case NGHTTP2_DATA:
        if ((frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0) {
          client.answers[frame->hd.stream_id].ended = true;
        }
        break;
      case NGHTTP2_GOAWAY:
        ++client.goaways;
        client.goaway_code = frame->goaway.error_code;
        break;
      case NGHTTP2_PING:
        client.pings += (frame->hd.flags & NGHTTP2_FLAG_ACK) != 0 ? 1 : 0;
        break;
      case NGHTTP2_SETTINGS:
        client.most_streams =
            nghttp2_session_get_remote_settings(session, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS);
        break;
      default:
        break;
    }
    return 0;
  }

  static int OnData(nghttp2_session*, std::uint8_t, std::int32_t id, const std::uint8_t* bytes,
                    std::size_t size, void* user) {
    Of(user).answers[id].body.append(reinterpret_cast<const char*>(bytes), size);
    return 0;
  }

  static int OnClose(nghttp2_session*, std::int32_t id, std::uint32_t code, void* user) {
    Of(user).answers[id].closed = true;
    Of(user).answers[id].code = code;
    return 0;
  }

  static ssize_t ReadBody(nghttp2_session*, std::int32_t id, std::uint8_t* into, std::size_t size,
                          std::uint32_t* flags, nghttp2_data_source*, void* user) {
    Http2Client::Body& body = Of(user).bodies_[id];
    const std::size_t taken = std::min(size, body.bytes.size());
    std::copy_n(body.bytes.data(), taken, into);
    body.bytes.erase(0, taken);
    if (body.bytes.empty() && body.ended) {
      *flags |= NGHTTP2_DATA_FLAG_EOF;
    } else if (taken == 0) {
      return NGHTTP2_ERR_DEFERRED;
    }
    return static_cast<ssize_t>(taken);
  }
};

Http2Client::Http2Client() {
  nghttp2_session_callbacks* calls = nullptr;
  nghttp2_session_callbacks_new(&calls);
  nghttp2_session_callbacks_set_on_header_callback(calls, Http2ClientCalls::OnHeader);
  nghttp2_session_callbacks_set_on_frame_recv_callback(calls, Http2ClientCalls::OnFrame);
  nghttp2_session_callbacks_set_on_data_chunk_recv_callback(calls, Http2ClientCalls::OnData);
  nghttp2_session_callbacks_set_on_stream_close_callback(calls, Http2ClientCalls::OnClose);
  nghttp2_session_client_new(&session_, calls, this);
  nghttp2_session_callbacks_del(calls);
  nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, nullptr, 0);
}

Http2Client::~Http2Client() {
  nghttp2_session_del(session_);
}

std::int32_t Http2Client::Ask(const std::string& method, const std::string& path,
                              const std::string& body, const Fields& fields, bool more) {
  Fields all{{":method", method}, {":scheme", "http"}, {":authority", "host"}, {":path", path}};
  all.insert(all.end(), fields.begin(), fields.end());
  std::vector<nghttp2_nv> list;
  for (auto& [name, value] : all) {
    list.push_back({.name = reinterpret_cast<std::uint8_t*>(name.data()),
                    .value = reinterpret_cast<std::uint8_t*>(value.data()),
                    .namelen = name.size(),
                    .valuelen = value.size(),
                    .flags = NGHTTP2_NV_FLAG_NONE});
  }
  const nghttp2_data_provider provider{.source = {}, .read_callback = Http2ClientCalls::ReadBody};
  const bool has_body = more || !body.empty();
  const std::int32_t stream = nghttp2_submit_request(session_, nullptr, list.data(), list.size(),
                                                     has_body ? &provider : nullptr, nullptr);
  bodies_[stream] = {.bytes = body, .ended = !more};
  return stream;
}

void Http2Client::EndBody(std::int32_t stream, const std::string& rest) {
  bodies_[stream].bytes += rest;
  bodies_[stream].ended = true;
  nghttp2_session_resume_data(session_, stream);
}

void Http2Client::Reset(std::int32_t stream, std::uint32_t code) {
  nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, stream, code);
}

void Http2Client::Ping() {
  nghttp2_submit_ping(session_, NGHTTP2_FLAG_NONE, nullptr);
}

std::string Http2Client::Output() {
  std::string out;
  const std::uint8_t* bytes = nullptr;
  for (ssize_t size = 0; (size = nghttp2_session_mem_send(session_, &bytes)) > 0;) {
    out.append(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size));
  }
  return out;
}

bool Http2Client::Input(std::string_view bytes) {
  return nghttp2_session_mem_recv(session_, reinterpret_cast<const std::uint8_t*>(bytes.data()),
                                  bytes.size()) >= 0;
}

std::string Http2Frame(std::uint8_t type, std::uint8_t flags, std::uint32_t stream,
                       std::string_view payload) {
  std::string frame;
  const auto size = static_cast<std::uint32_t>(payload.size());
  for (const std::uint32_t byte :
       {size >> 16, size >> 8, size, std::uint32_t{type}, std::uint32_t{flags}, stream >> 24,
        stream >> 16, stream >> 8, stream}) {
    frame += static_cast<char>(byte & 0xFFU);
  }
  return frame.append(payload);
}

}  // namespace sluice::support
