#include "logs/log_pattern.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "base/fault.h"
#include "wire/ascii.h"

namespace sluice::logs {

namespace {

bool IsNameByte(char c) {
  const char lower = wire::ToLower(c);
  return wire::IsDigit(c) || (lower >= 'a' && lower <= 'z') || c == '_';
}

// Consumes "$name" or "${name}" from `text`, which begins with the dollar.
Result<std::string> TakeVariable(std::string_view& text) {
  text.remove_prefix(1);
  std::string_view name;
  if (text.starts_with('{')) {
    const std::size_t close = text.find('}');
    if (close == text.npos) {
      return Fault("the { is not closed");
    }
    name = text.substr(1, close - 1);
    text.remove_prefix(close + 1);
  } else {
    const auto* const end = std::ranges::find_if_not(text, IsNameByte);
    name = text.substr(0, static_cast<std::size_t>(end - text.begin()));
    text.remove_prefix(name.size());
  }
  if (name.empty()) {
    return Fault("a $ has no name after it");
  }
  return std::string(name);
}

// The text up to the next variable; "\t" is a tab, as on a command line.
std::string TakeLiteral(std::string_view& text) {
  std::string literal;
  while (!text.empty() && text.front() != '$') {
    const bool tab = text.starts_with("\\t");
    literal += tab ? '\t' : text.front();
    text.remove_prefix(tab ? 2 : 1);
  }
  return literal;
}

PatternParser::Layout Builtin(std::string_view text, std::size_t least_columns,
                              std::string last_resort_time = "") {
  auto pattern = LogPattern::Parse(text);
  SLUICE_ASSERT(pattern.has_value());
  return {.pattern = std::move(*pattern),
          .least_columns = least_columns,
          .blanks_separate = true,
          .last_resort_time = std::move(last_resort_time)};
}

}  // namespace

Result<LogPattern> LogPattern::Parse(std::string_view text) {
  LogPattern pattern;
  pattern.begin = TakeLiteral(text);
  while (!text.empty()) {
    if (!pattern.columns.empty() && pattern.columns.back().literal.empty()) {
      return Fault("no text separates $" + pattern.columns.back().name + " from the next variable");
    }
    auto name = TakeVariable(text);
    if (!name) {
      return tl::unexpected(std::move(name.error()));
    }
    pattern.columns.push_back({.name = std::move(*name), .literal = TakeLiteral(text)});
  }
  if (pattern.columns.empty()) {
    return Fault("it has no $variable");
  }
  return pattern;
}

PatternParser::PatternParser(const ColumnOptions& columns, Layout layout)
    : row_(columns),
      begin_(std::move(layout.pattern.begin)),
      least_columns_(layout.least_columns == 0 ? layout.pattern.columns.size()
                                               : layout.least_columns),
      blanks_separate_(layout.blanks_separate),
      first_values_(std::move(layout.first_values)) {
  std::string_view before = begin_;
  for (const LogPattern::Column& named : layout.pattern.columns) {
    Column column{.role = row_.ColumnNamed(named.name),
                  .literal = named.literal,
                  .closing = named.literal.substr(0, named.literal.find(' ')),
                  .quoted = before.ends_with('"') && named.literal.starts_with('"')};
    if (!layout.last_resort_time.empty() && named.name == layout.last_resort_time &&
        columns.time.name != named.name) {
      column.role.role.rank = 254;
    }
    columns_.push_back(std::move(column));
    before = named.literal;
  }
}

std::size_t PatternParser::EndOf(const Column& column, std::string_view rest) const {
  if (column.quoted) {
    for (std::size_t at = rest.find(column.literal); at != rest.npos;
         at = rest.find(column.literal, at + 1)) {
      std::size_t slashes = 0;
      while (slashes < at && rest[at - 1 - slashes] == '\\') {
        ++slashes;
      }
      if (slashes % 2 == 0) {
        return at;
      }
    }
    return rest.npos;
  }
  if (blanks_separate_ && column.literal.starts_with(' ')) {
    const std::size_t blank = rest.find(' ');
    return blank != rest.npos && rest.substr(blank).starts_with(column.literal) ? blank : rest.npos;
  }
  return rest.find(column.literal);
}

LineKind PatternParser::Parse(std::string_view line, LogRecord& record) {
  if (line.empty()) {
    return LineKind::kOther;
  }
  if (!line.starts_with(begin_)) {
    return Bad("its beginning does not match the format");
  }
  row_.Begin(record);
  std::string_view rest = line.substr(begin_.size());
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const Column& column = columns_[i];
    std::size_t end = column.literal.empty() ? rest.size() : EndOf(column, rest);
    std::size_t next = end + column.literal.size();
    if (end == rest.npos) {  // The line may end here, if it has the required columns.
      if (i + 1 < least_columns_ || !rest.ends_with(column.closing)) {
        return Bad("it does not match the format");
      }
      end = rest.size() - column.closing.size();
      next = rest.size();
    }
    const std::string_view value = rest.substr(0, end);
    if (i == 0 && !first_values_.empty() &&
        std::ranges::find(first_values_, value) == first_values_.end()) {
      return Bad("its beginning does not match the format");
    }
    if (column.role.role.field == Field::kIp && column.role.role.kind == ColumnKind::kField &&
        value.find(' ') != value.npos && value.find(',') == value.npos) {
      return Bad("the client's field has more than one value");
    }
    if (!column.role.useless()) {
      row_.Set(record, column.role, value);
    }
    rest.remove_prefix(std::min(next, rest.size()));
    if (rest.empty() && i + 1 >= least_columns_) {
      break;
    }
  }
  const std::string_view problem = row_.End(record);
  return problem.empty() ? LineKind::kRequest : Bad(problem);
}

