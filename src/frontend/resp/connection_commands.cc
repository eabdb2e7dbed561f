#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "frontend/access_token.h"
#include "frontend/resp/commands.h"
#include "frontend/resp/connection.h"
#include "frontend/resp/front_end.h"
#include "wire/ascii.h"

namespace sluice::frontend::resp {

namespace {

using wire::EqualsIgnoreCase;

constexpr std::size_t kNameBytes = 256;

bool IsName(std::string_view name) {
  return name.size() <= kNameBytes &&
         std::ranges::all_of(name, [](char c) { return c > ' ' && c < 0x7f; });
}

void RefuseName(Connection& connection) {
  connection.Reply().Error("ERR", "a client name has at most 256 bytes and no spaces");
}

// Answers the fault, and returns false, unless `user` and `password` are the front end's.
bool Login(std::string_view user, std::string_view password, Connection& connection) {
  TokenCheck& secret = connection.front_end().password();
  if (!secret.asks()) {
    connection.Reply().Error("ERR", "this listener has no password: its configuration has no auth");
    return false;
  }
  const bool right = secret.Admits(password);
  if (right && user == "default") {
    connection.SetAuthenticated();
    return true;
  }
  connection.Reply().Error("WRONGPASS", "invalid username-password pair: the user is `default`");
  if (++connection.session().failed_logins >= connection.front_end().settings().failed_logins) {
    connection.CloseAfterwards();
  }
  return false;
}

void AppendHello(Connection& connection) {
  wire::RespWriter reply = connection.Reply();
  reply.Map(7);
  reply.Bulk("server");
  reply.Bulk("sluice");
  reply.Bulk("version");
  reply.Bulk(connection.front_end().settings().version);
  reply.Bulk("proto");
  reply.Integer(static_cast<std::int64_t>(connection.session().version));
  reply.Bulk("id");
  reply.Integer(static_cast<std::int64_t>(connection.session().id));
  reply.Bulk("mode");
  reply.Bulk("standalone");
  reply.Bulk("role");
  reply.Bulk("master");
  reply.Bulk("modules");
  reply.Array(0);
}

}  // namespace

void RunPing(Args args, Connection& connection) {
  if (args.size() > 2) {
    connection.Reply().Error("ERR", "wrong number of arguments for 'ping' command");
  } else if (args.size() == 2) {
    connection.Reply().Bulk(args[1]);
  } else {
    connection.Reply().Simple("PONG");
  }
}

void RunEcho(Args args, Connection& connection) {
  connection.Reply().Bulk(args[1]);
}

void RunHello(Args args, Connection& connection) {
  Session& session = connection.session();
  wire::RespVersion version = session.version;
  if (args.size() > 1) {
    std::int64_t number = 0;
    if (!wire::ReadRespNumber(args[1], number) || (number != 2 && number != 3)) {
      connection.Reply().Error("NOPROTO", "unsupported protocol version: use 2 or 3");
      return;
    }
    version = static_cast<wire::RespVersion>(number);
  }
  std::optional<std::string_view> name;
  std::size_t login = 0;
  for (std::size_t i = 2; i < args.size();) {
    if (EqualsIgnoreCase(args[i], "auth") && i + 2 < args.size()) {
      login = i + 1;
      i += 3;
    } else if (EqualsIgnoreCase(args[i], "setname") && i + 1 < args.size()) {
      name = args[i + 1];
      i += 2;
    } else {
      connection.Reply().Error("ERR", "syntax error in HELLO: AUTH user password, SETNAME name");
      return;
    }
  }
  if (login != 0 && !Login(args[login], args[login + 1], connection)) {
    return;
  }
  if (!session.authenticated) {
    connection.Reply().Error(
        "NOAUTH",
        "HELLO must be called by an authenticated client, or with AUTH default and the password");
    return;
  }
  if (name && !IsName(*name)) {
    RefuseName(connection);
    return;
  }
  if (name) {
    session.name = *name;
  }
  session.version = version;
  AppendHello(connection);
}

void RunAuth(Args args, Connection& connection) {
  if (args.size() > 3) {
    connection.Reply().Error("ERR", "wrong number of arguments for 'auth' command");
  } else if (Login(args.size() == 3 ? args[1] : "default", args.back(), connection)) {
    connection.Reply().Simple("OK");
  }
}

void RunClient(Args args, Connection& connection) {
  Session& session = connection.session();
  const std::string_view verb = args[1];
  if (EqualsIgnoreCase(verb, "setname") && args.size() == 3) {
    if (!IsName(args[2])) {
      RefuseName(connection);
      return;
    }
    session.name = args[2];
    connection.Reply().Simple("OK");
  } else if (EqualsIgnoreCase(verb, "getname") && args.size() == 2) {
    if (session.name.empty()) {
      connection.Reply().Null();
    } else {
      connection.Reply().Bulk(session.name);
    }
  } else if (EqualsIgnoreCase(verb, "setinfo") && args.size() == 4) {
    // Of the library, for CLIENT LIST, which is not here: taken and not kept.
    if (EqualsIgnoreCase(args[2], "lib-name") || EqualsIgnoreCase(args[2], "lib-ver")) {
      connection.Reply().Simple("OK");
    } else {
      connection.Reply().Error("ERR", "CLIENT SETINFO takes LIB-NAME or LIB-VER");
    }
  } else if (EqualsIgnoreCase(verb, "id") && args.size() == 2) {
    connection.Reply().Integer(static_cast<std::int64_t>(session.id));
  } else {
    connection.Reply().Error("ERR", "CLIENT takes SETNAME, GETNAME, SETINFO and ID");
  }
}

void RunSelect(Args args, Connection& connection) {
  std::int64_t number = 0;
  if (!wire::ReadRespNumber(args[1], number) || number != 0) {
    connection.Reply().Error("ERR", "DB index is out of range: only database 0 exists");
  } else {
    connection.Reply().Simple("OK");
  }
}

void RunResetSession(Args /*args*/, Connection& connection) {
  connection.ResetSession();
  connection.Reply().Simple("RESET");
}

void RunQuit(Args /*args*/, Connection& connection) {
  connection.Reply().Simple("OK");
  connection.CloseAfterwards();
}

}  // namespace sluice::frontend::resp
