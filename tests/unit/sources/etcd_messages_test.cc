#include "sources/etcd_messages.h"

#include <string>

#include <gtest/gtest.h>

#include "sources/etcd_copy.h"
#include "wire/base64.h"

namespace sluice::sources {
namespace {

TEST(Base64Test, HasTheVectorsOfItsRfc) {
  const std::pair<std::string_view, std::string_view> pairs[] = {{"", ""},
                                                                 {"f", "Zg=="},
                                                                 {"fo", "Zm8="},
                                                                 {"foo", "Zm9v"},
                                                                 {"foob", "Zm9vYg=="},
                                                                 {"fooba", "Zm9vYmE="},
                                                                 {"foobar", "Zm9vYmFy"}};
  for (const auto& [bytes, text] : pairs) {
    EXPECT_EQ(wire::ToBase64(bytes), text);
    EXPECT_EQ(wire::FromBase64(text), bytes);
  }
  EXPECT_EQ(wire::FromBase64(wire::ToBase64(std::string("\0\xff\x80", 3))),
            std::string("\0\xff\x80", 3));
}

TEST(Base64Test, RefusesWhatIsNone) {
  for (const std::string_view text : {"Z", "Zg=", "Zg", "Z===", "Zm9$", "Zm=v", "===="}) {
    EXPECT_FALSE(wire::FromBase64(text).has_value()) << text;
  }
}

TEST(EtcdMessagesTest, APrefixEndsBeforeTheNextText) {
  EXPECT_EQ(etcd::EndOfPrefix("/rules/"), "/rules0");
  EXPECT_EQ(etcd::EndOfPrefix("a\xff\xff"), "b");
  EXPECT_EQ(etcd::EndOfPrefix("\xff"), std::string(1, '\0'));
}

TEST(EtcdMessagesTest, ReadsARangeWithNumbersAsText) {
  const auto range = etcd::ReadRange(
      R"({"header":{"cluster_id":"14","member_id":"9","revision":"41","raft_term":"2"},)"
      R"("kvs":[{"key":"L3IvYQ==","create_revision":"3","mod_revision":"40","version":"7",)"
      R"("value":"e30="}],"count":"1"})");
  ASSERT_TRUE(range.has_value());
  EXPECT_EQ(range->cluster, "14");
  EXPECT_EQ(range->revision, 41);
  EXPECT_EQ(range->count, 1);
  ASSERT_EQ(range->keys.size(), 1U);
  EXPECT_EQ(range->keys[0].key, "/r/a");
  EXPECT_EQ(range->keys[0].value, "{}");
  EXPECT_EQ(range->keys[0].mod_revision, 40);
}

TEST(EtcdMessagesTest, AnEmptyRangeLeavesAllOut) {
  const auto range = etcd::ReadRange(R"({"header":{"cluster_id":"14","revision":"1"}})");
  ASSERT_TRUE(range.has_value());
  EXPECT_EQ(range->count, 0);
  EXPECT_TRUE(range->keys.empty());
}

TEST(EtcdMessagesTest, ReadsEventsAndWhyAWatchEnds) {
  const auto events =
      etcd::ReadWatchMessage(R"({"result":{"header":{"revision":"8"},"events":[)"
                             R"({"kv":{"key":"L3IvYQ==","mod_revision":"7","value":"e30="}},)"
                             R"({"type":"DELETE","kv":{"key":"L3IvYg==","mod_revision":"8"}}]}})");
  ASSERT_TRUE(events.has_value());
  ASSERT_EQ(events->events.size(), 2U);
  EXPECT_FALSE(events->events[0].deleted);
  EXPECT_EQ(events->events[0].of.value, "{}");
  EXPECT_TRUE(events->events[1].deleted);
  EXPECT_EQ(events->events[1].of.key, "/r/b");
  EXPECT_EQ(events->revision, 8);

  const auto over = etcd::ReadWatchMessage(
      R"({"result":{"header":{"revision":"9"},"canceled":true,"compact_revision":"5"}})");
  ASSERT_TRUE(over.has_value());
  EXPECT_TRUE(over->canceled);
  EXPECT_EQ(over->compact_revision, 5);

  const auto failed = etcd::ReadWatchMessage(R"({"error":{"grpc_code":14,"message":"gone"}})");
  ASSERT_FALSE(failed.has_value());
  EXPECT_NE(failed.error().message.find("gone"), std::string::npos);
}

TEST(EtcdMessagesTest, WhatIsNoAnswerIsAnError) {
  for (const std::string_view text :
       {"", "{", "[]", "7", R"({"header":7})", R"({"result":[]})",
        R"({"header":{},"kvs":[{"key":"$"}]})", R"({"result":{"events":[7]}})",
        R"({"result":{"events":[{"kv":{"key":"Z"}}]}})"}) {
    EXPECT_FALSE(etcd::ReadRange(text).has_value() && etcd::ReadWatchMessage(text).has_value())
        << text;
    (void)etcd::ReadTxn(text);
    EXPECT_FALSE(etcd::ReadToken(text).has_value()) << text;
  }
  EXPECT_FALSE(etcd::ReadRange(std::string(100'000, '[')).has_value());
}

TEST(EtcdMessagesTest, AWriteIsConditionalOnTheRevision) {
  EXPECT_EQ(etcd::PutIfRequest("k", "v", 12),
            R"({"compare":[{"key":"aw==","target":"MOD","result":"EQUAL","mod_revision":"12"}],)"
            R"("success":[{"request_put":{"key":"aw==","value":"dg=="}}]})");
}

TEST(EtcdMessagesTest, AReasonIsFoundWhereverItIs) {
  EXPECT_EQ(etcd::ReasonOf(R"({"error":"short","message":"long","code":3})"), "long");
  EXPECT_EQ(etcd::ReasonOf(R"({"error":"short"})"), "short");
  EXPECT_EQ(etcd::ReasonOf(std::string(1000, 'x')), std::string(200, 'x'));
}

TEST(EtcdCopyTest, IsReadAsItWasWritten) {
  EtcdSnapshot snapshot{.cluster = "14", .revision = 41, .documents = {}};
  snapshot.documents["a"] = {.text = "{}", .mod_revision = 40};
  snapshot.documents["no/id \xff"] = {.text = std::string("\0\n\"", 3), .mod_revision = 2};
  const auto read = ReadCopy(WriteCopy(snapshot));
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->cluster, "14");
  EXPECT_EQ(read->revision, 41);
  ASSERT_EQ(read->documents.size(), 2U);
  EXPECT_EQ(read->documents.at("no/id \xff").text, std::string("\0\n\"", 3));
  EXPECT_EQ(read->documents.at("a").mod_revision, 40);
}

TEST(EtcdCopyTest, RefusesWhatIsNone) {
  for (const std::string_view text :
       {"", "{}", "[]", R"({"cluster":"1","revision":1,"rules":[{}]})",
        R"({"cluster":"1","revision":1,"rules":[{"id":"$","text":"","mod_revision":1}]})"}) {
    EXPECT_FALSE(ReadCopy(text).has_value()) << text;
  }
}

}  // namespace
}  // namespace sluice::sources
