#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "envoy/configuration.h"
#include "rules/findings.h"
#include "rules/yaml_tree.h"

namespace sluice::envoy {

// Reads one file after the other into one configuration. Files without a mistake in their YAML are
// read to their end, whatever else is wrong in them.
class ConfigReader {
 public:
  ConfigReader(const ReadingOptions& options, rules::Findings& findings)
      : options_(options), findings_(findings) {}

  void Read(const rules::SourceText& file);
  // What was read. Not to be used if there were errors.
  [[nodiscard]] std::shared_ptr<const Configuration> Take();

 private:
  // What is above the descriptors to read.
  struct Above {
    std::string_view domain;
    std::string path;
    StatName stat_name;
  };
  void ReadDescriptors(const rules::YamlNode& list, const Above& above, DescriptorLevel& level,
                       rules::Reporter& report);
  void ReadDescriptor(const rules::YamlNode& map, const Above& above, DescriptorLevel& level,
                      rules::Reporter& report);

  const ReadingOptions options_;
  rules::Findings& findings_;
  std::shared_ptr<Configuration> configuration_ = std::make_shared<Configuration>();
};

}  // namespace sluice::envoy
