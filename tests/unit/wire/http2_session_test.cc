#include "wire/http2_session.h"

#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/http2_client.h"

namespace sluice::wire {
namespace {

using support::Http2Client;
using support::Http2Frame;

constexpr std::uint8_t kData = 0;
constexpr std::uint8_t kHeaders = 1;
constexpr std::uint8_t kPriority = 2;
constexpr std::uint8_t kSettings = 4;
constexpr std::uint8_t kPing = 6;
constexpr std::uint8_t kWindowUpdate = 8;
constexpr std::uint8_t kContinuation = 9;
constexpr std::uint8_t kEndHeaders = 4;
constexpr std::uint32_t kEnhanceYourCalm = 11;

// Keeps what it is told, and answers when the test says so.
class Recorder : public Http2User {
 public:
  void OnHeader(Http2Stream& stream, bool whole) noexcept override {
    streams.push_back(&stream);
    bodies.emplace_back();
    stream.context = static_cast<void*>(&streams.back());
    said += whole ? "H." : "H ";
  }
  void OnBody(Http2Stream& stream, std::string_view bytes) noexcept override {
    bodies.back() += bytes;
    if (consume) {
      session->Consume(stream, bytes.size());
    }
  }
  void OnEnd(Http2Stream&) noexcept override { said += "E "; }
  void OnClosed(Http2Stream&) noexcept override {
    said += "C ";
    ++closed;
  }

  Http2Session* session = nullptr;
  std::vector<Http2Stream*> streams;
  std::vector<std::string> bodies;
  std::string said;
  int closed = 0;
  bool consume = true;
};

class Http2SessionTest : public testing::Test {
 protected:
  explicit Http2SessionTest(const Http2Limits& limits = {})
      : limits_(limits), session_(recorder_, memory_, limits_, now_) {
    recorder_.session = &session_;
  }

  // Bytes to and fro until both are silent. False: the session broke.
  bool Turn() {
    bool sound = true;
    for (;;) {
      const std::string up = client_.Output();
      if (!up.empty()) {
        sound = session_.Receive(up, now_) && sound;
      }
      std::string down;
      session_.Send(down, 1 << 20);
      if (!down.empty()) {
        EXPECT_TRUE(client_.Input(down));
      }
      if (up.empty() && down.empty()) {
        return sound;
      }
    }
  }

  // Frames that the client's library would not send, behind its preface.
  bool Receive(const std::string& frames) {
    const bool sound = session_.Receive(frames, now_);
    std::string down;
    session_.Send(down, 1 << 20);
    client_.Input(down);
    return sound;
  }

