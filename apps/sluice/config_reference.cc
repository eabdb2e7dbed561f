#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "config_map.h"
#include "rules/spelling.h"

// What people read about the fields of a configuration: the reference, and a first file.
namespace sluice::app {

namespace {

std::string Code(std::string_view text) {
  return fmt::format("`{}`", text);
}

// "`evict`, `deny` or `allow`"
std::string WordsText(std::span<const std::string_view> words) {
  std::vector<std::string> quoted;
  for (const std::string_view word : words) {
    quoted.push_back(Code(word));
  }
  const std::vector<std::string_view> views(quoted.begin(), quoted.end());
  return rules::OneOf(views);
}

// What a heading is called in a link: "listeners[].tls" is #listenerstls.
std::string Anchor(std::string_view path) {
  std::string anchor;
  for (const char c : path) {
    if (c != '[' && c != ']' && c != '.') {
      anchor += c;
    }
  }
  return anchor;
}

std::string TypeText(const ConfigField& field, const std::string& path) {
  if (field.map != nullptr) {
    return fmt::format("{}[{}](#{})", field.is_list ? "list of " : "",
                       field.is_list ? "maps" : "map", Anchor(path));
  }
  if (!field.words.empty()) {
    return (field.is_list ? "list of " : "") + WordsText(field.words);
  }
  return field.most ? fmt::format("integer, {} to {}", *field.least, *field.most)
                    : std::string(field.type);
}

std::string PathOf(const std::string& prefix, const ConfigField& field) {
  return prefix + (prefix.empty() ? "" : ".") + std::string(field.name) +
         (field.is_list ? "[]" : "");
}

void AppendMap(const ConfigMap& map, const std::string& path,
               std::string& out) {  // NOLINT(misc-no-recursion)
  out += fmt::format("\n## {}\n\n| field | type | default | meaning |\n| --- | --- | --- | --- |\n",
                     path.empty() ? "The file" : Code(path));
  for (const ConfigField& field : map.fields) {
    if (!field.is_refused) {
      out += fmt::format(
          "| `{}` | {} | {} | {} |\n", field.name, TypeText(field, PathOf(path, field)),
          field.fallback.is_literal ? Code(field.fallback.text) : std::string(field.fallback.text),
          field.meaning);
    }
  }
  for (const ConfigField& field : map.fields) {
    if (field.map != nullptr) {
      AppendMap(*field.map, PathOf(path, field), out);
    }
  }
}

constexpr std::string_view kReferenceHead =
    R"(# Configuration reference

Every field of the daemon's configuration file. [configuration.md](configuration.md) says how to use them. Paths are relative to
the file. `sluice manual --configuration` writes this page.
)";

constexpr std::string_view kFirstFile = R"(# The configuration of a Sluice daemon.
#
#   sluice validate sluice.yaml
#   sluice serve --config sluice.yaml
#
# Every section may be left out: what stands behind a # is the default or an example.
# docs/configuration-reference.md describes all fields.

# Where the daemon listens. Keep these on addresses that only your own services reach.
listeners:
  # For applications and proxies: checks and status.
  - address: 127.0.0.1:8080
    # limit_headers: {}
  # For operators: metrics, rules, modes, the kill switch.
  - {{address: "127.0.0.1:6070", role: admin}}
  # - {{address: "127.0.0.1:8081", protocol: grpc}}
  # - {{address: "127.0.0.1:6380", protocol: resp}}

# The rules. A changed file takes effect when it is saved; an invalid one is rejected.
rule_sources:
  - files: [rules.yaml]
  # Rules that are put over the admin listener, kept in the daemon's state folder.
  # - api: {{}}
)";

// Of `store`: more use than its default.
constexpr std::string_view kRedisExample = R"({redis: {address: "127.0.0.1:6379"}})";

}  // namespace

std::string ConfigurationReference() {
  std::string out(kReferenceHead);
  AppendMap(kConfiguration, "", out);
  return out;
}

std::string FirstConfiguration() {
  std::string out =
      fmt::format(fmt::runtime(kFirstFile), kListenerMap["limit_headers"].fallback.text);
  for (const ConfigField& field : kConfiguration.fields) {
    if (field.fallback.is_literal) {
      out += fmt::format("\n# {}.\n# {}: {}\n", field.meaning, field.name,
                         field.name == "store" ? kRedisExample : field.fallback.text);
    }
  }
  return out;
}

}  // namespace sluice::app
