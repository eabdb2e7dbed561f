#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/result.h"

#include "envoy/descriptor_tree.h"
#include "rules/findings.h"
#include "rules/rule_set.h"

namespace sluice::envoy {

// What decides which files are good, and what they mean.
struct ReadingOptions {
  bool merge_domains = false;  // Several files may describe one domain.
};

// The files of one directory: a tree of descriptors by domain. Immutable: a reload makes a new one.
class Configuration {
 public:
  Configuration() = default;
  Configuration(const Configuration&) = delete;
  Configuration& operator=(const Configuration&) = delete;

  // Reads all files as one configuration: nullptr, with every problem in `findings`, if any of
  // them has one. The text of a problem is that of envoyproxy/ratelimit behind its "file: ", with
  // the place where it is in Error::place.
  [[nodiscard]] static std::shared_ptr<const Configuration> Read(
      std::span<const rules::SourceText> files, const ReadingOptions& options,
      rules::Findings& findings);

  // nullptr for a domain that no file names.
  [[nodiscard]] const DescriptorLevel* Find(std::string_view domain) const;
  [[nodiscard]] std::size_t domain_count() const { return domains_.size(); }
  // Every limit, by domain and then in file order.
  [[nodiscard]] const std::vector<Limit*>& limits() const { return limits_; }
  [[nodiscard]] std::vector<std::string> Domains() const;

 private:
  friend class ConfigReader;

  std::map<std::string, DescriptorLevel, std::less<>> domains_;
  std::vector<Limit*> limits_;  // In the trees.
};

}  // namespace sluice::envoy
