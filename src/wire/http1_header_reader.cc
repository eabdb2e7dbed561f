#include "wire/http1_header_reader.h"

#include <limits>

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/error.hpp>

namespace sluice::wire {
namespace {

namespace http = boost::beast::http;

std::string_view View(boost::beast::string_view text) {
  return {text.data(), text.size()};
}

HttpMethod MethodOf(http::verb verb) {
  switch (verb) {
    case http::verb::get:
      return HttpMethod::kGet;
    case http::verb::head:
      return HttpMethod::kHead;
    case http::verb::post:
      return HttpMethod::kPost;
    case http::verb::put:
      return HttpMethod::kPut;
    case http::verb::patch:
      return HttpMethod::kPatch;
    case http::verb::delete_:
      return HttpMethod::kDelete;
    case http::verb::options:
      return HttpMethod::kOptions;
    default:
      return HttpMethod::kOther;
  }
}

}  // namespace

Http1HeaderReader::Http1HeaderReader(Http1Request& request, std::size_t max_fields)
    : request_(request), max_fields_(max_fields) {
  header_limit(std::numeric_limits<std::uint32_t>::max());  // Http1Parser has measured it.
  body_limit(boost::none);
}

bool Http1HeaderReader::Read(std::string_view block) {
  request_.fields.clear();
  ErrorCode error;
  const std::size_t used = put(boost::asio::buffer(block.data(), block.size()), error);
  if (error || !is_header_done() || used != block.size()) {
    return false;
  }
  request_.keep_alive = keep_alive();
  return true;
}

void Http1HeaderReader::on_request_impl(Verb verb, Text method, Text target, int version,
                                        ErrorCode& /*error*/) {
  request_.method = MethodOf(verb);
  request_.method_text = View(method);
  request_.target = View(target);
  request_.minor_version = version - 10;
}

void Http1HeaderReader::on_field_impl(FieldId id, Text name, Text value, ErrorCode& error) {
  if (request_.fields.size() == max_fields_) {
    too_many_fields_ = true;
    error = http::error::header_limit;
    return;
  }
  request_.fields.push_back({View(name), View(value)});
  Seen* seen = nullptr;
  switch (id) {
    case FieldId::host:
      seen = &host_;
      break;
    case FieldId::content_length:
      seen = &content_length_;
      break;
    case FieldId::transfer_encoding:
      seen = &transfer_encoding_;
      break;
    case FieldId::expect:
      seen = &expect_;
      break;
    default:
      return;
  }
  ++seen->count;
  seen->value = View(value);
}

// The rest never happens: only header blocks of requests are fed.
void Http1HeaderReader::on_response_impl(int, Text, int, ErrorCode&) {}
void Http1HeaderReader::on_header_impl(ErrorCode&) {}
void Http1HeaderReader::on_body_init_impl(const boost::optional<std::uint64_t>&, ErrorCode&) {}
std::size_t Http1HeaderReader::on_body_impl(Text body, ErrorCode&) {
  return body.size();
}
void Http1HeaderReader::on_chunk_header_impl(std::uint64_t, Text, ErrorCode&) {}
std::size_t Http1HeaderReader::on_chunk_body_impl(std::uint64_t, Text body, ErrorCode&) {
  return body.size();
}
void Http1HeaderReader::on_finish_impl(ErrorCode&) {}

}  // namespace sluice::wire
