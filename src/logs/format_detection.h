#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/result.h"

#include "logs/line_parser.h"
#include "logs/stamp.h"

namespace sluice::logs {

// The words of the command line: common and combined are one parser.
[[nodiscard]] std::optional<Format> FormatNamed(std::string_view name);
// For reports: "Apache/NGINX common or combined", ...
[[nodiscard]] std::string_view TitleOf(Format format);

// What parsers need besides the log.
struct ParserOptions {
  StampReader* stamps = nullptr;                     // Of the log's zone.
  StampReader* utc = nullptr;                        // For formats that say they are in UTC.
  const std::vector<std::string>* wanted = nullptr;  // AttributePlan::columns().
  std::vector<std::string> column_names;             // Of a CSV without a header.
};

// A parser for a log that begins with `head`. What the options point to outlives it.
[[nodiscard]] std::unique_ptr<LineParser> MakeParser(Format format, std::string_view head,
                                                     const ParserOptions& options);

// The format of the log that begins with `head`: the one that reads most of its first lines,
// at least half of them. Error: none does.
[[nodiscard]] Result<Format> DetectFormat(std::string_view head, const ParserOptions& options);

}  // namespace sluice::logs
