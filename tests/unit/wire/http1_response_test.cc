#include "wire/http1_response.h"

#include <gtest/gtest.h>

namespace sluice::wire {
namespace {

TEST(Http1ResponseTest, WritesStatusFieldsAndBody) {
  std::string out = "before";
  Http1Response response(out, {.status = 429, .date = "now"});
  response.Field("Retry-After", "27").Field("RateLimit", "\"a\";r=0;t=27");
  response.Finish("application/json", "{}");
  EXPECT_EQ(out,
            "beforeHTTP/1.1 429 Too Many Requests\r\nDate: now\r\nRetry-After: 27\r\n"
            "RateLimit: \"a\";r=0;t=27\r\nContent-Type: application/json\r\n"
            "Content-Length: 2\r\n\r\n{}");
}

TEST(Http1ResponseTest, SaysWhatBecomesOfTheConnection) {
  const auto text = [](const Http1ResponseHead& head) {
    std::string out;
    Http1Response(out, head).Finish("", "");
    return out;
  };
  EXPECT_EQ(text({}), "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
  EXPECT_EQ(text({.keep_alive = false}),
            "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
  EXPECT_EQ(text({.minor_version = 0}),
            "HTTP/1.1 200 OK\r\nConnection: keep-alive\r\nContent-Length: 0\r\n\r\n");
}

TEST(Http1ResponseTest, AnswersHeadWithTheLengthAndNoBody) {
  std::string out;
  Http1Response(out, {.head_only = true}).Finish("text/plain", "hello");
  EXPECT_EQ(out, "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\n");
}

TEST(Http1ResponseTest, LetsNoValueBreakTheLine) {
  std::string out;
  Http1Response(out, {}).Field("A", "b\r\nSet-Cookie: c").Finish("", "");
  EXPECT_EQ(out, "HTTP/1.1 200 OK\r\nA: b  Set-Cookie: c\r\nContent-Length: 0\r\n\r\n");
}

TEST(DateTextTest, WritesImfFixdates) {
  DateText date;
  EXPECT_EQ(date.At(784111777), "Sun, 06 Nov 1994 08:49:37 GMT");
  EXPECT_EQ(date.At(784111777), "Sun, 06 Nov 1994 08:49:37 GMT");
  EXPECT_EQ(date.At(0), "Thu, 01 Jan 1970 00:00:00 GMT");
  EXPECT_EQ(date.At(1709164800), "Thu, 29 Feb 2024 00:00:00 GMT");
  EXPECT_EQ(date.At(253402300799), "Fri, 31 Dec 9999 23:59:59 GMT");
}

}  // namespace
}  // namespace sluice::wire
