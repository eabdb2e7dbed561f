#include "redis/slot_map.h"

#include <string>

#include <gtest/gtest.h>

namespace sluice::redis {
namespace {

const net::DialTarget kAsked{.host = "10.0.0.9", .port = "7000", .path = {}};

std::optional<SlotMap> Read(const std::string& bytes) {
  static wire::RespReplyParser parser;
  parser = wire::RespReplyParser();
  parser.Append(bytes);
  EXPECT_EQ(parser.Next(), wire::RespReplyParser::Event::kReply);
  return ReadSlotMap(parser.reply(), kAsked);
}

// The values that Redis's cluster specification gives.
TEST(SlotMapTest, PlacesATagAsTheClusterDoes) {
  EXPECT_EQ(SlotOfTag("123456789"), 0x31C3 % 16384);
  EXPECT_EQ(SlotOfTag("foo"), 12182);
  EXPECT_EQ(SlotOfTag(""), 0);
}

TEST(SlotMapTest, PlacesAKeyByWhatStandsBetweenItsFirstBraces) {
  EXPECT_EQ(SlotOfKey("foo"), SlotOfTag("foo"));
  EXPECT_EQ(SlotOfKey("a{foo}b{bar}"), SlotOfTag("foo"));
  EXPECT_EQ(SlotOfKey("a{{foo}}"), SlotOfTag("{foo"));
  for (const std::string key : {"a{}b{foo}", "a{foo", "a}foo{", "}{"}) {
    EXPECT_EQ(SlotOfKey(key), SlotOfTag(key)) << key;
  }
}

TEST(SlotMapTest, ReadsWhoOwnsWhat) {
  const auto map = Read(
      "*2\r\n"
      "*4\r\n:0\r\n:5460\r\n"
      "*4\r\n$8\r\n10.0.0.1\r\n:6379\r\n$2\r\nid\r\n*2\r\n$8\r\nhostname\r\n$1\r\nh\r\n"
      "*3\r\n$8\r\n10.0.0.2\r\n:6379\r\n$2\r\nid\r\n"
      "*3\r\n:5462\r\n:16383\r\n*3\r\n$-1\r\n:6380\r\n$2\r\nid\r\n");
  ASSERT_TRUE(map);
  ASSERT_EQ(map->nodes.size(), 2U);
  EXPECT_EQ(map->nodes[0].Text(), "10.0.0.1:6379");
  EXPECT_EQ(map->nodes[1].Text(), "10.0.0.9:6380");  // Its own host, which it does not know.
  EXPECT_EQ(map->owner[0], 0);
  EXPECT_EQ(map->owner[5460], 0);
  EXPECT_EQ(map->owner[5461], SlotMap::kNobody);
  EXPECT_EQ(map->owner[16383], 1);
}

TEST(SlotMapTest, WhatIsNoSuchReplyIsNoMap) {
  for (const char* bytes :
       {"+OK\r\n", "*1\r\n:1\r\n", "*1\r\n*3\r\n:5\r\n:4\r\n*2\r\n$1\r\na\r\n:1\r\n",
        "*1\r\n*3\r\n:0\r\n:16384\r\n*2\r\n$1\r\na\r\n:1\r\n",
        "*1\r\n*3\r\n:0\r\n:1\r\n*2\r\n$1\r\na\r\n:0\r\n", "*1\r\n*3\r\n:0\r\n:1\r\n:2\r\n"}) {
    EXPECT_FALSE(Read(bytes)) << bytes;
  }
}

TEST(SlotMapTest, ReadsWhereACallIsSent) {
  const auto moved = ReadRedirection("MOVED 3999 127.0.0.1:6381", kAsked);
  ASSERT_TRUE(moved);
  EXPECT_FALSE(moved->ask);
  EXPECT_EQ(moved->slot, 3999);
  EXPECT_EQ(moved->target.Text(), "127.0.0.1:6381");
  const auto ask = ReadRedirection("ASK 1 :6381", kAsked);
  ASSERT_TRUE(ask);
  EXPECT_TRUE(ask->ask);
  EXPECT_EQ(ask->target.Text(), "10.0.0.9:6381");
  EXPECT_EQ(ReadRedirection("MOVED 2 ::1:6381", kAsked)->target.host, "::1");
  for (const char* error : {"MOVED", "MOVED 1", "MOVED x a:1", "MOVED 16384 a:1",
                            "ASK 1 a:", "ASK 1 a:b", "TRYAGAIN", "ERR"}) {
    EXPECT_FALSE(ReadRedirection(error, kAsked)) << error;
  }
}

}  // namespace
}  // namespace sluice::redis
