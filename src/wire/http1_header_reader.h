#pragma once

#include <cstddef>
#include <string_view>

#include "wire/http_request.h"

namespace sluice::wire {

// The grammar of one whole header block (request line, fields, empty line; RFC 9112, 3 and
// 5). It fills an HttpRequest and counts the fields that say where the message ends; what
// those mean is Http1Parser's to judge. Made anew for each request.
class Http1HeaderReader {
 public:
  Http1HeaderReader(HttpRequest& request, std::size_t max_fields)
      : request_(request), max_fields_(max_fields) {}

  // `block`: lines that each end in CR LF, the last of them empty, the first one in HTTP/1.0 or
  // HTTP/1.1. One pass over its bytes. False: malformed, or too_many_fields() says that.
  [[nodiscard]] bool Read(std::string_view block);

  [[nodiscard]] bool too_many_fields() const { return too_many_fields_; }

  // A framing field: how often it came, and the last value.
  struct Seen {
    int count = 0;
    std::string_view value;
  };
  [[nodiscard]] const Seen& host() const { return host_; }
  [[nodiscard]] const Seen& content_length() const { return content_length_; }
  [[nodiscard]] const Seen& transfer_encoding() const { return transfer_encoding_; }
  [[nodiscard]] const Seen& expect() const { return expect_; }

 private:
  // Read the line that begins at `at`, and step behind its end.
  [[nodiscard]] bool ReadRequestLine(const char*& at);
  [[nodiscard]] bool ReadField(const char*& at);
  [[nodiscard]] bool Note(const HttpField& field);
  [[nodiscard]] bool ReadConnection(std::string_view list);

  HttpRequest& request_;
  const std::size_t max_fields_;
  bool too_many_fields_ = false;
  bool close_ = false;       // Connection: close.
  bool keep_alive_ = false;  // Connection: keep-alive.
  Seen host_;
  Seen content_length_;
  Seen transfer_encoding_;
  Seen expect_;
};

}  // namespace sluice::wire
