#pragma once

#include <cstdint>
#include <string_view>

#include "logs/log_record.h"

namespace sluice::logs {

// The meaning of a column of a CSV, W3C or JSON log, by its name.
enum class ColumnKind : std::uint8_t {
  kPlain,        // No known meaning: found by its own name only.
  kTime,         // A complete timestamp, or, if there is a kDate too, perhaps only the time of day.
  kDate,         // 2025-12-17, or a complete timestamp.
  kField,        // `field`.
  kAddressPort,  // An address with its port, even where the address has colons.
  kRequestLine,  // GET /a HTTP/1.1
  kTarget,       // /a?b
  kQuery,        // b
};

struct ColumnRole {
  ColumnKind kind = ColumnKind::kPlain;
  Field field = Field::kIp;
  // If several columns have the same meaning, the lowest rank counts: a proxy's `client_ip` before
  // its `remote_ip`.
  std::uint8_t rank = 0;
};

// Names are compared by their letters and digits only: remote_addr, RemoteAddr and
// request>headers>X-Forwarded-For are remoteaddr and requestheadersxforwardedfor.
[[nodiscard]] ColumnRole RoleOf(std::string_view name);

}  // namespace sluice::logs
