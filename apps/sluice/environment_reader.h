#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/time.h"

#include "rules/findings.h"

namespace sluice::app {

// The value of an environment variable; nullopt where it is not set.
using Environment = std::function<std::optional<std::string>(std::string_view)>;
[[nodiscard]] Environment ProcessEnvironment();

// The names of all variables of this process.
[[nodiscard]] std::vector<std::string> ProcessVariables();

// "1h30m", "150us", "10s", as Go writes durations; nullopt for anything else.
[[nodiscard]] std::optional<Duration> ReadGoDuration(std::string_view text);

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
