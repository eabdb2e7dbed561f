#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/result.h"

#include "logs/log_record.h"
#include "logs/row_reader.h"
#include "logs/stamp.h"

namespace sluice::logs {

// How a log is written.
enum class Format : std::uint8_t {
  kClf,
  kVhostClf,
  kHaproxy,
  kAlb,
  kClassicElb,
  kEnvoy,
  kIstio,
  kCsv,
  kTsv,
  kDecisions,
  kJson,
  kW3c,
  kPattern,  // A layout that the caller describes; never detected.
};
inline constexpr int kFormatCount = 13;

enum class LineKind : std::uint8_t {
  kRequest,
  kOther,  // A header, a comment or an empty line: not a request, and not an error.
  kBad,
};

// Parses the lines of one log, in order: in some formats, a line defines the meaning of the next
// ones. Allocates nothing per line once warm. One thread.
class LineParser {
 public:
  virtual ~LineParser() = default;

  // `line` is without its line break. For kRequest, fills `record`, with the columns that the
  // parser was created for. problem() describes a kBad line.
  [[nodiscard]] virtual LineKind Parse(std::string_view line, LogRecord& record) = 0;

  [[nodiscard]] std::string_view problem() const { return problem_; }

 protected:
  // `why` must be a literal.
  LineKind Bad(std::string_view why) {
    problem_ = why;
    return LineKind::kBad;
  }

 private:
  std::string_view problem_;
};

// The Common Log Format and its variants, as Apache and NGINX write them:
//
//   common    192.0.2.1 - alice [17/Dec/2025:09:03:01 +0000] "GET /a?b HTTP/1.1" 200 512
//   combined  ... "referer" "user agent"; a third quoted text is X-Forwarded-For
//   vhost     example.com:443 192.0.2.1 - alice [...] ...
//
// The rest of a line is ignored. Texts stay as the server escaped them (\x22, \").
class ClfParser final : public LineParser {
 public:
  // `vhost`: whether each line begins with the virtual host. `stamps` outlives the parser.
  ClfParser(StampReader& stamps, bool vhost) : stamps_(stamps), vhost_(vhost) {}

  LineKind Parse(std::string_view line, LogRecord& record) override;

 private:
  StampReader& stamps_;
  bool vhost_;
};

// HAProxy's HTTP log (option httplog), with or without a syslog header:
//
//   192.0.2.1:42617 [02/Feb/2012:04:05:24.385] fe be/srv 0/0/0/1/4 404 638 - - CD-- ...
//     0/0/0/0/0 0/0 {captured} {captured} "GET / HTTP/1.0"
//
// The timestamp is the request's arrival, in the server's time zone. Lines are in the order in
// which requests ended. Lines without a request (TCP, connection errors) are bad. Source: HAProxy
// configuration manual, 8.2.3 "HTTP log format".
class HaproxyParser final : public LineParser {
 public:
  // `stamps` outlives the parser.
  explicit HaproxyParser(StampReader& stamps) : stamps_(stamps) {}

  LineKind Parse(std::string_view line, LogRecord& record) override;

 private:
  StampReader& stamps_;
};

// Columns separated by commas, semicolons or tabs, with texts in "quotes" where necessary ("" is a
// quote in them), on one line (RFC 4180 without line breaks in texts).
//
// The first line names the columns, unless names are given. A first line with a timestamp is not a
// header: then columns are called column_1, column_2, ..., and the time, an address, a method and a
// path are detected by their form.
class DelimitedParser final : public LineParser {
 public:
  // `names`: of the columns; empty: in the first line.
  DelimitedParser(const ColumnOptions& columns, char delimiter,
                  const std::vector<std::string>& names);

  LineKind Parse(std::string_view line, LogRecord& record) override;

  // The delimiter that occurs most often in `line`; nullopt if none does.
  [[nodiscard]] static std::optional<char> DelimiterOf(std::string_view line);

 private:
  // False if a quote is not closed.
  [[nodiscard]] bool Split(std::string_view line);
  [[nodiscard]] std::optional<std::size_t> TakeQuoted(std::string_view line, std::size_t open);
  void NameColumns(const std::vector<std::string_view>& names);
  void GuessColumns();

  StampReader& stamps_;
  RowReader row_;
  char delimiter_;
  std::vector<RowReader::Column> columns_;  // Empty until named.
  std::vector<std::string_view> cells_;
  std::string unquoted_;  // Texts that contained quotes.
};

// The W3C Extended Log File Format, as IIS (with spaces) and CloudFront (with tabs) write it.
// "#Fields:" names the columns that follow, and may change within a file; "#Date:" is the date of
// lines with only a time of day. Times are always UTC. Texts have '+' for blanks. Source: W3C
// working draft WD-logfile-960323.
class W3cParser final : public LineParser {
 public:
  // `columns`: with a StampReader for UTC.
  explicit W3cParser(const ColumnOptions& columns) : row_(columns) {}

  LineKind Parse(std::string_view line, LogRecord& record) override;

 private:
  void ReadDirective(std::string_view line);

  RowReader row_;
  std::vector<RowReader::Column> columns_;
  std::string date_;       // Of the last "#Date:".
  bool has_date_ = false;  // Whether the columns include a date.
};

// One JSON object per line, as Caddy, Traefik, Envoy, NGINX and log shippers write them. Nested
// members are named by their path: request.headers.User-Agent; of an array, the first element
// counts. Numbers are used as written. A line that is not JSON, or nested deeper than 16 levels, is
// bad.
class JsonLinesParser : public LineParser {
 public:
  explicit JsonLinesParser(const ColumnOptions& columns) : JsonLinesParser(columns, false) {}
  ~JsonLinesParser() override;

  LineKind Parse(std::string_view line, LogRecord& record) override;

 protected:
  // `are_decisions`: see DecisionLogParser.
  JsonLinesParser(const ColumnOptions& columns, bool are_decisions);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Sluice's decision log (src/records/decision_json.h): the attributes with which the request came,
// and its cost, with the time at which it was decided. A wanted column is the attribute of that
// name. `status` is 200 or 429. What CL.THROTTLE or Envoy's limits judged is no request of rules,
// so its line is passed over.
class DecisionLogParser final : public JsonLinesParser {
 public:
  explicit DecisionLogParser(const ColumnOptions& columns) : JsonLinesParser(columns, true) {}
};

}  // namespace sluice::logs
