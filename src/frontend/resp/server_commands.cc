#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include <unistd.h>

#include "frontend/resp/commands.h"
#include "frontend/resp/connection.h"
#include "frontend/resp/front_end.h"
#include "wire/ascii.h"

namespace sluice::frontend::resp {

namespace {

using wire::EqualsIgnoreCase;

// The version of Redis whose way of setting a connection up is followed here. Clients look at it
// before they use what is newer.
constexpr std::string_view kRedisVersion = "7.0.0";

struct Section {
  std::string_view name;
  std::string text;
};

std::array<Section, 4> SectionsOf(const FrontEnd& front_end) {
  return {
      Section{"Server", "redis_version:" + std::string(kRedisVersion) +
                            "\r\nredis_mode:standalone\r\nserver_name:sluice\r\nsluice_version:" +
                            front_end.settings().version +
                            "\r\nprocess_id:" + std::to_string(::getpid()) + "\r\n"},
      Section{"Clients",
              // Only the clients of this listener on this loop.
              "connected_clients:" + std::to_string(front_end.connections()) + "\r\n"},
      Section{"Persistence", "loading:0\r\n"},
      Section{"Replication", "role:master\r\nconnected_slaves:0\r\n"}};
}

bool IsAsked(const Section& section, Args asked) {
  return asked.empty() || std::ranges::any_of(asked, [&section](std::string_view name) {
           return EqualsIgnoreCase(name, section.name) || EqualsIgnoreCase(name, "all") ||
                  EqualsIgnoreCase(name, "default") || EqualsIgnoreCase(name, "everything");
         });
}

void AppendInfo(const Command& command, wire::RespWriter& reply) {
  reply.Array(10);
  reply.Bulk(command.name);
  reply.Integer(command.arity);
  const bool writes = Has(command.flags, CommandFlag::kWrites);
  const bool no_auth = Has(command.flags, CommandFlag::kNoAuth);
  reply.Array(1U + (no_auth ? 1U : 0U));
  reply.Simple(writes ? "write" : "readonly");
  if (no_auth) {
    reply.Simple("no_auth");
  }
  reply.Integer(command.first_key);
  reply.Integer(command.first_key);               // The last key.
  reply.Integer(command.first_key == 0 ? 0 : 1);  // From key to key.
  reply.Array(0);                                 // ACL categories,
  reply.Array(0);                                 // tips,
  reply.Array(0);                                 // key specifications,
  reply.Array(0);                                 // and there are no subcommands.
}

void AppendDocs(const Command& command, wire::RespWriter& reply) {
  reply.Bulk(command.name);
  reply.Map(3);
  reply.Bulk("summary");
  reply.Bulk(command.summary);
  reply.Bulk("since");
  reply.Bulk("1.0.0");
  reply.Bulk("group");
  reply.Bulk(command.group);
}

void AllInfo(wire::RespWriter reply) {
  reply.Array(AllCommands().size());
  for (const Command& command : AllCommands()) {
    AppendInfo(command, reply);
  }
}

void SomeInfo(Args names, wire::RespWriter reply) {
  reply.Array(names.size());
  for (const std::string_view name : names) {
    if (const Command* command = FindCommand(name); command != nullptr) {
      AppendInfo(*command, reply);
    } else {
      reply.Null();
    }
  }
}

// Unknown names are left out.
void Docs(Args names, wire::RespWriter reply) {
  const auto asked = [names](const Command& command) {
    return names.empty() || std::ranges::any_of(names, [&command](std::string_view name) {
             return EqualsIgnoreCase(name, command.name);
           });
  };
  reply.Map(static_cast<std::size_t>(std::ranges::count_if(AllCommands(), asked)));
  for (const Command& command : AllCommands()) {
    if (asked(command)) {
      AppendDocs(command, reply);
    }
  }
}

void List(wire::RespWriter reply) {
  reply.Array(AllCommands().size());
  for (const Command& command : AllCommands()) {
    reply.Bulk(command.name);
  }
}

}  // namespace

void RunInfo(Args args, Connection& connection) {
  std::string text;
  for (const Section& section : SectionsOf(connection.front_end())) {
    if (IsAsked(section, args.subspan(1))) {
      text += text.empty() ? "# " : "\r\n# ";
      text.append(section.name).append("\r\n").append(section.text);
    }
  }
  connection.Reply().Bulk(text);
}

void RunCommandCommand(Args args, Connection& connection) {
  if (args.size() == 1 || (args.size() == 2 && EqualsIgnoreCase(args[1], "info"))) {
    AllInfo(connection.Reply());
  } else if (EqualsIgnoreCase(args[1], "count") && args.size() == 2) {
    connection.Reply().Integer(static_cast<std::int64_t>(AllCommands().size()));
  } else if (EqualsIgnoreCase(args[1], "docs")) {
    Docs(args.subspan(2), connection.Reply());
  } else if (EqualsIgnoreCase(args[1], "info")) {
    SomeInfo(args.subspan(2), connection.Reply());
  } else if (EqualsIgnoreCase(args[1], "list") && args.size() == 2) {
    List(connection.Reply());
  } else {
    connection.Reply().Error("ERR", "COMMAND takes COUNT, DOCS, INFO and LIST");
  }
}

}  // namespace sluice::frontend::resp
