// Any stream of bytes: the parser ends, stays within its limits, and says the same however
// the stream is cut. The first byte says how.

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "wire/http1_parser.h"

namespace {

using sluice::wire::Http1Limits;
using sluice::wire::Http1Parser;
using sluice::wire::HttpField;
using sluice::wire::HttpRequest;

constexpr Http1Limits kLimits{
    .header_bytes = 512, .fields = 8, .target_bytes = 128, .body_bytes = 256};

void Check(bool condition) {
  if (!condition) {
    std::abort();
  }
}

void Tell(std::string& told, const HttpRequest& request) {
  Check(request.target.size() <= kLimits.target_bytes);
  Check(request.fields.size() <= kLimits.fields);
  Check(request.body.size() <= kLimits.body_bytes);
  Check(request.path.empty() || request.path.front() == '/');
  told.append(request.method_text).append(" ").append(request.path).append("?");
  told.append(request.query).append(request.keep_alive ? " keep\n" : " close\n");
  for (const HttpField& field : request.fields) {
    Check(field.value.find_first_of(std::string_view("\r\n\0", 3)) == std::string_view::npos);
    told.append(field.name).append(":").append(field.value).append("\n");
  }
  told.append(request.body).append("\n");
}

std::string Feed(std::string_view stream, std::size_t piece) {
  Http1Parser parser(kLimits);
  std::string told;
  while (!stream.empty()) {
    const std::string_view part = stream.substr(0, piece);
    stream.remove_prefix(part.size());
    parser.Append(part);
    for (;;) {
      const Http1Parser::Event event = parser.Next();
      if (event == Http1Parser::Event::kNeedMore) {
        break;
      }
      if (event == Http1Parser::Event::kError) {
        Check(parser.error().status >= 400 && !parser.error().detail.empty());
        // Which status wins may hang on how much had come; that it is refused may not.
        return told + "refused";
      }
      if (event == Http1Parser::Event::kRequest) {
        Tell(told, parser.request());
      }
    }
  }
  return told;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) {
    return 0;
  }
  const std::string_view stream(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::string whole = Feed(stream, stream.size() + 1);
  Check(Feed(stream, 1) == whole);
  Check(Feed(stream, 2U + data[0]) == whole);
  return 0;
}