// Source: "Access logs for your Application Load Balancer", AWS documentation. Older lines end
// earlier. `time` is the end of the response; the request arrived at request_creation_time.
PatternParser::Layout AlbLayout() {
  PatternParser::Layout layout = Builtin(
      R"($type $time $elb ${client:port} ${target:port} $request_processing_time )"
      R"($target_processing_time $response_processing_time $elb_status_code $target_status_code )"
      R"($received_bytes $sent_bytes "$request" "$user_agent" $ssl_cipher $ssl_protocol )"
      R"($target_group_arn "$trace_id" "$domain_name" "$chosen_cert_arn" $matched_rule_priority )"
      R"($request_creation_time "$actions_executed" "$redirect_url" "$error_reason")",
      13, "time");
  layout.first_values = {"http", "https", "h2", "grpcs", "ws", "wss"};
  return layout;
}

// Source: "Access logs for your Classic Load Balancer", AWS documentation.
PatternParser::Layout ClassicElbLayout() {
  return Builtin(R"($time $elb ${client:port} ${backend:port} $request_processing_time )"
                 R"($backend_processing_time $response_processing_time $elb_status_code )"
                 R"($backend_status_code $received_bytes $sent_bytes "$request" "$user_agent" )"
                 R"($ssl_cipher $ssl_protocol)",
                 12);
}

// Source: "Access logging", Envoy documentation: the default format string.
PatternParser::Layout EnvoyLayout() {
  return Builtin(
      R"([$start_time] "$request" $response_code $response_flags $bytes_received $bytes_sent )"
      R"($duration_ms $upstream_service_time "$x_forwarded_for" "$user_agent" "$request_id" )"
      R"("$authority" "$upstream_host")",
      13);
}

// Source: "Envoy Access Logs", Istio documentation: the default format string.
PatternParser::Layout IstioLayout() {
  return Builtin(
      R"([$start_time] "$request" $response_code $response_flags $response_code_details )"
      R"($connection_termination_details "$upstream_transport_failure_reason" $bytes_received )"
      R"($bytes_sent $duration_ms $upstream_service_time "$x_forwarded_for" "$user_agent" )"
      R"("$request_id" "$authority" "$upstream_host" $upstream_cluster $upstream_local_address )"
      R"($downstream_local_address $downstream_remote_address $requested_server_name $route_name)",
      16);
}

}  // namespace sluice::logs
