#include "logs/log_record.h"

namespace sluice::logs {

namespace {

constexpr std::array<std::string_view, kFieldCount> kNames{
    "ip",       "client",  "method", "path",        "endpoint",   "protocol", "host",
    "port",     "status",  "bytes",  "referer",     "user_agent", "user",     "forwarded_for",
    "frontend", "backend", "server", "termination", "duration_ms"};

}  // namespace

std::string_view NameOf(Field field) {
  return kNames[static_cast<std::size_t>(field)];
}

std::optional<Field> FieldNamed(std::string_view name) {
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i] == name) {
      return static_cast<Field>(i);
    }
  }
  return std::nullopt;
}

}  // namespace sluice::logs
