// Any text as a rule file: building never crashes, hangs or throws; a set is built exactly when
// there are no errors, every error has words, and what was built matches a request.

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "rules/rule_set.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sluice;  // NOLINT(google-build-using-namespace): one function of a program.
  constexpr std::size_t kMost = std::size_t{1} << 16;
  if (size > kMost) {
    return 0;
  }
  std::vector<rules::SourceText> sources(1);
  sources[0].name = "fuzz.yaml";
  sources[0].text.assign(reinterpret_cast<const char*>(data), size);
  sources[0].is_configuration = size % 2 == 1;
  rules::Findings findings;
  const auto set = rules::RuleSet::Build(sources, nullptr, findings);
  if ((set != nullptr) != findings.errors.empty()) {
    std::abort();
  }
  for (const Error& error : findings.errors) {
    if (error.message.empty()) {
      std::abort();
    }
  }
  if (set != nullptr) {
    static constexpr std::array<Attribute, 5> kRequest{{{"user_id", "u_42"},
                                                        {"endpoint", "/login"},
                                                        {"method", "POST"},
                                                        {"ip", "[2001:db8::1]:443"},
                                                        {"plan", "enterprise"}}};
    rules::Matches matches;
    (void)set->Match(kRequest, Cost{1}, {}, matches);
    (void)set->Explain(kRequest, Cost{1}, {});
    rules::Findings again;
    if (rules::RuleSet::Build(sources, set.get(), again) == nullptr) {
      std::abort();
    }
  }
  return 0;
}
