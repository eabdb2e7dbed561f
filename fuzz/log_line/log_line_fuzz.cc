// Any bytes as the beginning of a log, as its lines in each format, bare and wrapped, and as the
// description of a format. Whatever is read lies within the years that a table can count in, and a
// parser that met garbage reads the next log like a fresh one.

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "logs/format_detection.h"
#include "logs/line_parser.h"
#include "logs/log_record.h"
#include "logs/stamp.h"

namespace {

using sluice::logs::LineKind;

void ReadAs(const sluice::logs::LogReading& reading, std::string_view text,
            const sluice::logs::ParserOptions& options) {
  const auto parser = MakeParser(reading, text, options);
  sluice::logs::LogRecord record;
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t end = rest.find('\n');
    const LineKind kind = parser->Parse(rest.substr(0, end), record);
    if (kind == LineKind::kBad && parser->problem().empty()) {
      std::abort();
    }
    if (kind == LineKind::kRequest) {
      std::size_t bytes = 0;  // Reads every value: a view that dangles is a finding.
      for (const auto* values = record.fields.begin(); values != record.fields.end(); ++values) {
        bytes += std::string(*values).size();
      }
      for (const std::string_view value : record.columns) {
        bytes += std::string(value).size();
      }
      const auto at = record.at.time_since_epoch();
      if (at.count() < 0 || at > std::chrono::seconds(6'058'972'800) || bytes > 100 * text.size()) {
        std::abort();
      }
    }
    rest.remove_prefix(end == rest.npos ? rest.size() : end + 1);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  static sluice::logs::StampReader stamps = *sluice::logs::StampReader::In("Europe/Berlin");
  static sluice::logs::StampReader utc = *sluice::logs::StampReader::In("UTC");
  static const std::vector<std::string> wanted{"a", "request.a", "column_3"};
  sluice::logs::ParserOptions options{.stamps = &stamps, .utc = &utc, .wanted = &wanted};
  // The first line as a format, which the others are in.
  const std::string_view first_line = text.substr(0, text.find('\n'));
  if (auto pattern = sluice::logs::LogPattern::Parse(first_line)) {
    options.pattern = std::move(*pattern);
  }
  for (int i = 0; i < sluice::logs::kFormatCount; ++i) {
    ReadAs({.format = static_cast<sluice::logs::Format>(i)}, text, options);
  }
  for (int i = 0; i < sluice::logs::kWrappingCount; ++i) {
    const auto wrapping = static_cast<sluice::logs::Wrapping>(i);
    for (const auto format : {sluice::logs::Format::kClf, sluice::logs::Format::kJson}) {
      ReadAs({.format = format, .wrappings = {wrapping}}, text, options);
    }
  }
  options.time = {.name = "a", .unit = std::chrono::milliseconds(1)};
  ReadAs({.format = sluice::logs::Format::kCsv}, text, options);
  static_cast<void>(DetectFormat(text, options).has_value());
  options.time = {};
  static_cast<void>(DetectFormat(text, options).has_value());
  static_cast<void>(sluice::logs::ForeignEncoding(text));
  return 0;
}
