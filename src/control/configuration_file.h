#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

#include "sluice/result.h"

#include "rules/findings.h"
#include "rules/rule_set.h"

namespace sluice::control {

// The daemon's configuration file as a source of rules: read again like any other. What else it
// says counts at the start alone; where that has changed, a restart is due. One thread.
class ConfigurationFile {
 public:
  // Reports what is wrong with the text of a configuration, but for its rules.
  using Check = std::function<void(std::string_view text, const std::string& path,
                                   rules::Findings& findings)>;

  // `at_start`: what the daemon was started with; without a name there is no file.
  ConfigurationFile(rules::SourceText at_start, Check check);

  // "": there is no file.
  [[nodiscard]] const std::string& path() const { return at_start_.name; }

  // As it is now. Errors: it cannot be read, is no configuration, or is empty where it was not
  // before (a file that is being written is, for a moment, and would lift every limit).
  [[nodiscard]] tl::expected<rules::SourceText, std::vector<Error>> Read();

  // The sections, but for rules and attributes, in which the file as it was last read says
  // something else than at the start.
  [[nodiscard]] std::vector<std::string> ChangedSections() const;

 private:
  const rules::SourceText at_start_;
  const Check check_;
  std::string last_;  // The text that was good last.
};

}  // namespace sluice::control
