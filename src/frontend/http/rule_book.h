#pragma once

#include <cstdint>
#include <functional>
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

// Whom a change concerns: this node alone, or all that follow the same source.
enum class Scope : std::uint8_t { kNode, kFleet };

[[nodiscard]] constexpr std::string_view NameOf(Scope scope) {
  return scope == Scope::kFleet ? "fleet" : "node";
}

// The rules in force, as operators see and change them over the API. One thread.
class RuleBook {
 public:
  // Whom it concerned, or why nothing has changed. Once, during the verb or later.
  using OnDone = std::function<void(tl::expected<Scope, RuleRefusal>)>;

  RuleBook() = default;
  RuleBook(const RuleBook&) = delete;
  RuleBook& operator=(const RuleBook&) = delete;
  virtual ~RuleBook() = default;

  // Before a change that goes by what is read here: puts in force what a source has told and
  // nobody has seen yet, so that a condition judged now is not one on the rule before.
  virtual void CatchUp() = 0;

  // Never nullptr once the daemon serves.
  [[nodiscard]] virtual std::shared_ptr<const rules::RuleSet> rules() const = 0;
  // The rule as its source has it, as JSON; `rule` is one of rules().
  [[nodiscard]] virtual std::string TextOf(const rules::Rule& rule) const = 0;
  // Whom a rule concerns, going by its source.
  [[nodiscard]] virtual Scope ScopeOf(const rules::Rule& rule) const = 0;

  // Puts the API's rule `id` in force and keeps it, on this node or, where there is a source that
  // all nodes follow, there. `body` is the rule's JSON, needed during this only. When it is done,
  // the rule decides every request from then on.
  virtual void Put(std::string_view id, std::string_view body, OnDone on_done) = 0;
  // Takes away the rule `id` that came this way; another source's of that id is in force again.
  virtual void Delete(std::string_view id, OnDone on_done) = 0;
};

}  // namespace sluice::frontend::http
