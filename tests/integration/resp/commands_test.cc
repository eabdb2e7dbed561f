// What clients say to set their connection up, and what they ask about the server.
#include "frontend/resp/commands.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "integration/resp/front_end_fixture.h"

namespace sluice::frontend::resp {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

class CommandsTest : public FrontEndFixture {
 protected:
  std::unique_ptr<net::FakeClient> ConnectTo(FrontEndSettings settings = {}) {
    MakeFrontEnd(std::move(settings));
    return Connect();
  }
  static FrontEndSettings Locked() {
    static const AccessToken password("open sesame");
    FrontEndSettings settings;
    settings.password = &password;
    return settings;
  }
  // AUTH with a password that has a blank in it.
  static std::string Auth(std::string_view password, bool with_user = false) {
    std::string bytes;
    if (with_user) {
      wire::AppendRespCommand(std::vector<std::string_view>{"AUTH", "default", password}, bytes);
    } else {
      wire::AppendRespCommand(std::vector<std::string_view>{"AUTH", password}, bytes);
    }
    return bytes;
  }
};

TEST_F(CommandsTest, AnswersThePlainOnes) {
  const auto client = ConnectTo();
  EXPECT_EQ(Ask(*client, "PING"), "PONG");
  EXPECT_EQ(Ask(*client, "ping hi"), "hi");
  EXPECT_EQ(Ask(*client, "ECHO hi"), "hi");
  EXPECT_EQ(Ask(*client, "SELECT 0"), "OK");
  EXPECT_THAT(Ask(*client, "SELECT 1"), StartsWith("ERR DB index is out of range"));
  EXPECT_EQ(Ask(*client, "CLIENT GETNAME"), "nil");
  EXPECT_EQ(Ask(*client, "CLIENT SETNAME web-1"), "OK");
  EXPECT_EQ(Ask(*client, "client getname"), "web-1");
  EXPECT_EQ(Ask(*client, "CLIENT SETINFO LIB-NAME redis-py"), "OK");
  EXPECT_EQ(Ask(*client, "CLIENT SETINFO LIB-VER 5.0"), "OK");
  EXPECT_EQ(Ask(*client, "CLIENT ID"), "1");
  EXPECT_EQ(Ask(*Connect(), "CLIENT ID"), "2");
  EXPECT_THAT(Ask(*client, "CLIENT KILL 1"), StartsWith("ERR CLIENT takes"));
  EXPECT_THAT(Ask(*client, "PING a b"), StartsWith("ERR wrong number of arguments"));
  EXPECT_THAT(Ask(*client, "ECHO"), StartsWith("ERR wrong number of arguments"));
  EXPECT_EQ(Ask(*client, "GET k"), "ERR unknown command 'GET'");
}

TEST_F(CommandsTest, AnswersInlineCommandsWithTheOthers) {
  const auto client = ConnectTo();
  client->Send("PING\r\n\r\nCL.THROTTLE k 0 1 60\n" + Sent("PING") + "ECHO \"a b\"\r\n");
  Turn();
  EXPECT_THAT(Received(*client), ElementsAre("PONG", "[0 1 0 -1 60]", "PONG", "a b"));
}

TEST_F(CommandsTest, HelloChoosesTheProtocol) {
  const auto client = ConnectTo();
  EXPECT_THAT(Ask(*client, "HELLO"), StartsWith("[server sluice version 1.2.3 proto 2 id 1 mode"));
  EXPECT_THAT(Ask(*client, "HELLO 3"),
              StartsWith("{server sluice version 1.2.3 proto 3 id 1 mode"));
  EXPECT_THAT(Ask(*client, "SLUICE.STATUS api user_id=u"),
              StartsWith("{allowed true remaining 10"));
  EXPECT_THAT(Ask(*client, "HELLO 2 SETNAME n"), StartsWith("[server"));
  EXPECT_EQ(Ask(*client, "CLIENT GETNAME"), "n");
  EXPECT_THAT(Ask(*client, "HELLO 4"), StartsWith("NOPROTO"));
  EXPECT_THAT(Ask(*client, "HELLO x"), StartsWith("NOPROTO"));
  EXPECT_THAT(Ask(*client, "HELLO 3 SETNAME"), StartsWith("ERR syntax error"));
  EXPECT_THAT(Ask(*client, "HELLO 3 AUTH default x"), StartsWith("ERR this listener has no"));
  EXPECT_THAT(Ask(*client, "HELLO"), HasSubstr("proto 2"));  // A refused HELLO changes nothing.
}

TEST_F(CommandsTest, ResetForgetsTheSession) {
  const auto client = ConnectTo(Locked());
  client->Send(Auth("open sesame"));
  Turn();
  EXPECT_THAT(Received(*client), ElementsAre("OK"));
  EXPECT_THAT(Ask(*client, "HELLO 3"), StartsWith("{server"));
  EXPECT_EQ(Ask(*client, "RESET"), "RESET");
  EXPECT_THAT(Ask(*client, "PING"), StartsWith("NOAUTH"));
}

TEST_F(CommandsTest, AStrangerMayOnlyAuthenticate) {
  const auto client = ConnectTo(Locked());
  for (const char* line : {"PING", "CL.THROTTLE k 1 1 1", "SLUICE.RESET * user_id=u", "INFO",
                           "COMMAND", "nonsense", "CLIENT ID"}) {
    EXPECT_EQ(Ask(*client, line), "NOAUTH Authentication required.") << line;
  }
  EXPECT_THAT(Ask(*client, "HELLO 3"), StartsWith("NOAUTH HELLO"));
  EXPECT_THAT(Ask(*client, "AUTH wrong"), StartsWith("WRONGPASS"));
  EXPECT_THAT(Ask(*client, "HELLO 3 AUTH default wrong"), StartsWith("WRONGPASS"));
  client->Send(Auth("open sesame"));
  Turn();
  EXPECT_THAT(Received(*client), ElementsAre("OK"));
  EXPECT_EQ(Ask(*client, "PING"), "PONG");
}

TEST_F(CommandsTest, TheUserIsDefault) {
  const auto client = ConnectTo(Locked());
  std::string other;
  wire::AppendRespCommand(std::vector<std::string_view>{"AUTH", "root", "open sesame"}, other);
  client->Send(other + Auth("open sesame", true));
  Turn();
  EXPECT_THAT(Received(*client), ElementsAre(StartsWith("WRONGPASS"), "OK"));
}

TEST_F(CommandsTest, HelloAuthenticatesAndChooses) {
  const auto client = ConnectTo(Locked());
  std::string hello;
  wire::AppendRespCommand(
      std::vector<std::string_view>{"HELLO", "3", "AUTH", "default", "open sesame", "SETNAME", "n"},
      hello);
  client->Send(hello);
  Turn();
  EXPECT_THAT(Received(*client), ElementsAre(StartsWith("{server")));
  EXPECT_EQ(Ask(*client, "CLIENT GETNAME"), "n");
}

TEST_F(CommandsTest, ManyFailedLoginsEndTheConnection) {
  const auto client = ConnectTo(Locked());
  std::string many;
  for (int i = 0; i < 12; ++i) {
    many += Sent("AUTH guess");
  }
  client->Send(many + Auth("open sesame"));
  Turn();
  EXPECT_EQ(Received(*client).size(), 10U);
  EXPECT_TRUE(client->write_shut());
}

TEST_F(CommandsTest, QuitAnswersAndCloses) {
  const auto client = ConnectTo();
  client->Send(Sent("QUIT") + Sent("PING"));
  Turn();
  EXPECT_THAT(Received(*client), ElementsAre("OK"));
  EXPECT_TRUE(client->write_shut());
  client->EndInput();
  Turn();
  EXPECT_TRUE(client->closed());
}

TEST_F(CommandsTest, InfoIsWhatClientsLookFor) {
  const auto client = ConnectTo();
  const std::string all = Ask(*client, "INFO");
  for (const char* line :
       {"# Server\r\n", "redis_version:7.", "redis_mode:standalone\r\n", "sluice_version:1.2.3\r\n",
        "# Clients\r\nconnected_clients:1\r\n", "loading:0\r\n", "role:master\r\n"}) {
    EXPECT_THAT(all, HasSubstr(line));
  }
  EXPECT_EQ(Ask(*client, "INFO clients"), "# Clients\r\nconnected_clients:1\r\n");
  EXPECT_EQ(Ask(*client, "INFO nothing"), "");
}

TEST_F(CommandsTest, CommandTellsWhatThereIs) {
  const auto client = ConnectTo();
  const std::string count = std::to_string(AllCommands().size());
  EXPECT_EQ(Ask(*client, "COMMAND COUNT"), count);
  EXPECT_THAT(Ask(*client, "COMMAND"), HasSubstr("[cl.throttle -5 [write] 1 1 1 [] [] [] []]"));
  EXPECT_EQ(Ask(*client, "COMMAND INFO ping nope"), "[[ping -1 [readonly] 0 0 0 [] [] [] []] nil]");
  EXPECT_THAT(Ask(*client, "COMMAND DOCS PING"),
              StartsWith("[ping [summary Replies PONG, or the given message. since"));
  EXPECT_THAT(Ask(*client, "COMMAND LIST"), StartsWith("[cl.throttle sluice.check "));
  EXPECT_THAT(Ask(*client, "COMMAND GETKEYS x"), StartsWith("ERR COMMAND takes"));
  EXPECT_THAT(Ask(*client, "HELLO 3"), StartsWith("{"));
  EXPECT_THAT(Ask(*client, "COMMAND DOCS nope"), "{}");
  EXPECT_THAT(Ask(*client, "COMMAND DOCS"), HasSubstr("cl.throttle {summary"));
}

TEST_F(CommandsTest, ABrowserIsShownTheFrontEnd) {
  const auto client = ConnectTo();
  client->Send("POST / HTTP/1.1\r\nHost: 127.0.0.1:6380\r\n\r\nSLUICE.RESET * user_id=u\r\n");
  Turn();
  EXPECT_THAT(Received(*client), ElementsAre(HasSubstr("not HTTP")));
  EXPECT_TRUE(client->write_shut());
  const auto get = Connect();
  get->Send("GET / HTTP/1.1\r\nHost: 127.0.0.1:6380\r\n\r\nSLUICE.RESET * user_id=u\r\n");
  Turn();
  EXPECT_THAT(Received(*get), ElementsAre("ERR unknown command 'GET'", HasSubstr("not HTTP")));
  EXPECT_TRUE(get->write_shut());
}

}  // namespace
}  // namespace sluice::frontend::resp
