// Any bytes as a file of Envoy's domains: a configuration, or problems with places; and one that is
// read can be asked.

#include <array>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "envoy/configuration.h"
#include "envoy/descriptor_tree.h"
#include "envoy/limit_reader.h"

namespace {

void Check(bool condition) {
  if (!condition) {
    std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sluice;  // NOLINT(google-build-using-namespace)
  const std::vector<rules::SourceText> files{
      {.name = "f", .text = std::string(reinterpret_cast<const char*>(data), size)}};
  rules::Findings findings;
  const auto read = envoy::Configuration::Read(files, {.merge_domains = true}, findings);
  Check((read == nullptr) == !findings.errors.empty());
  if (read == nullptr) {
    return 0;
  }
  for (const std::string& domain : read->Domains()) {
    Check(!domain.empty());
    const envoy::DescriptorLevel* level = read->Find(domain);
    Check(level != nullptr);
    envoy::Match match;
    for (const auto& node : level->nodes()) {
      const std::array<wire::RlsEntry, 2> entries{{{node->key, node->value}, {"a", "b"}}};
      for (const std::size_t count : {1U, 2U}) {
        const wire::RlsDescriptor descriptor{.entries = std::span(entries).first(count)};
        envoy::FindLimits(*level, descriptor, match);
        Check(match.limits.empty() || match.way.size() == count);
        Check(match.limits.size() <= envoy::kMostLimits);
      }
    }
  }
  return 0;
}
