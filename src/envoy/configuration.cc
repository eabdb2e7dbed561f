#include "envoy/configuration.h"

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "envoy/config_value.h"
#include "envoy/counter_name.h"
#include "envoy/limit_reader.h"
#include "rules/findings.h"
#include "yaml/tree.h"

namespace sluice::envoy {

namespace {

void GatherLimits(const DescriptorLevel& level, std::vector<Limit*>& limits) {
  for (const auto& node : level.nodes()) {
    for (const auto& limit : node->limits) {
      limits.push_back(limit.get());
    }
    GatherLimits(node->children, limits);
  }
}

void ReadPattern(const yaml::Node& node, ValuePattern::Kind kind, Reporter& report,
                 DescriptorNode& into) {
  into.value = ReadText(node, report);
  auto pattern = ValuePattern::Create(kind, into.value);
  if (pattern) {
    into.pattern = *std::move(pattern);
  } else {
    report.Fail(node, std::move(pattern.error()));
  }
}

}  // namespace

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
  void ReadDescriptors(const yaml::Node& list, const Above& above, DescriptorLevel& level,
                       rules::Reporter& report);
  void ReadDescriptor(const yaml::Node& map, const Above& above, DescriptorLevel& level,
                      rules::Reporter& report);

  const ReadingOptions options_;
  rules::Findings& findings_;
  std::shared_ptr<Configuration> configuration_ = std::make_shared<Configuration>();
};

void ConfigReader::Read(const rules::SourceText& file) {
  rules::Reporter report(file.name, findings_);
  std::vector<Error> problems;
  const yaml::ForeignTree tree(file.text, file.name, problems);
  for (Error& problem : problems) {
    report.Fail(problem.place.line, problem.place.column,
                "error loading config file: " + std::move(problem.message));
  }
  const std::size_t before = report.error_count();
  if (!problems.empty()) {
    return;
  }
  const yaml::Node& root = tree.root();
  if (IsMapOrNull(root, "map[interface {}]interface {}", report)) {
    CheckKeys(root, report);
  }
  if (report.error_count() != before) {
    return;
  }
  std::string domain;
  const yaml::Node* descriptors = nullptr;
  for (const auto& [key, value] : MembersOf(root)) {
    if (key->text == "domain") {
      domain = ReadText(*value, report);
    } else if (key->text == "descriptors") {
      descriptors = value;
    }
  }
  if (domain.empty()) {
    report.Fail(root, "config file cannot have empty domain");
    return;
  }
  const auto [found, fresh] = configuration_->domains_.try_emplace(domain);
  if (!fresh && !options_.merge_domains) {
    report.Fail(root, "duplicate domain '" + domain + "' in config file");
    return;
  }
  if (descriptors != nullptr) {
    ReadDescriptors(*descriptors,
                    {.domain = domain, .path = domain, .stat_name = {StatPart(domain)}},
                    found->second, report);
  }
}

void ConfigReader::ReadDescriptors(const yaml::Node& list, const Above& above,
                                   DescriptorLevel& level, Reporter& report) {
  for (const yaml::Node* item : ReadMaps(list, "[]config.YamlDescriptor", report)) {
    ReadDescriptor(*item, above, level, report);
  }
}

void ConfigReader::ReadDescriptor(const yaml::Node& map, const Above& above, DescriptorLevel& level,
                                  Reporter& report) {
  auto node = std::make_unique<DescriptorNode>();
  const yaml::Node* limit_node = nullptr;
  const yaml::Node* limits_node = nullptr;
  const yaml::Node* children = nullptr;
  bool shadow_mode = false;
  bool quota_mode = false;
  bool detailed_metric = false;
  wire::StructValue metadata;
  int given_values = 0;
  for (const auto& [key, value] : MembersOf(map)) {
    const std::string_view field = key->text;
    given_values += field == "value" || field == "value_regex" || field == "value_cidr" ? 1 : 0;
    if (field == "key") {
      node->key = ReadText(*value, report);
    } else if (field == "value") {
      node->value = ReadText(*value, report);
    } else if (field == "value_regex") {
      ReadPattern(*value, ValuePattern::Kind::kRegex, report, *node);
    } else if (field == "value_cidr") {
      ReadPattern(*value, ValuePattern::Kind::kCidr, report, *node);
    } else if (field == "rate_limit") {
      limit_node = IsMapOrNull(*value, "config.yamlRateLimit", report) ? value : nullptr;
    } else if (field == "rate_limits") {
      limits_node = value;
    } else if (field == "descriptors") {
      children = value;
    } else if (field == "shadow_mode") {
      shadow_mode = ReadBool(*value, report);
    } else if (field == "quota_mode") {
      quota_mode = ReadBool(*value, report);
    } else if (field == "detailed_metric") {
      detailed_metric = ReadBool(*value, report);
    } else if (field == "value_to_metric") {
      node->value_to_metric = ReadBool(*value, report);
    } else if (field == "share_threshold") {
      node->share_threshold = ReadBool(*value, report);
    } else if (field == "metadata" && IsMapOrNull(*value, "map[string]interface {}", report)) {
      metadata = ReadMetadata(*value, report);
    }
  }
  if (given_values > 1) {
    report.Fail(map, "value, value_regex and value_cidr exclude each other: leave one");
  }
  if (node->key.empty()) {
    report.Fail(map, "descriptor has empty key");
    return;
  }
  Above here{.domain = above.domain,
             .path = above.path + "." + node->Name(),
             .stat_name = above.stat_name};
  here.stat_name.push_back(StatPart(node->Name()));
  if (node->share_threshold && !node->is_wildcard()) {
    report.Fail(map,
                "share_threshold can only be used with wildcard values (containing '*'), but found "
                "key '" +
                    node->Name() + "'");
  }
  if (limit_node != nullptr && limits_node != nullptr) {
    report.Fail(map, "rate_limit and rate_limits exclude each other: leave one");
  } else if (limit_node != nullptr) {
    node->limits.push_back(ReadLimit(*limit_node, here.path, report));
  } else if (limits_node != nullptr) {
    node->limits = ReadLimits(*limits_node, here.path, report);
  }
  for (const auto& limit : node->limits) {
    limit->stat_name = here.stat_name;
    limit->policy = PolicyNameOf(*limit, above.domain, limits_node != nullptr);
    limit->shadow_mode = shadow_mode;
    limit->quota_mode = quota_mode;
    limit->detailed_metric = detailed_metric;
    limit->metadata = metadata;
  }
  DescriptorLevel& own_children = node->children;
  if (!level.Add(std::move(node))) {
    report.Fail(map, "duplicate descriptor composite key '" + here.path + "'");
    return;
  }
  if (children != nullptr) {
    ReadDescriptors(*children, here, own_children, report);
  }
}

std::shared_ptr<const Configuration> ConfigReader::Take() {
  for (const auto& [domain, level] : configuration_->domains_) {
    GatherLimits(level, configuration_->limits_);
  }
  return std::move(configuration_);
}

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
