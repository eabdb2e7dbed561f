#include "wire/http1_parser.h"

#include <ostream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sluice::wire {
namespace {

using testing::ElementsAre;
using Event = Http1Parser::Event;

// What a parser makes of a stream, in a form that can be compared.
std::string Told(const HttpRequest& r) {
  std::string text(r.method_text);
  text.append(" ").append(r.target).append(" path=").append(r.path).append(" query=");
  text.append(r.query).append(r.keep_alive ? " keep" : " close");
  for (const HttpField& field : r.fields) {
    text.append(" [").append(field.name).append("=").append(field.value).append("]");
  }
  return text.append(" body=").append(r.body);
}

// Feeds `stream` in pieces of `piece` bytes, each to a place of its own so that a view kept
// too long is found by the sanitizer.
std::vector<std::string> Feed(std::string_view stream, std::size_t piece,
                              const Http1Limits& limits = {}) {
  Http1Parser parser(limits);
  std::vector<std::string> told;
  for (std::size_t at = 0; at < stream.size(); at += piece) {
    parser.Append(stream.substr(at, piece));
    for (bool more = true; more;) {
      switch (parser.Next()) {
        case Event::kRequest:
          told.push_back(Told(parser.request()));
          break;
        case Event::kContinue:
          break;
        case Event::kNeedMore:
          more = false;
          break;
        case Event::kError:
          told.push_back(std::to_string(parser.error().status));
          return told;
      }
    }
  }
  return told;
}

std::vector<std::string> Whole(std::string_view stream, const Http1Limits& limits = {}) {
  return Feed(stream, stream.size(), limits);
}

constexpr std::string_view kCheck =
    "POST /v1/ratelimit/check?a=1&b HTTP/1.1\r\nHost: x:8080\r\nContent-Type: "
    "application/json\r\nContent-Length: 7\r\n\r\n{\"a\":1}";

TEST(Http1ParserTest, ReadsARequestWithABody) {
  EXPECT_THAT(Whole(kCheck),
              ElementsAre("POST /v1/ratelimit/check?a=1&b path=/v1/ratelimit/check query=a=1&b "
                          "keep [Host=x:8080] [Content-Type=application/json] "
                          "[Content-Length=7] body={\"a\":1}"));
}

TEST(Http1ParserTest, ReadsPipelinedRequestsOneAfterAnother) {
  std::string stream(kCheck);
  stream += "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n";
  stream += kCheck;
  const auto told = Whole(stream);
  ASSERT_EQ(told.size(), 3U);
  EXPECT_EQ(told[0], told[2]);
  EXPECT_EQ(told[1], "GET /healthz path=/healthz query= keep [Host=x] body=");
}

TEST(Http1ParserTest, PutsChunksTogetherAndDropsTrailers) {
  EXPECT_THAT(Whole("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: Chunked\r\n\r\n"
                    "3;name=v\r\nabc\r\n0A\r\n0123456789\r\n0\r\nContent-Length: 9\r\n\r\n"
                    "GET /b HTTP/1.1\r\nHost: x\r\n\r\n"),
              ElementsAre("POST / path=/ query= keep [Host=x] [Transfer-Encoding=Chunked] "
                          "body=abc0123456789",
                          "GET /b path=/b query= keep [Host=x] body="));
}

TEST(Http1ParserTest, ReadsTheSameHoweverTheStreamIsCut) {
  const std::string streams[] = {
      std::string(kCheck) + std::string(kCheck),
      "\r\n\r\nPOST /c HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
      "5\r\nhello\r\n1\r\n!\r\n0\r\nA: b\r\n\r\n" +
          std::string(kCheck),
      "GET /a HTTP/1.0\r\n\r\nGET /b HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
      "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhelloX\r\n",
      "GET / HTTP/1.1\r\nHost: x\r\n folded\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: x\nA: b\r\n\r\n",
  };
  for (const std::string& stream : streams) {
    const auto whole = Whole(stream);
    EXPECT_FALSE(whole.empty());
    for (std::size_t piece = 1; piece < stream.size(); ++piece) {
      EXPECT_EQ(Feed(stream, piece), whole) << piece << "\n" << stream;
    }
  }
}

TEST(Http1ParserTest, CutsInTwoAnywhereWithoutADifference) {
  const std::string stream = std::string(kCheck) +
                             "POST /c HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
                             "5\r\nhello\r\n0\r\n\r\n";
  for (std::size_t cut = 1; cut < stream.size(); ++cut) {
    Http1Parser parser;
    int requests = 0;
    for (const std::string& part : {stream.substr(0, cut), stream.substr(cut)}) {
      parser.Append(part);
      while (parser.Next() == Event::kRequest) {
        ++requests;
        EXPECT_EQ(parser.request().Field("HOST"), requests == 1 ? "x:8080" : "x") << cut;
      }
    }
    EXPECT_EQ(requests, 2) << cut;
    EXPECT_EQ(parser.phase(), Http1Parser::Phase::kIdle);
  }
}

struct Refusal {
  const char* what;
  std::string stream;
  const char* status;

