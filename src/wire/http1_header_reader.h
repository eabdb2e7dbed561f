#pragma once

#include <cstddef>
#include <string_view>

#include <boost/beast/http/basic_parser.hpp>

#include "wire/http1_request.h"

namespace sluice::wire {

// The grammar of one whole header block (request line, fields, empty line), by Beast. It
// fills an Http1Request and counts the fields that say where the message ends; what those
// mean is Http1Parser's to judge. Made anew for each request: Beast's parser has no reset,
// and its construction costs nothing.
class Http1HeaderReader final : public boost::beast::http::basic_parser<true> {
 public:
  Http1HeaderReader(Http1Request& request, std::size_t max_fields);

  // False: malformed, or too_many_fields() says that.
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
  using Verb = boost::beast::http::verb;
  using FieldId = boost::beast::http::field;
  using Text = boost::beast::string_view;
  using ErrorCode = boost::beast::error_code;

  void on_request_impl(Verb verb, Text method, Text target, int version, ErrorCode& error) override;
  void on_response_impl(int status, Text reason, int version, ErrorCode& error) override;
  void on_field_impl(FieldId id, Text name, Text value, ErrorCode& error) override;
  void on_header_impl(ErrorCode& error) override;
  void on_body_init_impl(const boost::optional<std::uint64_t>& size, ErrorCode& error) override;
  std::size_t on_body_impl(Text body, ErrorCode& error) override;
  void on_chunk_header_impl(std::uint64_t size, Text extensions, ErrorCode& error) override;
  std::size_t on_chunk_body_impl(std::uint64_t left, Text body, ErrorCode& error) override;
  void on_finish_impl(ErrorCode& error) override;

  Http1Request& request_;
  const std::size_t max_fields_;
  bool too_many_fields_ = false;
  Seen host_;
  Seen content_length_;
  Seen transfer_encoding_;
  Seen expect_;
};

}  // namespace sluice::wire
