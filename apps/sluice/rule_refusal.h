#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

#include "sluice/result.h"

#include "frontend/http/rule_book.h"

namespace sluice::app {

// Why a change of the rules is refused.
[[nodiscard]] tl::unexpected<frontend::http::RuleRefusal> Refused(int status, std::string code,
                                                                  std::string detail,
                                                                  std::vector<Error> errors = {});

// The same of rules with these errors, of which there is at least one. Places in the document
// named `own`, if any, become the body's again that it was made of.
[[nodiscard]] tl::unexpected<frontend::http::RuleRefusal> RefusedRule(std::string_view own,
                                                                      std::vector<Error> errors);

// Each error in a line of its own, behind the text before it.
[[nodiscard]] std::string Lines(const std::vector<Error>& errors);

}  // namespace sluice::app
