#include <random>
#include <string>
#include <string_view>

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/basic_parser.hpp>
#include <gtest/gtest.h>

#include "wire/http1_parser.h"

namespace sluice::wire {
namespace {

namespace http = boost::beast::http;

// The same grammar as somebody else reads it.
class Oracle final : public http::basic_parser<true> {
 public:
  // What the block says, or "malformed".
  std::string Read(std::string_view block) {
    boost::beast::error_code error;
    header_limit(1U << 20U);
    body_limit(boost::none);
    const std::size_t used = put(boost::asio::buffer(block.data(), block.size()), error);
    if (error || !is_header_done() || used != block.size()) {
      return "malformed";
    }
    return seen_ + (keep_alive() ? "keep" : "close");
  }

 private:
  using Text = boost::beast::string_view;
  using Error = boost::beast::error_code;
  void on_request_impl(http::verb, Text method, Text target, int version, Error&) override {
    seen_ = std::string(method) + "|" + std::string(target) + "|" + std::to_string(version - 10);
  }
  void on_field_impl(http::field, Text name, Text value, Error&) override {
    seen_ += "|" + std::string(name) + "=" + std::string(value) + "|";
  }
  void on_response_impl(int, Text, int, Error&) override {}
  void on_header_impl(Error&) override {}
  void on_body_init_impl(const boost::optional<std::uint64_t>&, Error&) override {}
  std::size_t on_body_impl(Text body, Error&) override { return body.size(); }
  void on_chunk_header_impl(std::uint64_t, Text, Error&) override {}
  std::size_t on_chunk_body_impl(std::uint64_t, Text body, Error&) override { return body.size(); }
  void on_finish_impl(Error&) override {}

  std::string seen_;
};

std::string Ours(std::string_view block) {
  HttpRequest request;
  Http1HeaderReader reader(request, 100);
  if (!reader.Read(block)) {
    return "malformed";
  }
  std::string told = std::string(request.method_text) + "|" + std::string(request.target) + "|" +
                     std::to_string(request.minor_version);
  for (const HttpField& field : request.fields) {
    told += "|" + std::string(field.name) + "=" + std::string(field.value) + "|";
  }
  return told + (request.keep_alive ? "keep" : "close");
}

// Lines with one to three bytes changed, taken out or put in. What Http1Parser keeps from the
// reader (white space in front of a line, line ends, another version) is not made.
class Lines {
 public:
  std::string Block() {
    std::string block = Mutated("GET /v1/a?b=c HTTP/1.", 1) + (random_() % 4 == 0 ? "0" : "1");
    block += "\r\n";
    for (auto fields = random_() % 4; fields > 0; --fields) {
      const std::string_view seed = kSeeds[random_() % std::size(kSeeds)];
      block += Mutated(seed, 0) + "\r\n";
    }
    return block + "\r\n";
  }

 private:
  static constexpr std::string_view kSeeds[] = {
      "Host: example.org:8080",   "Connection: close",          "connection: Keep-Alive, Upgrade",
      "Connection:, close ,\t,a", "Proxy-Connection: close",    "X-Empty:",
      "Expect: 100-continue",     "Accept: text/html; q=\"1\"", "Upgrade: h2c"};

  std::string Mutated(std::string_view seed, std::size_t tail) {
    static constexpr std::string_view kBytes = " \t,;:=\"()/\x01\x7f\x80\xff~!aZ0-_";
    std::string text(seed);
    for (auto times = random_() % 4; times > 0; --times) {
      const std::size_t at = 1 + random_() % (text.size() - 1 - tail * 9);
      const char byte = kBytes[random_() % kBytes.size()];
      switch (random_() % 3) {
        case 0:
          text[at] = byte;
          break;
        case 1:
          text.insert(at, 1, byte);
          break;
        default:
          text.erase(at, text.size() > 12 ? 1 : 0);
      }
    }
    return text;
  }

  std::mt19937 random_{1};
};

TEST(Http1HeaderReaderTest, ReadsABlockLikeAnotherParser) {
  Lines lines;
  int accepted = 0;
  for (int i = 0; i < 100'000; ++i) {
    const std::string block = lines.Block();
    const std::string told = Ours(block);
    ASSERT_EQ(told, Oracle().Read(block)) << block;
    accepted += told == "malformed" ? 0 : 1;
  }
  EXPECT_GT(accepted, 20'000);
  EXPECT_LT(accepted, 80'000);
}

TEST(Http1HeaderReaderTest, CountsTheFieldsThatFrameTheMessage) {
  HttpRequest request;
  Http1HeaderReader reader(request, 100);
  ASSERT_TRUE(
      reader.Read("POST / HTTP/1.1\r\nHOST: a\r\ncontent-Length: 1\r\nContent-Length:2 \r\n"
                  "Transfer-Encoding: chunked\r\nExpect: 100-continue\r\nHosts: b\r\n\r\n"));
  EXPECT_EQ(request.method, HttpMethod::kPost);
  EXPECT_EQ(reader.host().count, 1);
  EXPECT_EQ(reader.content_length().count, 2);
  EXPECT_EQ(reader.content_length().value, "2");
  EXPECT_EQ(reader.transfer_encoding().value, "chunked");
  EXPECT_EQ(reader.expect().count, 1);
}

TEST(Http1HeaderReaderTest, SaysThatThereAreTooManyFields) {
  HttpRequest request;
  Http1HeaderReader two(request, 2);
  EXPECT_TRUE(two.Read("GET / HTTP/1.1\r\na: 1\r\nb: 2\r\n\r\n"));
  Http1HeaderReader one(request, 1);
  EXPECT_FALSE(one.Read("GET / HTTP/1.1\r\na: 1\r\nb: 2\r\n\r\n"));
  EXPECT_TRUE(one.too_many_fields());
}

}  // namespace
}  // namespace sluice::wire
