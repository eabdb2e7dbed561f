#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "sluice/time.h"

#include "envoy_environment.h"
#include "rules/findings.h"

namespace sluice::app {

// Values of environment variables, as Go reads them. What is wrong is reported by the variable's
// name and value; then, and where a variable is not set, the value is `otherwise`. One thread.
class EnvironmentReader {
 public:
  // Both outlive it.
  EnvironmentReader(const Environment& environment, rules::Findings& findings)
      : environment_(environment), findings_(findings) {}

  [[nodiscard]] std::string Text(std::string_view name, std::string_view otherwise) const;
  [[nodiscard]] bool Bool(std::string_view name, bool otherwise);
  // 0 to `most`.
  [[nodiscard]] std::size_t Number(std::string_view name, std::size_t otherwise, std::size_t most);
  // 0 to 1.
  [[nodiscard]] float Share(std::string_view name, float otherwise);
  // Not negative.
  [[nodiscard]] Duration Time(std::string_view name, Duration otherwise);

  void Fail(std::string_view name, std::string_view value, std::string_view why);

 private:
  // `read` makes a T of the text, or nothing; `why` says then what the text is not.
  template <class T, class Read>
  [[nodiscard]] T Value(std::string_view name, T otherwise, Read read, std::string_view why);

  const Environment& environment_;
  rules::Findings& findings_;
};

}  // namespace sluice::app
