#include "pasted_response.h"

#include <algorithm>
#include <charconv>

#include "base/fault.h"
#include "wire/ascii.h"

namespace sluice::app {

namespace {

// The next line of `text`, without its end.
std::string_view TakeLine(std::string_view& text) {
  const std::size_t end = text.find('\n');
  std::string_view line = text.substr(0, end);
  text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  if (line.ends_with('\r')) {
    line.remove_suffix(1);
  }
  return line;
}

std::string_view Trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  return first == std::string_view::npos
             ? std::string_view()
             : text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

// The status of "HTTP/1.1 429 Too Many Requests"; 0 for another line.
int StatusIn(std::string_view line) {
  const std::size_t blank = line.find(' ');
  if (!line.starts_with("HTTP/") || blank == std::string_view::npos) {
    return 0;
  }
  int status = 0;
  const std::string_view digits = line.substr(blank + 1, 3);
  (void)std::from_chars(digits.data(), digits.data() + digits.size(), status);
  return status;
}

// Of what `curl -v` prints, all but the response.
bool IsOfCurl(std::string_view line) {
  return line.starts_with("* ") || line.starts_with("> ") || line == ">" ||
         line.starts_with("{ [") || line.starts_with("} [");
}

bool IsNameCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '_';
}

// Adds the line if it is a field's.
void AddField(std::string_view line, PastedResponse& response) {
  const std::size_t colon = line.find(':');
  const std::string_view name = line.substr(0, colon);
  if (colon == std::string_view::npos || name.empty() ||
      !std::ranges::all_of(name, IsNameCharacter)) {
    return;
  }
  std::string lower(name);
  std::ranges::transform(lower, lower.begin(), wire::ToLower);
  response.fields.emplace_back(std::move(lower), Trimmed(line.substr(colon + 1)));
}

}  // namespace

std::optional<std::string> PastedResponse::Field(std::string_view name) const {
  std::optional<std::string> joined;
  for (const auto& [field, value] : fields) {
    if (field == name) {
      joined = joined ? *joined + ", " + value : value;
    }
  }
  return joined;
}

Result<PastedResponse> ReadPastedResponse(std::string_view text) {
  PastedResponse response;
  bool in_header = true;
  while (!text.empty()) {
    std::string_view line = TakeLine(text);
    if (IsOfCurl(line)) {
      continue;
    }
    if (line.starts_with("< ") || line == "<") {
      line = line.substr(1);
    }
    if (const int status = StatusIn(Trimmed(line)); status != 0) {
      response = {.status = status, .fields = {}, .body = {}};
      in_header = true;
      continue;
    }
    if (in_header && !line.starts_with('{')) {
      in_header = response.fields.empty() || !Trimmed(line).empty();
      AddField(Trimmed(line), response);
      continue;
    }
    in_header = false;
    response.body.append(line).push_back('\n');
  }
  if (response.fields.empty() && response.body.empty()) {
    return Fault(
        "this is no response: paste its header lines, such as `curl -i` prints them, or its body");
  }
  return response;
}

}  // namespace sluice::app
