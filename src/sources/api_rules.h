#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/result.h"

#include "rules/findings.h"
#include "rules/rule_set.h"

namespace sluice::sources {

// The rules that came over the API: a document each, kept in a folder as <id>.json, so that
// they are in force again after a restart. One thread at a time.
class ApiRules {
 public:
  using Documents = std::map<std::string, std::string, std::less<>>;  // By rule id.

  // Without a folder ("") nothing is kept beyond the process.
  explicit ApiRules(std::string folder) : folder_(std::move(folder)) {}

  // Reads what the folder has; a missing folder is not an error. What else lies in it is left
  // alone. Errors: a file that cannot be read.
  [[nodiscard]] Result<void> Load();

  [[nodiscard]] const Documents& documents() const { return documents_; }
  [[nodiscard]] bool is_kept() const { return !folder_.empty(); }

  // The sources that `documents` are, for RuleSet::Build.
  [[nodiscard]] std::vector<rules::SourceText> Sources(const Documents& documents) const;

  // On disk first, then here: on an error nothing has changed.
  [[nodiscard]] Result<void> Put(const std::string& id, const std::string& document);
  [[nodiscard]] Result<void> Erase(const std::string& id);

 private:
  [[nodiscard]] std::string PathOf(std::string_view id) const;

  std::string folder_;
  Documents documents_;
};

// How many lines of a document precede the body that it was made of.
inline constexpr int kLinesBeforeBody = 1;

// The document of rule `id` whose fields are `body`: one JSON object (or YAML of that form),
// with no `id` or with this one. Places in it are the body's, kLinesBeforeBody lines down. What
// keeps the body from being one rule goes to `findings`, placed in the body itself, and the
// result is "".
[[nodiscard]] std::string RuleDocument(std::string_view id, std::string_view body,
                                       rules::Findings& findings);

// Whether `id` may name a rule: 1 to 64 of A-Z a-z 0-9 . _ -
[[nodiscard]] bool IsRuleId(std::string_view id);

}  // namespace sluice::sources
