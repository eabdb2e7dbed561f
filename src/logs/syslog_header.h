#pragma once

#include <optional>
#include <string_view>

namespace sluice::logs {

// What follows a line's syslog header: RFC 3164 as programs write it, RFC 5424, or that of
// journalctl; with or without the priority. nullopt: the line has no such header.
[[nodiscard]] std::optional<std::string_view> SkipSyslogHeader(std::string_view line);

}  // namespace sluice::logs
