#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sluice/result.h"

namespace sluice::app {

// An HTTP response as somebody copied it: what `curl -i` or `curl -v` prints, header lines alone,
// or a body alone.
struct PastedResponse {
  int status = 0;                                           // 0: the text has no status line.
  std::vector<std::pair<std::string, std::string>> fields;  // Names in lower case.
  std::string body;

  // The values of that field (`name` in lower case), joined by ", " as RFC 9110 joins them; nullopt
  // if the response has none.
  [[nodiscard]] std::optional<std::string> Field(std::string_view name) const;
};

// Reads such a text, with any line ends. Of several responses (100 Continue, redirects) the last
// one counts; what is no part of a response is skipped. Errors: the text has no header line and no
// JSON.
[[nodiscard]] Result<PastedResponse> ReadPastedResponse(std::string_view text);

}  // namespace sluice::app
