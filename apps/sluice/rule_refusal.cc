#include "rule_refusal.h"

#include <utility>

#include "sources/api_rules.h"

namespace sluice::app {

using frontend::http::RuleRefusal;

tl::unexpected<RuleRefusal> Refused(int status, std::string code, std::string detail,
                                    std::vector<Error> errors) {
  return tl::unexpected(RuleRefusal{.status = status,
                                    .code = std::move(code),
                                    .detail = std::move(detail),
                                    .errors = std::move(errors)});
}

tl::unexpected<RuleRefusal> RefusedRule(std::string_view own, std::vector<Error> errors) {
  for (Error& error : errors) {
    if (!own.empty() && error.place.file == own) {
      error.place.file.clear();
      error.place.line -= sources::kLinesBeforeBody;
    }
  }
  std::string detail = errors.front().message;
  return Refused(422, "invalid_rule", std::move(detail), std::move(errors));
}

std::string Lines(const std::vector<Error>& errors) {
  std::string text;
  for (const Error& error : errors) {
    text += "\n" + error.Text();
  }
  return text;
}

}  // namespace sluice::app
