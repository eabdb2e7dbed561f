#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

#include "sluice/result.h"

#include "rules/rule_set.h"

namespace sluice::frontend::http {

// Why a change of the rules was refused. Nothing has changed then.
struct RuleRefusal {
  int status = 422;
  std::string code;           // For machines: "invalid_rule".
  std::string detail;         // For a person, in a sentence.
  std::vector<Error> errors;  // What `sluice validate` would say; places in the body have no file.
};

// The rules in force, as operators see and change them over the API. One thread.
class RuleBook {
 public:
  RuleBook() = default;
  RuleBook(const RuleBook&) = delete;
  RuleBook& operator=(const RuleBook&) = delete;
  virtual ~RuleBook() = default;

  // Never nullptr once the daemon serves.
  [[nodiscard]] virtual std::shared_ptr<const rules::RuleSet> rules() const = 0;
  // The rule as its source has it, as JSON; `rule` is one of rules().
  [[nodiscard]] virtual std::string TextOf(const rules::Rule& rule) const = 0;

  // Puts the API's rule `id` in force and keeps it. `body` is the rule's JSON. On return it
  // decides every request from now on.
  [[nodiscard]] virtual tl::expected<void, RuleRefusal> Put(std::string_view id,
                                                            std::string_view body) = 0;
  // Takes the API's rule `id` away; one of that id in a file is in force again.
  [[nodiscard]] virtual tl::expected<void, RuleRefusal> Delete(std::string_view id) = 0;
};

}  // namespace sluice::frontend::http
