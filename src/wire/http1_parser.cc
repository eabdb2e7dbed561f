#include "wire/http1_parser.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <functional>

#include "wire/ascii.h"
#include "wire/http1_response.h"

namespace sluice::wire {
namespace {

constexpr std::size_t kKeptBytes = 64 * 1024;  // For an empty buffer.
constexpr int kMaxEmptyLines = 4;

// 0 if the request line ends in HTTP/1.x, otherwise the status of the refusal.
int JudgeVersion(std::string_view line) {
  const std::size_t space = line.rfind(' ');
  if (space == std::string_view::npos) {
    return 400;
  }
  const std::string_view version = line.substr(space + 1);
  if (version == "HTTP/1.1" || version == "HTTP/1.0") {
    return 0;
  }
  const bool other_version = version.size() == 8 && version.starts_with("HTTP/") &&
                             IsDigit(version[5]) && version[6] == '.' && IsDigit(version[7]);
  return other_version ? 505 : 400;
}

// The bytes of a target, and those of a host and port. A table, because single comparisons were
// measurably slower.
constexpr std::array<bool, 256> PrintableBut(std::string_view excluded) {
  std::array<bool, 256> bytes{};
  std::fill(bytes.begin() + 0x21, bytes.begin() + 0x7f, true);
  for (const char c : excluded) {
    bytes[static_cast<unsigned char>(c)] = false;
  }
  return bytes;
}
constexpr std::array<bool, 256> kHostBytes = PrintableBut("/?#@,\\<>\"");

bool IsMadeOf(std::string_view text, const std::array<bool, 256>& bytes) {
  return std::ranges::all_of(text, [&](char c) { return bytes[static_cast<unsigned char>(c)]; });
}

// Digits only, at most 15 of them.
bool ReadLength(std::string_view text, std::size_t& length) {
  if (text.empty() || text.size() > 15) {
    return false;
  }
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), length);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

Http1Parser::Http1Parser(const Http1Limits& limits) : limits_(limits) {
  request_.fields.reserve(16);
}

std::span<char> Http1Parser::Prepare(std::size_t size) {
  if (phase() == Phase::kIdle) {
    buffer_.ShrinkIfIdle(kKeptBytes);
    chunks_.Start(limits_.body_bytes);
  }
  return buffer_.Prepare(size);
}

Http1Parser::Event Http1Parser::Fail(int status, std::string_view detail) {
  state_ = State::kFailed;
  error_ = {.status = status, .title = StatusPhrase(status), .detail = detail};
  return Event::kError;
}

Http1Parser::Phase Http1Parser::phase() const {
  if (state_ != State::kHeader) {
    return Phase::kBody;
  }
  return buffer_.Data().size() == used_ ? Phase::kIdle : Phase::kHeader;
}

Http1Parser::Event Http1Parser::Next() {
  if (used_ != 0) {
    buffer_.Consume(used_);
    used_ = 0;
  }
  switch (state_) {
    case State::kHeader:
      return NextHeader();
    case State::kLengthBody:
    case State::kChunkedBody:
      return NextBody();
    case State::kFailed:
      break;
  }
  return Event::kError;
}

// Finds the end of the header line by line, because each byte is then examined once even if the
// header arrives in many pieces: scanned_ remembers how far the search for a line feed has come,
// line_ where the current line begins. Each line is checked for CR LF as it arrives, so a bare line
// feed is refused at once and cannot end the header in another place than for a proxy in front.
// Only a complete header is parsed, in a second pass.
Http1Parser::Event Http1Parser::NextHeader() {
  std::string_view data = buffer_.Data();
  for (;;) {
    const std::size_t line_feed = data.find('\n', scanned_);
    if (line_feed == std::string_view::npos) {
      scanned_ = data.size();
      if (data.size() > limits_.header_bytes) {
        return line_ == 0 ? Fail(414, "the request line is too long")
                          : Fail(431, "the header is too long");
      }
      return Event::kNeedMore;
    }
    if (line_feed == line_ || data[line_feed - 1] != '\r') {
      return Fail(400, "a line of the header does not end in CR LF");
    }
    const std::string_view line = data.substr(line_, line_feed - 1 - line_);
    if (line.empty() && line_ == 0) {
      // Some old clients send an extra empty line after a body (RFC 9112, 2.2).
      if (++empty_lines_ > kMaxEmptyLines) {
        return Fail(400, "empty lines precede the request line");
      }
      buffer_.Consume(2);
      scanned_ = 0;
      data = buffer_.Data();
      continue;
    }
    if (line_ == 0) {
      if (const int status = JudgeVersion(line); status != 0) {
        return Fail(status, "the request line does not end in HTTP/1.1 or HTTP/1.0");
      }
    }
    line_ = line_feed + 1;
    scanned_ = line_;
    if (line.empty()) {
      break;
    }
  }

  const std::size_t size = line_;
  line_ = 0;
  scanned_ = 0;
  empty_lines_ = 0;
  if (size > limits_.header_bytes) {
    return Fail(431, "the header is too long");
  }
  const std::string_view block = data.substr(0, size);
  Http1HeaderReader header(request_, limits_.fields);
  request_.body = {};
  if (!header.Read(block)) {
    return header.too_many_fields()
               ? Fail(431, "the header has too many fields")
               : Fail(400,
                      "the request line or a header field is malformed (folded lines and "
                      "control characters are refused)");
  }
  if (Refuse(header) == Event::kError) {
    return Event::kError;
  }
  const bool chunked = header.transfer_encoding().count != 0;
  if (!chunked && data.size() - size >= body_size_) {
    // The whole request has arrived: no byte is copied.
    GiveOut(data.substr(size, body_size_), size + body_size_);
    return Event::kRequest;
  }
  KeepHeader(block);
  buffer_.Consume(size);
  if (chunked) {
    chunks_.Start(limits_.body_bytes);
  }
  state_ = chunked ? State::kChunkedBody : State::kLengthBody;
  return NextBody();
}

// Evaluates the header fields that define the message's end and the connection's.
Http1Parser::Event Http1Parser::Refuse(const Http1HeaderReader& header) {
  if (request_.target.size() > limits_.target_bytes) {
    return Fail(414, "the request target is too long");
  }
  if (!SplitTarget(request_)) {
    return Fail(400, "the request target has bytes that are not allowed in a URI");
  }
  if (header.host().count > 1 || (header.host().count == 0 && request_.minor_version == 1)) {
    return Fail(400, "a request must have exactly one Host field");
  }
  if (!IsMadeOf(header.host().value, kHostBytes)) {
    return Fail(400, "the Host field is malformed");
  }
  body_size_ = 0;
  continue_wanted_ = false;
  if (header.transfer_encoding().count != 0) {
    if (header.content_length().count != 0) {
      return Fail(400, "a request cannot have both Content-Length and Transfer-Encoding");
    }
    if (request_.minor_version == 0) {
      return Fail(400, "HTTP/1.0 has no Transfer-Encoding");
    }
    if (header.transfer_encoding().count > 1) {
      return Fail(400, "Transfer-Encoding is given more than once");
    }
    if (!EqualsIgnoreCase(header.transfer_encoding().value, "chunked")) {
      return Fail(501, "only the transfer coding chunked is supported");
    }
  }
  if (header.content_length().count > 1) {
    return Fail(400, "Content-Length is given more than once");
  }
  if (header.content_length().count == 1) {
    if (!ReadLength(header.content_length().value, body_size_)) {
      return Fail(400, "Content-Length is not a number");
    }
    if (body_size_ > limits_.body_bytes) {
      return Fail(413, "the body is too large");
    }
  }
  if (header.expect().count != 0) {
    if (!EqualsIgnoreCase(header.expect().value, "100-continue")) {
      return Fail(417, "only the expectation 100-continue is supported");
    }
    continue_wanted_ = request_.minor_version == 1;  // RFC 9110, 10.1.1: ignored in 1.0.
  }
  return Event::kNeedMore;
}

Http1Parser::Event Http1Parser::NextBody() {
  const std::string_view data = buffer_.Data();
  if (state_ == State::kLengthBody) {
    if (data.size() >= body_size_) {
      GiveOut(data.substr(0, body_size_), body_size_);
      return Event::kRequest;
    }
  } else {
    std::size_t used = 0;
    const ChunkedBody::Outcome outcome = chunks_.Take(data, used);
    buffer_.Consume(used);
    switch (outcome) {
      case ChunkedBody::Outcome::kDone:
        GiveOut(chunks_.body(), 0);
        return Event::kRequest;
      case ChunkedBody::Outcome::kMalformed:
        return Fail(400, "the chunks of the body are malformed");
      case ChunkedBody::Outcome::kTooLarge:
        return Fail(413, "the body is too large");
      case ChunkedBody::Outcome::kNeedMore:
        break;
    }
  }
  if (continue_wanted_ && buffer_.Data().empty()) {
    continue_wanted_ = false;
    return Event::kContinue;
  }
  return Event::kNeedMore;
}

void Http1Parser::GiveOut(std::string_view body, std::size_t used) {
  request_.body = body;
  used_ = used;
  state_ = State::kHeader;
}

// Copies the header's bytes and points the request's views at the copy, because the buffer may move
// while the body arrives.
void Http1Parser::KeepHeader(std::string_view block) {
  kept_header_.assign(block);
  const auto move = [&](std::string_view& view) {
    const bool inside = !std::less<>()(view.data(), block.data()) &&
                        !std::less<>()(block.data() + block.size(), view.data() + view.size());
    if (inside) {
      const auto offset = static_cast<std::size_t>(view.data() - block.data());
      view = std::string_view(kept_header_).substr(offset, view.size());
    }
  };
  move(request_.method_text);
  move(request_.target);
  move(request_.path);
  move(request_.query);
  request_.fields.MoveTexts(move);
}

}  // namespace sluice::wire
