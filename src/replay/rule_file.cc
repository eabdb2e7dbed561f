#include "replay/rule_file.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>

namespace sluice::replay {

std::shared_ptr<const rules::RuleSet> LoadRuleFile(const std::filesystem::path& path,
                                                   const rules::RuleSet* running,
                                                   rules::Findings& findings) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (!file.is_open() || file.bad()) {
    const std::string why = errno == 0 ? "not a readable file" : std::strerror(errno);  // NOLINT
    findings.errors.push_back({.message = "cannot read it: " + why,
                               .place = {.file = path.string(), .line = 0, .column = 0}});
    return nullptr;
  }
  const rules::SourceText source{.name = path.string(), .text = std::move(text)};
  return rules::RuleSet::Build({&source, 1}, running, findings);
}

}  // namespace sluice::replay
