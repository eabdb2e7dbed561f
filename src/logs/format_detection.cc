#include "logs/format_detection.h"

#include <algorithm>
#include <array>
#include <utility>

#include "logs/line_parser.h"
#include "logs/line_wrapping.h"

namespace sluice::logs {

namespace {

constexpr int kLinesTried = 100;
constexpr std::size_t kMostWrappings = 3;  // Compose, its timestamps, syslog.

std::string_view TakeLine(std::string_view& head) {
  const std::size_t end = head.find('\n');
  std::string_view line = head.substr(0, end);
  head.remove_prefix(end == head.npos ? head.size() : end + 1);
  if (line.ends_with('\r')) {
    line.remove_suffix(1);
  }
  return line;
}

// A parser for the lines without their wrappings, of a log that begins with `head`.
std::unique_ptr<LineParser> MakeInnerParser(Format format, std::string_view head,
                                            const ParserOptions& options) {
  const ColumnOptions columns{
      .stamps = options.stamps, .wanted = options.wanted, .time = options.time};
  const auto pattern = [&columns](PatternParser::Layout layout) {
    return std::make_unique<PatternParser>(columns, std::move(layout));
  };
  switch (format) {
    case Format::kClf:
      return std::make_unique<ClfParser>(*options.stamps, /*vhost=*/false);
    case Format::kVhostClf:
      return std::make_unique<ClfParser>(*options.stamps, /*vhost=*/true);
    case Format::kHaproxy:
      return std::make_unique<HaproxyParser>(*options.stamps);
    case Format::kAlb:
      return pattern(AlbLayout());
    case Format::kClassicElb:
      return pattern(ClassicElbLayout());
    case Format::kEnvoy:
      return pattern(EnvoyLayout());
    case Format::kIstio:
      return pattern(IstioLayout());
    case Format::kPattern:
      return pattern({.pattern = options.pattern.value_or(LogPattern{})});
    case Format::kDecisions:
      return std::make_unique<DecisionLogParser>(
          ColumnOptions{.stamps = options.utc, .wanted = options.wanted, .time = {}});
    case Format::kJson:
      return std::make_unique<JsonLinesParser>(columns);
    case Format::kW3c:
      return std::make_unique<W3cParser>(
          ColumnOptions{.stamps = options.utc, .wanted = options.wanted, .time = options.time});
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
  return std::make_unique<DelimitedParser>(columns, delimiter, options.column_names);
}

// Scores how much of the first lines a parser understands: a point for each request, and one each
// for its client and its target; a bad line costs what a request with a client gains. So if two
// ways can read a log, the one that finds more in it wins.
struct Score {
  int good = 0;
  int bad = 0;
};
Score ScoreOf(Format format, std::string_view head, const ParserOptions& options) {
  const auto parser = MakeInnerParser(format, head, options);
  LogRecord record;
  Score score;
  for (int i = 0; i < kLinesTried && !head.empty(); ++i) {
    const std::string_view line = TakeLine(head);
    switch (parser->Parse(line, record)) {
      case LineKind::kRequest:
        // A line of decisions says what it is.
        score.good += format == Format::kDecisions ? 4 : 1;
        for (const Field field : {Field::kClient, Field::kIp, Field::kPort}) {
          score.good += record.Get(field).data() == nullptr ? 0 : 1;
        }
        break;
      case LineKind::kBad:
        score.bad += 2;
        break;
      case LineKind::kOther:
        score.good += format == Format::kDecisions && line.starts_with('{') ? 1 : 0;
        break;
    }
  }
  return score;
}

// The first lines without one further wrapping. nullopt if fewer than half of them have it.
struct Unwrapped {
  std::string head;
  int others = 0;  // Lines without it.
};
std::optional<Unwrapped> Unwrap(Wrapping wrapping, std::string_view head) {
  Unwrapper unwrapper(wrapping);
  Unwrapped unwrapped;
  int wrapped = 0;
  for (int i = 0; i < kLinesTried && !head.empty(); ++i) {
    const std::string_view line = TakeLine(head);
    std::string_view content;
    const Unwrapper::Outcome outcome =
        line.empty() ? Unwrapper::Outcome::kPiece : unwrapper.Unwrap(line, content);
    if (outcome == Unwrapper::Outcome::kOther) {
      ++unwrapped.others;
      continue;
    }
    ++wrapped;
    if (outcome == Unwrapper::Outcome::kLine) {
      unwrapped.head.append(content);
      unwrapped.head += '\n';
    }
  }
  return wrapped != 0 && wrapped >= unwrapped.others ? std::optional(std::move(unwrapped))
                                                     : std::nullopt;
}

// A depth-first search: each level removes one wrapping that at least half of the lines have, and
// scores all formats on the rest. With kFormatCount formats, kWrappingCount wrappings and at most
// kMostWrappings levels on kLinesTried lines this takes milliseconds, once per log.
//
// Tries all formats in all wrappings that the log may have.
class Search {
 public:
  Search(const ParserOptions& options, std::optional<Format> said)
      : options_(options), said_(said) {}

  void Try(std::string_view head, const std::vector<Wrapping>& wrappings, int others) {
    for (int i = 0; i < kFormatCount; ++i) {
      const auto format = static_cast<Format>(i);
      if (said_ ? format != *said_ : format == Format::kPattern) {
        continue;
      }
      Score score = ScoreOf(format, head, options_);
      score.bad += 2 * others;
      // A JSON line within a JSON line: if neither names a client, both score the same. The inner
      // one is the request's.
      const bool inner = !wrappings.empty() && wrappings.back() == Wrapping::kJsonText;
      if (score.good >= score.bad &&
          (score.good > best_.good || (inner && score.good != 0 && score.good == best_.good &&
                                       found_.wrappings.size() < wrappings.size()))) {
        best_ = score;
        found_ = {.format = format, .wrappings = wrappings};
      }
    }
    if (wrappings.size() == kMostWrappings) {
      return;
    }
    for (int i = 0; i < kWrappingCount; ++i) {
      const auto wrapping = static_cast<Wrapping>(i);
      if (const auto unwrapped = Unwrap(wrapping, head)) {
        std::vector<Wrapping> more = wrappings;
        more.push_back(wrapping);
        Try(unwrapped->head, more, others + unwrapped->others);
      }
    }
  }

  [[nodiscard]] bool found() const { return best_.good != 0; }
  [[nodiscard]] const LogReading& reading() const { return found_; }

 private:
  const ParserOptions& options_;
  std::optional<Format> said_;
  Score best_;
  LogReading found_;
};

struct FormatName {
  std::string_view word;
  Format format;
};

}  // namespace

std::optional<Format> FormatNamed(std::string_view name) {
  constexpr std::array<FormatName, 13> kNames{{{"common", Format::kClf},
                                               {"combined", Format::kClf},
                                               {"vhost_combined", Format::kVhostClf},
                                               {"haproxy", Format::kHaproxy},
                                               {"alb", Format::kAlb},
                                               {"elb", Format::kClassicElb},
                                               {"envoy", Format::kEnvoy},
                                               {"istio", Format::kIstio},
                                               {"csv", Format::kCsv},
                                               {"tsv", Format::kTsv},
                                               {"decisions", Format::kDecisions},
                                               {"json", Format::kJson},
                                               {"w3c", Format::kW3c}}};
  const auto* const found = std::ranges::find(kNames, name, &FormatName::word);
  return found == kNames.end() ? std::nullopt : std::optional(found->format);
}

std::string_view TitleOf(Format format) {
  constexpr std::array<std::string_view, kFormatCount> kTitles{"common or combined",
                                                               "vhost_combined",
                                                               "HAProxy HTTP",
                                                               "AWS ALB",
                                                               "AWS classic ELB",
                                                               "Envoy text",
                                                               "Istio text",
                                                               "CSV",
                                                               "TSV",
                                                               "Sluice's decision log",
                                                               "JSON lines",
                                                               "W3C",
                                                               "--log-format"};
  return kTitles[static_cast<std::size_t>(format)];
}

std::string TitleOf(const LogReading& reading) {
  std::string title(TitleOf(reading.format));
  for (auto wrapping = reading.wrappings.rbegin(); wrapping != reading.wrappings.rend();
       ++wrapping) {
    title += wrapping == reading.wrappings.rbegin() ? " in " : ", ";
    title += TitleOf(*wrapping);
  }
  return title;
}

bool HasColumns(Format format) {
  return format != Format::kClf && format != Format::kVhostClf && format != Format::kHaproxy;
}

std::unique_ptr<LineParser> MakeParser(const LogReading& reading, std::string_view head,
                                       const ParserOptions& options) {
  if (reading.wrappings.empty()) {
    return MakeInnerParser(reading.format, head, options);
  }
  std::string inner(head);
  for (const Wrapping wrapping : reading.wrappings) {
    if (auto unwrapped = Unwrap(wrapping, inner)) {
      inner = std::move(unwrapped->head);
    }
  }
  return std::make_unique<WrappedParser>(reading.wrappings,
                                         MakeInnerParser(reading.format, inner, options));
}

Result<LogReading> DetectFormat(std::string_view head, const ParserOptions& options,
                                std::optional<Format> said) {
  Search search(options, said);
  search.Try(head, {}, 0);
  if (search.found()) {
    return search.reading();
  }
  if (said) {
    return LogReading{.format = *said};
  }
  if (!options.time.name.empty()) {
    return tl::unexpected(
        Error{.message = "no format reads its first lines with the time in a column called " +
                         options.time.name + "; write its name as the log does, and --format"});
  }
  std::string_view rest = head;
  const bool events = TakeLine(rest).find("\"t_") != std::string_view::npos;
  return tl::unexpected(
      Error{.message = events ? "not a request log; to read events use --format events"
                              : "the format of its first lines is unknown. Set it with --format, "
                                "the column of the time with --time (CSV, JSON, "
                                "W3C), or describe the lines with --log-format"});
}

std::string_view ForeignEncoding(std::string_view head) {
  using namespace std::string_view_literals;
  if (head.starts_with("\xFF\xFE\0\0"sv) || head.starts_with("\0\0\xFE\xFF"sv)) {
    return "UTF-32";
  }
  if (head.starts_with("\xFF\xFE") || head.starts_with("\xFE\xFF")) {
    return "UTF-16";
  }
  // Without a byte order mark: every other byte of ASCII text is zero.
  const std::string_view begin = head.substr(0, 16);
  const auto zeros = [begin](std::size_t from) {
    std::size_t count = 0;
    for (std::size_t i = from; i < begin.size(); i += 2) {
      count += begin[i] == '\0' ? 1 : 0;
    }
    return count;
  };
  const std::size_t half = begin.size() / 2;
  return half >= 4 && ((zeros(0) == half && zeros(1) == 0) || (zeros(1) == half && zeros(0) == 0))
             ? "UTF-16"
             : "";
}

}  // namespace sluice::logs
