#include <algorithm>
#include <cstddef>

#include "logs/line_parser.h"

namespace sluice::logs {

namespace {

// Takes the text up to the next `blank`, and the blank.
std::string_view TakeWord(std::string_view& rest, char blank) {
  const std::size_t end = std::min(rest.find(blank), rest.size());
  const std::string_view word = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return word;
}

// The columns of CloudFront's standard log, from the header of its files. Source: "Standard logging
// reference", AWS documentation.
constexpr std::string_view kCloudFrontFields =
    "#Fields: date time x-edge-location sc-bytes c-ip cs-method cs(Host) cs-uri-stem sc-status "
    "cs(Referer) cs(User-Agent) cs-uri-query cs(Cookie) x-edge-result-type x-edge-request-id "
    "x-host-header cs-protocol cs-bytes time-taken x-forwarded-for ssl-protocol ssl-cipher "
    "x-edge-response-result-type cs-protocol-version fle-status fle-encrypted-fields c-port "
    "time-to-first-byte x-edge-detailed-result-type sc-content-type sc-content-len sc-range-start "
    "sc-range-end";

// Whether a line without #Fields before it is from CloudFront files that were joined without their
// headers.
bool IsCloudFronts(std::string_view line) {
  return std::ranges::count(line, '\t') == std::ranges::count(kCloudFrontFields, ' ') - 1 &&
         line.size() > 11 && line[4] == '-' && line[10] == '\t';
}

}  // namespace

void W3cParser::ReadDirective(std::string_view line) {
  const std::size_t colon = line.find(':');
  if (colon == line.npos) {
    return;
  }
  const std::string_view name = line.substr(1, colon - 1);
  std::string_view rest =
      line.substr(std::min(line.find_first_not_of(' ', colon + 1), line.size()));
  if (name == "Date") {
    date_.assign(rest.substr(0, 10));
  } else if (name == "Fields") {
    columns_.clear();
    has_date_ = false;
    const char blank = rest.find('\t') == rest.npos ? ' ' : '\t';
    while (!rest.empty()) {
      const std::string_view word = TakeWord(rest, blank);
      if (!word.empty()) {
        columns_.push_back(row_.ColumnNamed(word));
        has_date_ |= columns_.back().role.kind == ColumnKind::kDate;
      }
    }
  }
}

LineKind W3cParser::Parse(std::string_view line, LogRecord& record) {
  if (line.empty()) {
    return LineKind::kOther;
  }
  if (line.front() == '#') {
    ReadDirective(line);
    return LineKind::kOther;
  }
  if (columns_.empty() && IsCloudFronts(line)) {
    ReadDirective(kCloudFrontFields);
  }
  if (columns_.empty()) {
    return Bad("no #Fields line before it, so its columns are unknown");
  }
  row_.Begin(record);
  if (!has_date_ && !date_.empty()) {
    row_.Set(record, {.role = {.kind = ColumnKind::kDate}}, date_);
  }
  const char blank = line.find('\t') == line.npos ? ' ' : '\t';
  std::string_view rest = line;
  std::size_t count = 0;
  for (; count < columns_.size() && !rest.empty(); ++count) {
    const std::string_view value = TakeWord(rest, blank);
    if (!columns_[count].useless()) {
      row_.Set(record, columns_[count], value);
    }
  }
  if (count != columns_.size() || !rest.empty()) {
    return Bad("it has more or fewer columns than #Fields");
  }
  const std::string_view problem = row_.End(record);
  return problem.empty() ? LineKind::kRequest : Bad(problem);
}

}  // namespace sluice::logs
