#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "sluice/time.h"

namespace sluice::logs {

// What a request log can say of a request whatever its format: the names under which rules
// find it. Formats with columns of their own (CSV, JSON, W3C) have those besides.
enum class Field : std::uint8_t {
  kIp,            // The client's address, without port; absent where the log has a name.
  kClient,        // The client as the log writes it: address or name.
  kMethod,        // GET
  kPath,          // /a/b?x=1
  kEndpoint,      // The path without its query: /a/b
  kProtocol,      // HTTP/1.1
  kHost,          // Without port.
  kPort,          // That the request came in on.
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
  kDurationMs,    // How long the request took, where the log says it in milliseconds.
};
inline constexpr std::size_t kFieldCount = 19;

// "ip", "user_agent", ...
[[nodiscard]] std::string_view NameOf(Field field);
[[nodiscard]] std::optional<Field> FieldNamed(std::string_view name);

// One line of a log, read. Views point into the line or into its parser, until the parser's
// next line. A view without data is an absent value.
struct LogRecord {
  WallInstant at{};
  std::array<std::string_view, kFieldCount> fields{};
  std::vector<std::string_view> columns;  // By the index under which each was asked for.

  // Forgets everything and has room for `count` columns.
  void Clear(std::size_t count) {
    fields.fill({});
    columns.assign(count, {});
  }
  [[nodiscard]] std::string_view Get(Field field) const {
    return fields[static_cast<std::size_t>(field)];
  }
  void Set(Field field, std::string_view value) { fields[static_cast<std::size_t>(field)] = value; }
};

}  // namespace sluice::logs