  friend void PrintTo(const Refusal& refusal, std::ostream* out) { *out << refusal.what; }
};

class Http1RefusalTest : public testing::TestWithParam<Refusal> {};

TEST_P(Http1RefusalTest, IsRefusedWholeAndByteByByte) {
  EXPECT_THAT(Whole(GetParam().stream), ElementsAre(GetParam().status));
  EXPECT_THAT(Feed(GetParam().stream, 1), ElementsAre(GetParam().status));
}

std::string With(const std::string& fields, const std::string& body = "") {
  return "POST / HTTP/1.1\r\nHost: x\r\n" + fields + "\r\n" + body;
}
std::string Chunks(const std::string& chunks) {
  return With("Transfer-Encoding: chunked\r\n", chunks);
}

const Refusal kRefusals[] = {
    {"both_lengths", With("Content-Length: 3\r\nTransfer-Encoding: chunked\r\n"), "400"},
    {"both_lengths_turned", With("Transfer-Encoding: chunked\r\nContent-Length: 3\r\n"), "400"},
    {"two_lengths", With("Content-Length: 3\r\nContent-Length: 4\r\n"), "400"},
    {"two_equal_lengths", With("Content-Length: 3\r\nContent-Length: 3\r\n"), "400"},
    {"length_list", With("Content-Length: 3, 3\r\n"), "400"},
    {"length_signed", With("Content-Length: +3\r\n"), "400"},
    {"length_negative", With("Content-Length: -3\r\n"), "400"},
    {"length_hex", With("Content-Length: 0x3\r\n"), "400"},
    {"length_empty", With("Content-Length: \r\n"), "400"},
    {"length_absurd", With("Content-Length: 99999999999999999999999\r\n"), "400"},
    {"length_too_large", With("Content-Length: 1048577\r\n"), "413"},
    {"coding_unknown", With("Transfer-Encoding: gzip\r\n"), "501"},
    {"coding_list", With("Transfer-Encoding: gzip, chunked\r\n"), "501"},
    {"coding_not_last", With("Transfer-Encoding: chunked, identity\r\n"), "501"},
    {"coding_quoted", With("Transfer-Encoding: \"chunked\"\r\n"), "501"},
    {"coding_twice", With("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"), "400"},
    {"coding_twice_mixed", With("Transfer-Encoding: x\r\nTransfer-Encoding: chunked\r\n"), "400"},
    {"coding_vertical_tab", With("Transfer-Encoding: \vchunked\r\n"), "400"},
    {"coding_in_1_0", "POST / HTTP/1.0\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
     "400"},
    {"space_before_colon", With("Content-Length : 3\r\n"), "400"},
    {"tab_before_colon", With("Content-Length\t: 3\r\n"), "400"},
    {"folded", With("A: b\r\n c\r\n"), "400"},
    {"folded_tab", With("A: b\r\n\tc\r\n"), "400"},
    {"folded_first", "GET / HTTP/1.1\r\n Host: x\r\n\r\n", "400"},
    {"bare_lf_in_field", With("A: b\nContent-Length: 3\r\n"), "400"},
    {"bare_cr_in_field", With("A: b\rContent-Length: 3\r\n"), "400"},
    {"bare_lf_request_line", "GET / HTTP/1.1\nHost: x\r\n\r\n", "400"},
    {"bare_lf_end", "GET / HTTP/1.1\r\nHost: x\r\n\n", "400"},
    {"bare_lf_first", "\nGET / HTTP/1.1\r\nHost: x\r\n\r\n", "400"},
    {"nul", With(std::string("A: b\0c\r\n", 8)), "400"},
    {"nul_in_name", With(std::string("A\0: b\r\n", 7)), "400"},
    {"no_colon", With("Nonsense\r\n"), "400"},
    {"empty_name", With(": b\r\n"), "400"},
    {"no_host", "GET / HTTP/1.1\r\n\r\n", "400"},
    {"two_hosts", "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", "400"},
    {"host_list", "GET / HTTP/1.1\r\nHost: a, b\r\n\r\n", "400"},
    {"host_space", "GET / HTTP/1.1\r\nHost: a b\r\n\r\n", "400"},
    {"http_0_9", "GET /\r\n", "400"},
    {"http_2_preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "505"},
    {"http_1_2", "GET / HTTP/1.2\r\nHost: x\r\n\r\n", "505"},
    {"lower_case_version", "GET / http/1.1\r\nHost: x\r\n\r\n", "400"},
    {"two_spaces", "GET  / HTTP/1.1\r\nHost: x\r\n\r\n", "400"},
    {"space_in_target", "GET /a b HTTP/1.1\r\nHost: x\r\n\r\n", "400"},
    {"space_first", " GET / HTTP/1.1\r\nHost: x\r\n\r\n", "400"},
    {"fragment", "GET /a#b HTTP/1.1\r\nHost: x\r\n\r\n", "400"},
    {"target_not_ascii", "GET /\xc3\xa4 HTTP/1.1\r\nHost: x\r\n\r\n", "400"},
    {"tls_hello", std::string("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n", 13), "400"},
    {"many_empty_lines", "\r\n\r\n\r\n\r\n\r\n", "400"},
    {"expectation", With("Expect: the-moon\r\n"), "417"},
    {"chunk_no_size", Chunks("\r\n"), "400"},
    {"chunk_negative", Chunks("-1\r\n"), "400"},
    {"chunk_hex_prefix", Chunks("0x3\r\nabc\r\n"), "400"},
    {"chunk_space_before", Chunks(" 3\r\nabc\r\n"), "400"},
    {"chunk_space_after", Chunks("3 \r\nabc\r\n"), "400"},
    {"chunk_overflow", Chunks("10000000000000003\r\nabc\r\n"), "400"},
    {"chunk_too_large", Chunks("100001\r\n"), "413"},
    {"chunk_bare_lf", Chunks("3\nabc\r\n"), "400"},
    {"chunk_lf_in_extension", Chunks("3;a\nb\r\nabc\r\n"), "400"},
    {"chunk_cr_in_extension", Chunks("3;a\rb\r\nabc\r\n"), "400"},
    {"chunk_longer_than_said", Chunks("3\r\nabcd\r\n"), "400"},
    {"chunk_data_bare_lf", Chunks("3\r\nabc\n0\r\n\r\n"), "400"},
    {"chunk_trailer_folded", Chunks("0\r\n a: b\r\n\r\n"), "400"},
    {"chunk_trailer_nonsense", Chunks("0\r\nnonsense\r\n\r\n"), "400"},
    {"chunk_line_without_end", Chunks(std::string(5000, '0')), "400"},
    {"endless_request_line", "GET /" + std::string(20000, 'a'), "414"},
    {"long_target", "GET /" + std::string(9000, 'a') + " HTTP/1.1\r\nHost: x\r\n\r\n", "414"},
    {"endless_field", With("A: " + std::string(20000, 'a')), "431"},
};

INSTANTIATE_TEST_SUITE_P(All, Http1RefusalTest, testing::ValuesIn(kRefusals),
                         [](const auto& param) { return std::string(param.param.what); });

TEST(Http1ParserTest, RefusesTooManyFields) {
  std::string fields;
  for (int i = 0; i < 99; ++i) {
    fields += "a: b\r\n";
  }
  EXPECT_EQ(Whole(With(fields)).size(), 1U);
  EXPECT_NE(Whole(With(fields))[0], "431");
  EXPECT_THAT(Whole(With(fields + "a: b\r\n")), ElementsAre("431"));
}

TEST(Http1ParserTest, BoundsFramingOfTinyChunks) {
  std::string trailers;
  for (int i = 0; i < 3000; ++i) {
    trailers += "abc: def\r\n";
  }
  EXPECT_THAT(Whole(Chunks("1\r\na\r\n0\r\n" + trailers)), ElementsAre("400"));
}

TEST(Http1ParserTest, StaysRefusedAfterARefusal) {
  Http1Parser parser;
  parser.Append("GET /\r\n");
  EXPECT_EQ(parser.Next(), Event::kError);
  parser.Append(kCheck);
  EXPECT_EQ(parser.Next(), Event::kError);
  EXPECT_EQ(parser.error().status, 400);
  EXPECT_EQ(parser.error().title, "Bad Request");
}

TEST(Http1ParserTest, KnowsWhoKeepsAlive) {
  const auto keeps = [](const std::string& start, const std::string& fields) {
    Http1Parser parser;
    parser.Append("GET / " + start + "\r\nHost: x\r\n" + fields + "\r\n");
    EXPECT_EQ(parser.Next(), Event::kRequest);
    return parser.request().keep_alive;
  };
  EXPECT_TRUE(keeps("HTTP/1.1", ""));
  EXPECT_FALSE(keeps("HTTP/1.1", "Connection: Close\r\n"));
  EXPECT_FALSE(keeps("HTTP/1.1", "Connection: upgrade, close\r\n"));
  EXPECT_FALSE(keeps("HTTP/1.0", ""));
  EXPECT_TRUE(keeps("HTTP/1.0", "Connection: keep-alive\r\n"));
}

TEST(Http1ParserTest, AsksToContinueOnceAndOnlyWhereTheBodyIsMissing) {
  const std::string head = With("Expect: 100-continue\r\nContent-Length: 3\r\n");
  Http1Parser parser;
  parser.Append(head);
  EXPECT_EQ(parser.Next(), Event::kContinue);
  EXPECT_EQ(parser.request().path, "/");
  EXPECT_EQ(parser.Next(), Event::kNeedMore);
  EXPECT_EQ(parser.phase(), Http1Parser::Phase::kBody);
  parser.Append("abc");
  EXPECT_EQ(parser.Next(), Event::kRequest);
  EXPECT_EQ(parser.request().body, "abc");
  parser.Append(head + "abc");
  EXPECT_EQ(parser.Next(), Event::kRequest);
}

TEST(Http1ParserTest, ReadsTargetsOfEveryForm) {
  const auto told = [](const std::string& target) {
    Http1Parser parser;
    parser.Append("OPTIONS " + target + " HTTP/1.1\r\nHost: x\r\n\r\n");
    EXPECT_EQ(parser.Next(), Event::kRequest);
    return std::string(parser.request().path) + " " + std::string(parser.request().query);
  };
  EXPECT_EQ(told("/a/b?c=d?e"), "/a/b c=d?e");
  EXPECT_EQ(told("http://host:1/a?b"), "/a b");
  EXPECT_EQ(told("HTTPS://host"), "/ ");
  EXPECT_EQ(told("http://host?b"), "/ b");
  EXPECT_EQ(told("*"), " ");
  EXPECT_EQ(told("host:443"), " ");
}

TEST(Http1ParserTest, KeepsNoMemoryOfALargeRequest) {
  constexpr std::size_t kLarge = 500'000;
  for (const bool chunked : {false, true}) {
    Http1Parser parser;
    parser.Append(
        chunked ? "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n7A120\r\n" +
                      std::string(kLarge, 'b') + "\r\n0\r\n\r\n"
                : "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 500000\r\n\r\n" +
                      std::string(kLarge, 'b'));
    ASSERT_EQ(parser.Next(), Event::kRequest);
    ASSERT_EQ(parser.request().body.size(), kLarge);
    ASSERT_EQ(parser.Next(), Event::kNeedMore);
    EXPECT_LE(parser.Prepare(4096).size(), 64U * 1024U);
  }
}

TEST(Http1ParserTest, TellsIdleFromAHeaderUnderWay) {
  Http1Parser parser;
  EXPECT_EQ(parser.phase(), Http1Parser::Phase::kIdle);
  parser.Append("G");
  EXPECT_EQ(parser.Next(), Event::kNeedMore);
  EXPECT_EQ(parser.phase(), Http1Parser::Phase::kHeader);
}

}  // namespace
}  // namespace sluice::wire
