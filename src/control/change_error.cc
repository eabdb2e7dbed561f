#include "control/change_error.h"

#include <utility>

#include "sources/api_rules.h"

namespace sluice::control {

tl::unexpected<ChangeError> Refused(ErrorCode code, std::string detail, std::vector<Error> errors) {
  return tl::unexpected(
      ChangeError{.code = code, .detail = std::move(detail), .errors = std::move(errors)});
}

tl::unexpected<ChangeError> RefusedRule(std::string_view own, std::vector<Error> errors) {
  for (Error& error : errors) {
    if (!own.empty() && error.place.file == own) {
      error.place.file.clear();
      error.place.line -= sources::kLinesBeforeBody;
    }
  }
  std::string detail = errors.front().message;
  return Refused(ErrorCode::kInvalid, std::move(detail), std::move(errors));
}

std::string Lines(const std::vector<Error>& errors) {
  std::string text;
  for (const Error& error : errors) {
    text += "\n" + error.Text();
  }
  return text;
}

}  // namespace sluice::control
