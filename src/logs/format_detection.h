#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/result.h"

#include "logs/line_parser.h"
#include "logs/line_wrapping.h"
#include "logs/log_pattern.h"
#include "logs/row_reader.h"
#include "logs/stamp.h"

namespace sluice::logs {

// By the name on the command line: common and combined are one parser. nullopt for "auto" and
// unknown names.
[[nodiscard]] std::optional<Format> FormatNamed(std::string_view name);
// For reports: "common or combined", ...
[[nodiscard]] std::string_view TitleOf(Format format);
// Whether its columns have names, so that the time can be selected by name.
[[nodiscard]] bool HasColumns(Format format);

// The options of parsers.
struct ParserOptions {
  StampReader* stamps = nullptr;                     // Of the log's zone.
  StampReader* utc = nullptr;                        // For formats that are always in UTC.
  const std::vector<std::string>* wanted = nullptr;  // AttributePlan::columns().
  std::vector<std::string> column_names{};           // Of a CSV without a header.
  TimeColumn time{};
  std::optional<LogPattern> pattern{};  // Of Format::kPattern.
};

// How a log is read.
struct LogReading {
  Format format = Format::kClf;
  std::vector<Wrapping> wrappings{};  // The outermost first.
};
// "common or combined", "JSON lines in syslog".
[[nodiscard]] std::string TitleOf(const LogReading& reading);

// A parser for a log that begins with `head`. The objects that the options point to outlive it.
[[nodiscard]] std::unique_ptr<LineParser> MakeParser(const LogReading& reading,
                                                     std::string_view head,
                                                     const ParserOptions& options);

// Detects how to read the log that begins with `head`: in the way that reads the most of its first
// lines, and at least half of them. `said`: its format if the caller knows it, which is then used
// in any case. Error: no way reads half of them.
[[nodiscard]] Result<LogReading> DetectFormat(std::string_view head, const ParserOptions& options,
                                              std::optional<Format> said = std::nullopt);

// The encoding of a log that begins with `head`, if it is unsupported: "UTF-16", "UTF-32". "" if it
// may be UTF-8.
[[nodiscard]] std::string_view ForeignEncoding(std::string_view head);

}  // namespace sluice::logs
