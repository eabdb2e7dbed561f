#include "logs/format_detection.h"

#include <algorithm>
#include <array>
#include <utility>

#include "logs/clf.h"
#include "logs/delimited.h"
#include "logs/haproxy.h"
#include "logs/json_lines.h"
#include "logs/w3c.h"

namespace sluice::logs {

namespace {

constexpr int kLinesTried = 100;

std::string_view TakeLine(std::string_view& head) {
  const std::size_t end = head.find('\n');
  std::string_view line = head.substr(0, end);
  head.remove_prefix(end == head.npos ? head.size() : end + 1);
  if (line.ends_with('\r')) {
    line.remove_suffix(1);
  }
  return line;
}

// How much of the first lines is understood, read as `format`: a point for each request, and one
// for each of what tells where it came from and to; a bad line costs what a request with a client
// gains. So of two formats that both can read a log, the one that finds more in it is taken.
struct Score {
  int good = 0;
  int bad = 0;
};
Score ScoreOf(Format format, std::string_view head, const ParserOptions& options) {
  const auto parser = MakeParser(format, head, options);
  LogRecord record;
  Score score;
  for (int i = 0; i < kLinesTried && !head.empty(); ++i) {
    switch (parser->Parse(TakeLine(head), record)) {
      case LineKind::kRequest:
        score.good += 1;
        for (const Field field : {Field::kClient, Field::kIp, Field::kPort}) {
          score.good += record.Get(field).data() == nullptr ? 0 : 1;
        }
        break;
      case LineKind::kBad:
        score.bad += 2;
        break;
      case LineKind::kOther:
        break;
    }
  }
  return score;
}

}  // namespace

std::optional<Format> FormatNamed(std::string_view name) {
  constexpr std::array<std::pair<std::string_view, Format>, 8> kNames{
      {{"common", Format::kClf},
       {"combined", Format::kClf},
       {"vhost_combined", Format::kVhostClf},
       {"haproxy", Format::kHaproxy},
       {"csv", Format::kCsv},
       {"tsv", Format::kTsv},
       {"json", Format::kJson},
       {"w3c", Format::kW3c}}};
  for (const auto& [word, format] : kNames) {
    if (word == name) {
      return format;
    }
  }
  return std::nullopt;
}

std::string_view TitleOf(Format format) {
  constexpr std::array<std::string_view, kFormatCount> kTitles{
      "common or combined", "vhost_combined", "HAProxy HTTP", "CSV", "TSV", "JSON lines", "W3C"};
  return kTitles[static_cast<std::size_t>(format)];
}

std::unique_ptr<LineParser> MakeParser(Format format, std::string_view head,
                                       const ParserOptions& options) {
  switch (format) {
    case Format::kClf:
      return std::make_unique<ClfParser>(*options.stamps, /*vhost=*/false);
    case Format::kVhostClf:
      return std::make_unique<ClfParser>(*options.stamps, /*vhost=*/true);
    case Format::kHaproxy:
      return std::make_unique<HaproxyParser>(*options.stamps);
    case Format::kJson:
      return std::make_unique<JsonLinesParser>(*options.stamps, *options.wanted);
    case Format::kW3c:
      return std::make_unique<W3cParser>(*options.utc, *options.wanted);
    case Format::kCsv:
    case Format::kTsv:
      break;
  }
  char delimiter = '\t';
  if (format == Format::kCsv) {
    std::string_view line = head;
    delimiter = DelimitedParser::DelimiterOf(TakeLine(line)).value_or(',');
    delimiter = delimiter == '\t' ? ',' : delimiter;
  }
  return std::make_unique<DelimitedParser>(*options.stamps, *options.wanted, delimiter,
                                           options.column_names);
}

Result<Format> DetectFormat(std::string_view head, const ParserOptions& options) {
  Format best = Format::kClf;
  Score best_score;
  for (int i = 0; i < kFormatCount; ++i) {
    const auto format = static_cast<Format>(i);
    const Score score = ScoreOf(format, head, options);
    if (score.good > best_score.good && score.good >= score.bad) {
      best = format;
      best_score = score;
    }
  }
  if (best_score.good != 0) {
    return best;
  }
  std::string_view rest = head;
  const bool events = TakeLine(rest).find("\"t_") != std::string_view::npos;
  return tl::unexpected(
      Error{.message = events ? "no request log; events are read with --format events"
                              : "no format that we know reads its first lines; say which it is "
                                "with --format (a CSV needs a column for the time, in its header "
                                "or in --columns)"});
}

}  // namespace sluice::logs
