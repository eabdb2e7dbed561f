#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "wire/http_fields.h"

namespace sluice::wire {

enum class HttpMethod : std::uint8_t {
  kGet,
  kHead,
  kPost,
  kPut,
  kPatch,
  kDelete,
  kOptions,
  kOther,  // See HttpRequest::method_text.
};

// One request as it came, be it over HTTP/1 or 2. All text is a view of the memory of the parser
// or session that gave it: good until its next call.
struct HttpRequest {
  HttpMethod method = HttpMethod::kOther;
  std::string_view method_text;
  std::string_view target;  // As sent.
  std::string_view path;  // Still percent-encoded, begins with '/'; "" where the target is no path.
  std::string_view query;  // What follows '?', still percent-encoded.
  int minor_version = 1;   // HTTP/1.x.
  bool keep_alive = true;  // The client would send another request on this connection.
  HttpFields fields;       // In order; trailers are dropped.
  std::string_view body;   // Whole, chunks put together.

  // The value of the first field of this name (any case), or "".
  [[nodiscard]] std::string_view Field(std::string_view name) const;
  [[nodiscard]] bool HasField(std::string_view name) const;
  // Whether several fields have this name. Who reads one of them reads what somebody else wrote.
  [[nodiscard]] bool HasSeveral(std::string_view name) const;
};

[[nodiscard]] HttpMethod MethodOf(std::string_view text);

// Sets path and query from the target. False for bytes that no URI has.
[[nodiscard]] bool SplitTarget(HttpRequest& request);

}  // namespace sluice::wire
