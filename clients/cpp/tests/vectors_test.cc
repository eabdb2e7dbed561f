// Plays clients/vectors/: what to do with a response.
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include "sluice_client.h"

namespace sluice_client {
namespace {

namespace json = boost::json;

std::string TextOf(const json::value& value) {
  return value.is_null() ? "" : std::string(value.as_string());
}

const char* NameOf(Advice::Action action) {
  return action == Advice::Action::kProceed ? "proceed"
         : action == Advice::Action::kWait  ? "wait"
                                            : "give_up";
}

void Play(const json::object& test) {
  const json::object& response = test.at("response").as_object();
  const json::object& call = test.at("call").as_object();
  Answer answer;
  answer.status = static_cast<int>(response.at("status").as_int64());
  for (const json::value& field : response.at("fields").as_array()) {
    answer.fields.emplace_back(TextOf(field.at(0)), TextOf(field.at(1)));
  }
  answer.body = TextOf(response.at("body"));
  const std::string method = TextOf(call.at("method"));
  Caller caller;
  caller.now_ms = call.at("now_ms").as_int64();
  caller.method = method;
  caller.idempotency_key = call.at("idempotency_key").as_bool();
  caller.attempt = static_cast<int>(call.at("attempt").as_int64());
  if (!call.at("deadline_ms").is_null()) {
    caller.left = Milliseconds(call.at("deadline_ms").as_int64());
  }
  Policy policy;
  policy.max_attempts = static_cast<int>(call.at("max_attempts").as_int64());
  policy.cap = Milliseconds(call.at("cap_ms").as_int64());
  policy.base = Milliseconds(call.at("base_ms").as_int64());
  policy.jitter = static_cast<double>(call.at("jitter_percent").as_int64()) / 100;
  policy.headroom = call.at("headroom").as_int64();

  const Advice advice = Advise(answer, caller, policy);
  const json::object& expect = test.at("expect").as_object();
  EXPECT_EQ(NameOf(advice.action), TextOf(expect.at("action")));
  EXPECT_EQ(advice.reason, TextOf(expect.at("reason")));
  EXPECT_EQ(advice.source, TextOf(expect.at("source")));
  EXPECT_EQ(advice.hold.count(), expect.at("hold_ms").as_int64());
  EXPECT_EQ(advice.bucket, TextOf(expect.at("bucket")));
  EXPECT_EQ(advice.everywhere, expect.at("global").as_bool());
  if (expect.at("wait_ms").is_null()) {
    EXPECT_EQ(advice.latest.count(), 0);
  } else {
    EXPECT_EQ(advice.Wait(0).count(), expect.at("wait_ms").at(0).as_int64());
    EXPECT_EQ(advice.Wait(1).count(), expect.at("wait_ms").at(1).as_int64());
  }
  EXPECT_FALSE(advice.Explain().empty());
}

TEST(Vectors, EveryCase) {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(SLUICE_CLIENT_VECTORS)) {
    if (entry.path().extension() != ".json") {
      continue;
    }
    std::stringstream text;
    text << std::ifstream(entry.path()).rdbuf();
    const json::value file = json::parse(text.str());
    for (const json::value& test : file.at("cases").as_array()) {
      SCOPED_TRACE(entry.path().filename().string() + ": " + TextOf(test.at("name")) + ". " +
                   TextOf(test.at("why")));
      Play(test.as_object());
      ++count;
    }
  }
  EXPECT_GE(count, 200);
}

}  // namespace
}  // namespace sluice_client