  const Http2Limits limits_;
  std::shared_ptr<Http2Memory> memory_ = std::make_shared<Http2Memory>();
  Recorder recorder_;
  Http2Session::Time now_{};
  Http2Session session_;
  Http2Client client_;
};

TEST_F(Http2SessionTest, ReadsARequestAndSendsAnAnswer) {
  const auto id = client_.Ask("GET", "/v1/x?a=1", "", {{"x-one", "1"}, {"x-two", "2"}});
  ASSERT_TRUE(Turn());
  ASSERT_EQ(recorder_.streams.size(), 1U);
  const HttpRequest& request = recorder_.streams[0]->request();
  EXPECT_EQ(request.method, HttpMethod::kGet);
  EXPECT_EQ(request.target, "/v1/x?a=1");
  EXPECT_EQ(request.path, "/v1/x");
  EXPECT_EQ(request.query, "a=1");
  EXPECT_EQ(request.Field("host"), "host");
  EXPECT_EQ(request.Field("X-Two"), "2");
  const std::vector<HttpField> fields{{"content-type", "text/plain"}};
  session_.Answer(*recorder_.streams[0], 429, fields, "no");
  ASSERT_TRUE(Turn());
  const auto& answer = client_.answers[id];
  EXPECT_EQ(answer.status, 429);
  EXPECT_EQ(answer.fields.at("content-type"), "text/plain");
  EXPECT_EQ(answer.body, "no");
  EXPECT_TRUE(answer.ended);
  EXPECT_EQ(recorder_.said, "H.C ");
  EXPECT_EQ(session_.open(), 0U);
}

TEST_F(Http2SessionTest, ABodyComesInPieces) {
  const auto id = client_.Ask("POST", "/", "one", {}, /*more=*/true);
  ASSERT_TRUE(Turn());
  EXPECT_EQ(recorder_.said, "H ");
  client_.EndBody(id, "two");
  ASSERT_TRUE(Turn());
  EXPECT_EQ(recorder_.bodies[0], "onetwo");
  EXPECT_EQ(recorder_.said, "H E ");
}

TEST_F(Http2SessionTest, AnAnswerInPiecesEndsWithTrailers) {
  const auto id = client_.Ask("POST", "/grpc", "x");
  ASSERT_TRUE(Turn());
  session_.Answer(*recorder_.streams[0], 200, {}, "first", /*last=*/false);
  ASSERT_TRUE(Turn());
  EXPECT_EQ(client_.answers[id].body, "first");
  EXPECT_FALSE(client_.answers[id].ended);
  session_.Append(*recorder_.streams[0], "second");
  ASSERT_TRUE(Turn());
  EXPECT_EQ(client_.answers[id].body, "firstsecond");
  const std::vector<HttpField> trailers{{"grpc-status", "8"}, {"grpc-message", "spent"}};
  session_.Finish(*recorder_.streams[0], trailers);
  ASSERT_TRUE(Turn());
  EXPECT_TRUE(client_.answers[id].ended);
  EXPECT_EQ(client_.answers[id].trailers.at("grpc-status"), "8");
  EXPECT_EQ(client_.answers[id].trailers.at("grpc-message"), "spent");
  EXPECT_EQ(session_.open(), 0U);
}

TEST_F(Http2SessionTest, ALargeAnswerWaitsForTheClientsWindow) {
  const auto id = client_.Ask("GET", "/");
  ASSERT_TRUE(Turn());
  const std::string body(300'000, 'b');
  session_.Answer(*recorder_.streams[0], 200, {}, body);
  ASSERT_TRUE(Turn());  // The client opens its window as it reads.
  EXPECT_EQ(client_.answers[id].body, body);
  EXPECT_TRUE(client_.answers[id].ended);
}

TEST_F(Http2SessionTest, SendStopsAtItsBound) {
  client_.Ask("GET", "/");
  ASSERT_TRUE(Turn());
  session_.Answer(*recorder_.streams[0], 200, {}, std::string(60'000, 'b'));
  std::string out;
  session_.Send(out, 20'000);
  EXPECT_GE(out.size(), 20'000U);
  EXPECT_LE(out.size(), 40'000U);
  session_.Send(out, 100'000);
  EXPECT_GT(out.size(), 60'000U);  // The rest.
}

TEST_F(Http2SessionTest, AnAnswerBeforeTheRequestsEndStopsTheRequest) {
  const auto id = client_.Ask("POST", "/", "some", {}, /*more=*/true);
  ASSERT_TRUE(Turn());
  session_.Answer(*recorder_.streams[0], 413, {}, "too much");
  ASSERT_TRUE(Turn());
  EXPECT_EQ(client_.answers[id].status, 413);
  EXPECT_EQ(client_.answers[id].body, "too much");
  EXPECT_TRUE(client_.answers[id].closed);
  EXPECT_EQ(client_.answers[id].code, Http2Session::kNoError);
  EXPECT_EQ(recorder_.closed, 1);
}

TEST_F(Http2SessionTest, ARequestTakenBackIsClosedAndAnAnswerToItGoesNowhere) {
  const auto id = client_.Ask("POST", "/", "x", {}, /*more=*/true);
  ASSERT_TRUE(Turn());
  client_.Reset(id, Http2Session::kCancel);
  ASSERT_TRUE(Turn());
  EXPECT_EQ(recorder_.closed, 1);
  EXPECT_EQ(session_.open(), 0U);
}

TEST_F(Http2SessionTest, UnconsumedBodiesCloseTheWindowAndAStreamsEndOpensIt) {
  recorder_.consume = false;
  const std::string large(1'000'000, 'x');
  const auto first = client_.Ask("POST", "/", large);
  ASSERT_TRUE(Turn());
  EXPECT_LE(recorder_.bodies[0].size(), limits_.stream_window);
  std::size_t held = recorder_.bodies[0].size();
  for (int i = 0; i < 20; ++i) {
    client_.Ask("POST", "/", large);
    ASSERT_TRUE(Turn());
    held += recorder_.bodies.back().size();
  }
  EXPECT_LE(held, limits_.connection_window);
  for (const auto id : {first, first + 2, first + 4}) {
    client_.Reset(id, Http2Session::kCancel);
  }
  ASSERT_TRUE(Turn());
  std::size_t after = 0;
  for (const std::string& body : recorder_.bodies) {
    after += body.size();
  }
  EXPECT_GT(after, held);
}

TEST_F(Http2SessionTest, AHeaderAboveTheLimitIsAFaultAndAHopelessOneAReset) {
  client_.Ask("GET", "/", "", {{"x-large", std::string(20'000, 'x')}});
  ASSERT_TRUE(Turn());
  ASSERT_EQ(recorder_.streams.size(), 1U);
  EXPECT_EQ(recorder_.streams[0]->fault(), Http2Fault::kHeaderTooLarge);
  Http2Client::Fields many;
  for (int i = 0; i < 150; ++i) {
    many.emplace_back("x-" + std::to_string(i), "1");
  }
  client_.Ask("GET", "/", "", many);
  ASSERT_TRUE(Turn());
  EXPECT_EQ(recorder_.streams[1]->fault(), Http2Fault::kHeaderTooLarge);
}

// One large entry of the table, named again and again by a byte each: a bomb (HPACK bomb).
TEST_F(Http2SessionTest, AHeaderThatUnfoldsWithoutEndResetsItsStream) {
  Turn();
  std::string block = "\x82\x86\x84";                // GET, http, /.
  block += std::string("\x41\x04host", 6);           // :authority.
  block += std::string("\x40\x01x\x7f\xd1\x16", 6);  // x: 3,000 bytes, added to the table.
  block += std::string(3'024, 'y');
  block += std::string(8'000, '\xbe');  // That entry, 8,000 times.
  EXPECT_TRUE(Receive(Http2Frame(kHeaders, kEndHeaders | 1, 1, block)));
  EXPECT_TRUE(recorder_.streams.empty());
  EXPECT_TRUE(client_.answers[1].closed || session_.open() == 0);
}

TEST_F(Http2SessionTest, MoreStreamsThanAllowedAreRefused) {
  Turn();
  EXPECT_EQ(client_.most_streams, limits_.streams);
  std::string block("\x82\x86\x84\x41\x04host", 9);
  std::string frames;
  for (std::uint32_t id = 1; id < 2 * 200; id += 2) {
    frames += Http2Frame(kHeaders, kEndHeaders, id, block);
  }
  (void)Receive(frames);
  EXPECT_LE(recorder_.streams.size(), limits_.streams);
  EXPECT_LE(session_.open(), limits_.streams);
}

// CVE-2023-44487.
TEST_F(Http2SessionTest, RapidResetsEndTheConnection) {
  Turn();
  std::string block("\x82\x86\x84\x41\x04host", 9);
  std::string frames;
  for (std::uint32_t id = 1; id < 2 * 1000; id += 2) {
    frames += Http2Frame(kHeaders, kEndHeaders, id, block);
    frames += Http2Frame(3, 0, id, std::string("\0\0\0\x08", 4));
  }
  (void)Receive(frames);
  EXPECT_EQ(client_.goaways, 1);
  EXPECT_LE(recorder_.streams.size(), limits_.resets + 1U);
  EXPECT_TRUE(session_.finished());
}

// CVE-2025-8671: the client breaks a rule on a stream whose request has come, so that we reset it.
TEST_F(Http2SessionTest, ResetsThatTheClientProvokesEndTheConnection) {
  const std::string block("\x82\x86\x84\x41\x04host", 9);
  const struct {
    const char* what;
    std::uint8_t type;
    std::string payload;
  } provocations[] = {
      {"a window without an increment", kWindowUpdate, std::string(4, '\0')},
      {"a window that overflows", kWindowUpdate, "\x7f\xff\xff\xff"},
  };
  for (const auto& each : provocations) {
    const auto memory = std::make_shared<Http2Memory>();
    Recorder told;
    Http2Session session(told, memory, limits_, now_);
    told.session = &session;
    Http2Client client;
    (void)session.Receive(client.Output(), now_);
    std::string down;
    for (std::uint32_t id = 1; id < 2 * 1000; id += 2) {  // In pieces: each reset goes out.
      (void)session.Receive(
          Http2Frame(kHeaders, kEndHeaders, id, block) + Http2Frame(each.type, 0, id, each.payload),
          now_);
      session.Send(down, 1 << 24);
    }
    EXPECT_LE(told.streams.size(), limits_.resets + 2U) << each.what;
    EXPECT_TRUE(session.finished()) << each.what;
  }
}

TEST_F(Http2SessionTest, AnsweringBeforeTheRequestsEndIsNoResetOfTheClients) {
  for (int i = 0; i < 1000; ++i) {
    client_.Ask("POST", "/", "x", {}, /*more=*/true);
    ASSERT_TRUE(Turn()) << i;
    session_.Answer(*recorder_.streams.back(), 413, {}, "");
    ASSERT_TRUE(Turn()) << i;
  }
  EXPECT_FALSE(session_.finished());
}

// CVE-2024-28182.
TEST_F(Http2SessionTest, AFloodOfContinuationsEndsTheConnection) {
  Turn();
  std::string frames = Http2Frame(kHeaders, 0, 1, std::string("\x82\x86\x84", 3));
  for (int i = 0; i < 100; ++i) {
    frames += Http2Frame(kContinuation, 0, 1, "");
  }
  (void)Receive(frames);
  EXPECT_EQ(client_.goaway_code, kEnhanceYourCalm);
  EXPECT_TRUE(session_.finished());
  EXPECT_TRUE(recorder_.streams.empty());
}

TEST_F(Http2SessionTest, AHeaderMayComeInPiecesHoweverSmall) {
  Turn();
  std::string frames = Http2Frame(kHeaders, 1, 1, std::string("\x82\x86\x84", 3));
  for (int i = 0; i < 7; ++i) {
    frames += Http2Frame(kContinuation, 0, 1, "");
  }
  frames += Http2Frame(kContinuation, kEndHeaders, 1, std::string("\x41\x04host", 6));
  for (const char byte : frames) {
    ASSERT_TRUE(Receive(std::string(1, byte)));
  }
  EXPECT_EQ(recorder_.streams.size(), 1U);
}

TEST_F(Http2SessionTest, FramesThatAskForNothingAreRationed) {
  const std::string floods[] = {
      Http2Frame(kPing, 0, 0, "12345678"),
      Http2Frame(kSettings, 0, 0, ""),
      Http2Frame(kWindowUpdate, 0, 0, std::string("\0\0\0\x01", 4)),
      Http2Frame(kPriority, 0, 5, std::string("\0\0\0\0\x01", 5)),
  };
  for (const std::string& frame : floods) {
    const auto memory = std::make_shared<Http2Memory>();
    Recorder told;
    Http2Session session(told, memory, limits_, now_);
    Http2Client client;
    (void)session.Receive(client.Output(), now_);
    std::string down;
    for (int i = 0; i < 300; ++i) {  // In pieces, so that answers go out in between.
      std::string frames;
      for (int k = 0; k < 10; ++k) {
        frames += frame;
      }
      (void)session.Receive(frames, now_);
      session.Send(down, 1 << 24);
    }
    // The last thing that it says; not asked of the client, which minds acknowledgements of what
    // it never sent.
    EXPECT_EQ(down.substr(down.size() - 8, 8),
              std::string("\0\0\0\0\0\0\0", 7) + static_cast<char>(kEnhanceYourCalm));
    EXPECT_TRUE(session.finished());
  }
}

TEST_F(Http2SessionTest, EmptyPiecesOfABodyAreRationed) {
  client_.Ask("POST", "/", "x", {}, /*more=*/true);
  ASSERT_TRUE(Turn());
  std::string frames;
  for (int i = 0; i < 2000; ++i) {
    frames += Http2Frame(kData, 0, 1, "");
  }
  (void)Receive(frames);
  EXPECT_EQ(client_.goaway_code, kEnhanceYourCalm);
}

TEST_F(Http2SessionTest, APingNowAndThenIsAnsweredForEver) {
  for (int i = 0; i < 5000; ++i) {
    now_ += std::chrono::milliseconds(20);
    client_.Ping();
    ASSERT_TRUE(Turn());
  }
  EXPECT_EQ(client_.pings, 5000);
  EXPECT_EQ(client_.goaways, 0);
}

TEST_F(Http2SessionTest, AcknowledgementsThatNobodyTakesDoNotPileUp) {
  Turn();
  std::string frames;
  for (int i = 0; i < 900; ++i) {  // Within the ration, nothing sent in between.
    frames += Http2Frame(kPing, 0, 0, "12345678");
  }
  EXPECT_FALSE(session_.Receive(frames, now_));
}

TEST_F(Http2SessionTest, WhatIsNotHttp2IsBroken) {
  EXPECT_FALSE(session_.Receive("GET / HTTP/1.1\r\nHost: h\r\n\r\n", now_));
  EXPECT_FALSE(session_.Receive(kHttp2Preface, now_));
}

TEST_F(Http2SessionTest, AShutdownTellsAndThenEnds) {
  const auto id = client_.Ask("GET", "/");
  ASSERT_TRUE(Turn());
  session_.Shutdown(/*final=*/false);
  ASSERT_TRUE(Turn());
  EXPECT_EQ(client_.goaways, 1);
  session_.Shutdown(/*final=*/true);
  session_.Answer(*recorder_.streams[0], 200, {}, "");
  ASSERT_TRUE(Turn());
  EXPECT_EQ(client_.goaways, 2);
  EXPECT_EQ(client_.goaway_code, Http2Session::kNoError);
  EXPECT_TRUE(client_.answers[id].ended);
}

// Whether they come in one piece with the GOAWAY or not.
TEST_F(Http2SessionTest, AClientThatSaidThatItGoesBeginsNothingMore) {
  Turn();
  const std::string block("\x82\x86\x84\x41\x04host", 9);
  const std::string leaving = Http2Frame(kHeaders, kEndHeaders | 1, 1, block) +
                              Http2Frame(7, 0, 0, std::string(8, '\0')) +
                              Http2Frame(kHeaders, kEndHeaders | 1, 3, block);
  ASSERT_TRUE(Receive(leaving));
  ASSERT_EQ(recorder_.streams.size(), 1U);
  session_.Answer(*recorder_.streams[0], 200, {}, "");
  ASSERT_TRUE(Receive(""));
  EXPECT_EQ(recorder_.said, "H.C ");
  EXPECT_TRUE(session_.finished());
  ASSERT_TRUE(Receive(Http2Frame(kHeaders, kEndHeaders | 1, 5, block)));
  EXPECT_EQ(recorder_.streams.size(), 1U);
}

TEST_F(Http2SessionTest, StreamsAreUsedAgain) {
  for (int i = 0; i < 3000; ++i) {
    now_ += std::chrono::milliseconds(1);
    const auto id = client_.Ask("GET", "/" + std::to_string(i));
    ASSERT_TRUE(Turn());
    ASSERT_EQ(recorder_.streams.back()->request().path, "/" + std::to_string(i));
    session_.Answer(*recorder_.streams.back(), 200, {}, std::to_string(i));
    ASSERT_TRUE(Turn());
    ASSERT_EQ(client_.answers[id].body, std::to_string(i));
    ASSERT_EQ(recorder_.streams.back(), recorder_.streams.front());
  }
}

}  // namespace
}  // namespace sluice::wire
