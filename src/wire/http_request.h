#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace sluice::wire {

// One header field; the value without surrounding white space.
struct HttpField {
  std::string_view name;
  std::string_view value;
};

// Names that every check looks for and few requests have. Adding a field notes these names, so
// checks need not search for them.
enum class RareField : std::uint8_t {
  kOrigin = 1,
  kSecFetchSite = 2,
  kContentEncoding = 4,
  kIdempotencyKey = 8,  // X-Idempotency-Key too.
  kRequestId = 16,      // X-Request-Id.
  kTraceParent = 32,
};

// The fields of one header, in order.
class HttpFields {
 public:
  void push_back(const HttpField& field) {
    rare_ |= RareBit(field.name);
    fields_.push_back(field);
  }
  void clear() {
    rare_ = 0;
    fields_.clear();
  }
  void reserve(std::size_t count) { fields_.reserve(count); }

  [[nodiscard]] bool Has(RareField name) const {
    return (rare_ & static_cast<unsigned>(name)) != 0;
  }

  [[nodiscard]] std::size_t size() const { return fields_.size(); }
  [[nodiscard]] auto begin() const { return fields_.begin(); }
  [[nodiscard]] auto end() const { return fields_.end(); }
  [[nodiscard]] auto rbegin() const { return fields_.rbegin(); }
  [[nodiscard]] auto rend() const { return fields_.rend(); }

  // Calls `move` with each name and value, so that it can point them at a copy of the same bytes.
  template <typename Move>
  void MoveTexts(const Move& move) {
    for (HttpField& field : fields_) {
      move(field.name);
      move(field.value);
    }
  }

 private:
  // The bit of a RareField, 0 for any other name.
  [[nodiscard]] static unsigned RareBit(std::string_view name);

  std::vector<HttpField> fields_;
  unsigned rare_ = 0;
};

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

// One request as received, over HTTP/1 or HTTP/2. All text is a view into the parser or session
// that returned it, valid until its next call.
struct HttpRequest {
  HttpMethod method = HttpMethod::kOther;
  std::string_view method_text;
  std::string_view target;  // As sent.
  std::string_view path;  // Still percent-encoded, begins with '/'; "" if the target is not a path.
  std::string_view query;  // What follows '?', still percent-encoded.
  int minor_version = 1;   // HTTP/1.x.
  bool keep_alive = true;  // The client may send another request on this connection.
  HttpFields fields;       // In order; trailers are dropped.
  std::string_view body;   // Complete, chunks joined.

  // The value of the first field of this name (any case), or "".
  [[nodiscard]] std::string_view Field(std::string_view name) const;
  [[nodiscard]] bool HasField(std::string_view name) const;
  // Whether several fields have this name. One of them may be from another sender than the rest.
  [[nodiscard]] bool HasSeveral(std::string_view name) const;
  // The field `traceparent`; "" if there is none, or several, which the standard has ignored.
  [[nodiscard]] std::string_view TraceParent() const;
};

[[nodiscard]] HttpMethod MethodOf(std::string_view text);

// Sets path and query from the target. False if it has bytes that are not allowed in a URI.
[[nodiscard]] bool SplitTarget(HttpRequest& request);

// How two entity tags are compared (RFC 9110, 8.8.3.2).
enum class TagComparison : std::uint8_t {
  kStrong,  // If-Match: a weak tag (W/"...") never matches.
  kWeak,    // If-None-Match: W/ is ignored.
};

// Whether one of the request's fields `name` lists `tag`, or is "*", which matches everything that
// exists. `tag` is strong, with its quotes, or "" for something that does not exist and matches
// nothing. A malformed list (RFC 9110, 8.8.3) matches nothing from the malformed element on.
[[nodiscard]] bool NamesEntity(const HttpRequest& request, std::string_view name,
                               std::string_view tag, TagComparison comparison);

}  // namespace sluice::wire
