// Any stream of bytes behind the preface: the session ends, stays within its limits, tells each
// stream's life in order, and says the same however the stream is cut. The first byte says how; the
// second how streams are answered.

#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "wire/http2_session.h"

namespace {

using sluice::wire::Http2Fault;
using sluice::wire::Http2Limits;
using sluice::wire::Http2Memory;
using sluice::wire::Http2Session;
using sluice::wire::Http2Stream;
using sluice::wire::Http2User;
using sluice::wire::HttpField;

constexpr Http2Limits kLimits{.streams = 4,
                              .header_bytes = 512,
                              .fields = 8,
                              .stream_window = 256,
                              .connection_window = 65535,
                              .idle_frames = 20,
                              .idle_frames_per_second = 1,
                              .resets = 8,
                              .resets_per_second = 1};

void Check(bool condition) {
  if (!condition) {
    std::abort();
  }
}

class User final : public Http2User {
 public:
  explicit User(std::uint8_t manner) : manner_(manner) {}

  void OnHeader(Http2Stream& stream, bool whole) noexcept override {
    Check(bodies_.try_emplace(&stream).second);
    Check(bodies_.size() <= kLimits.streams);
    const auto& request = stream.request();
    Check(stream.fault() != Http2Fault::kNone || request.fields.size() <= kLimits.fields + 4);
    Check(request.path.empty() || request.path.front() == '/' || request.path == "*");
    told.append(request.method_text).append(" ").append(request.target).append("\n");
    for (const HttpField& field : request.fields) {
      told.append(field.name).append(":").append(field.value).append("\n");
    }
    if (whole) {
      Answer(stream);
    }
  }
  void OnBody(Http2Stream& stream, std::string_view bytes) noexcept override {
    Check(bodies_.contains(&stream));
    session->Consume(stream, bytes.size());
    if ((manner_ & 1U) != 0 && !stream.answered()) {
      session->Answer(stream, 413, {}, "no");
    }
  }
  void OnEnd(Http2Stream& stream) noexcept override {
    Check(bodies_.contains(&stream));
    if (!stream.answered()) {
      Answer(stream);
    }
  }
  void OnClosed(Http2Stream& stream) noexcept override { Check(bodies_.erase(&stream) == 1); }

  Http2Session* session = nullptr;
  std::string told;

 private:
  void Answer(Http2Stream& stream) {
    const std::vector<HttpField> fields{{"x-field", "value"}};
    if ((manner_ & 2U) != 0) {
      session->Answer(stream, 200, fields, "body", /*last=*/false);
      session->Append(stream, "more");
      session->Finish(stream, fields);
    } else {
      session->Answer(stream, 200, fields, std::string(300, 'b'));
    }
  }

  const std::uint8_t manner_;
  std::map<Http2Stream*, int> bodies_;
};

std::string Feed(std::string_view stream, std::size_t piece, std::uint8_t manner) {
  const auto memory = std::make_shared<Http2Memory>();
  User user(manner);
  const Http2Session::Time now{};
  Http2Session session(user, memory, kLimits, now);
  user.session = &session;
  (void)session.Receive(sluice::wire::kHttp2Preface, now);
  while (!stream.empty()) {
    const std::string_view part = stream.substr(0, piece);
    stream.remove_prefix(part.size());
    if (!session.Receive(part, now)) {
      break;
    }
    Check(session.open() <= kLimits.streams);
  }
  std::string out;
  session.Send(out, 1 << 16);
  Check(out.size() <= (1U << 16) + (1U << 15));
  return user.told;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) {
    return 0;
  }
  const std::string_view stream(reinterpret_cast<const char*>(data) + 2, size - 2);
  const std::string whole = Feed(stream, stream.size() + 1, data[1]);
  Check(Feed(stream, 1, data[1]) == whole);
  Check(Feed(stream, 2U + data[0], data[1]) == whole);
  return 0;
}
