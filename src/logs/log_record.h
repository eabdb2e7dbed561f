#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "sluice/time.h"

namespace sluice::logs {

// The fields of a request that logs of any format may have, by the names that rules use. Formats
// with named columns (CSV, JSON, W3C) have those too.
enum class Field : std::uint8_t {
  kIp,            // The client's address, without port; absent if the log has a host name.
  kClient,        // The client as the log writes it: address or name.
  kMethod,        // GET
  kPath,          // /a/b?x=1
  kEndpoint,      // The path without its query: /a/b
  kProtocol,      // HTTP/1.1
  kHost,          // Without port.
  kPort,          // The port that received the request.
  kStatus,        // 200
  kBytes,         // Sent.
  kReferer,       //
  kUserAgent,     //
  kUser,          // Authenticated.
  kForwardedFor,  // The first address of an X-Forwarded-For.
  kFrontend,      // HAProxy's names ...
  kBackend,       //
  kServer,        //
  kTermination,   // ... its termination state: PR--
  kDurationMs,    // The duration of the request, if the log has it in milliseconds.
};
inline constexpr std::size_t kFieldCount = 19;

// By its name: "ip", "user_agent", ...
[[nodiscard]] std::optional<Field> FieldNamed(std::string_view name);

// One parsed line of a log. Views point into the line or the parser, and are valid until the
// parser's next line. A view without data is an absent value.
struct LogRecord {
  WallInstant at{};
  std::array<std::string_view, kFieldCount> fields{};
  std::vector<std::string_view> columns;  // By the index in the list of wanted columns.
  std::string_view cost;                  // Of a logged decision, whose columns are attributes.

  // Clears everything and makes room for `count` columns.
  void Clear(std::size_t count) {
    fields.fill({});
    columns.assign(count, {});
    cost = {};
  }
  [[nodiscard]] std::string_view Get(Field field) const {
    return fields[static_cast<std::size_t>(field)];
  }
  void Set(Field field, std::string_view value) { fields[static_cast<std::size_t>(field)] = value; }
};

// Parts that several formats have in common: the request's target and its client.

// "GET /a?b HTTP/1.1": sets method, path, endpoint and protocol, and the host if the target has
// one. Any other text (a TLS hello on a plain port, "-") is still a request, without these fields.
void SetRequestLine(LogRecord& record, std::string_view line);

// "/a?b", "http://host/a?b": sets path and endpoint, and the host if the target has it and it is
// not set yet. Requires `target` not empty.
void SetTarget(LogRecord& record, std::string_view target);

// "192.0.2.1", "192.0.2.1:4711", "[2001:db8::1]:4711", "h1.example.net": sets the client, and the
// ip if it looks like one (it is parsed when it is counted).
void SetClient(LogRecord& record, std::string_view client);

// "example.com:8080" without its port; a lone IPv6 address stays whole.
[[nodiscard]] std::string_view WithoutPort(std::string_view host);

// "192.0.2.1:4711" or "2001:db8::1:4711" without the port, which is always present.
[[nodiscard]] std::string_view WithoutLastPort(std::string_view address);

// The first item of "192.0.2.1, 10.0.0.1".
[[nodiscard]] std::string_view FirstOfList(std::string_view list);

}  // namespace sluice::logs
