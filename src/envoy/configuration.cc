#include "envoy/configuration.h"

#include "envoy/config_reader.h"

namespace sluice::envoy {

std::shared_ptr<const Configuration> Configuration::Read(std::span<const rules::SourceText> files,
                                                         const ReadingOptions& options,
                                                         rules::Findings& findings) {
  const std::size_t before = findings.errors.size();
  ConfigReader reader(options, findings);
  for (const rules::SourceText& file : files) {
    reader.Read(file);
  }
  return findings.errors.size() == before ? reader.Take() : nullptr;
}

const DescriptorLevel* Configuration::Find(std::string_view domain) const {
  const auto found = domains_.find(domain);
  return found == domains_.end() ? nullptr : &found->second;
}

std::vector<std::string> Configuration::Domains() const {
  std::vector<std::string> names;
  names.reserve(domains_.size());
  for (const auto& [name, level] : domains_) {
    names.push_back(name);
  }
  return names;
}

}  // namespace sluice::envoy
