#include "frontend/resp/throttle_reply.h"

#include <charconv>

#include "sluice/reason.h"

#include "wire/resp_writer.h"

namespace sluice::frontend::resp {

namespace {

// Every CL.THROTTLE passes here: one piece of memory, and one append.
class Line {
 public:
  void Integer(std::int64_t value) {
    *end_++ = ':';
    end_ = std::to_chars(end_, text_ + sizeof text_, value).ptr;
    *end_++ = '\r';
    *end_++ = '\n';
  }
  [[nodiscard]] std::string_view text() const {
    return {text_, static_cast<std::size_t>(end_ - text_)};
  }

 private:
  char text_[160] = "*5\r\n";  // Five numbers of at most 20 characters.
  char* end_ = text_ + 4;
};

}  // namespace

std::int64_t ThrottleSeconds(Duration wait) {
  if (wait >= Decision::kUnknown) {
    return -1;
  }
  constexpr std::int64_t kMillisecond = 1'000'000;
  const std::int64_t milliseconds = wait.count() / kMillisecond;
  return milliseconds / 1000 + (milliseconds % 1000 != 0 ? 1 : 0);
}

void AppendThrottleReply(const Decision& decision, std::string& out) {
  if (!decision.allowed) {
    const ReasonRow& row = RowOf(decision.reason);
    if (row.http_status == 503) {
      wire::RespWriter(out, wire::RespVersion::k2).Error(row.resp_error, row.name);
      return;
    }
  }
  Line line;
  line.Integer(decision.allowed ? 0 : 1);
  line.Integer(decision.limit);
  line.Integer(decision.remaining);
  line.Integer(decision.allowed ? -1 : ThrottleSeconds(decision.retry_after));
  line.Integer(ThrottleSeconds(decision.reset_after));
  out += line.text();
}

}  // namespace sluice::frontend::resp
