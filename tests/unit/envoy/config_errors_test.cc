#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "envoy/configuration.h"

namespace sluice::envoy {
namespace {

using testing::ElementsAre;
using testing::StartsWith;

std::vector<std::string> ErrorsOf(const std::vector<rules::SourceText>& files,
                                  const ReadingOptions& options = {}) {
  rules::Findings findings;
  const auto read = Configuration::Read(files, options, findings);
  EXPECT_EQ(read == nullptr, !findings.errors.empty());
  std::vector<std::string> errors;
  for (const Error& error : findings.errors) {
    EXPECT_EQ(error.place.file, files.back().name);
    errors.push_back(error.message);
  }
  return errors;
}

std::vector<std::string> ErrorsOf(const std::string& text) {
  return ErrorsOf({{.name = "f.yaml", .text = text}});
}

// One descriptor, whose rate_limit is given in flow style.
std::string WithLimit(std::string_view limit, std::string_view rest = "") {
  return "domain: d\ndescriptors:\n- key: k\n  value: v\n  rate_limit: {" + std::string(limit) +
         "}\n" + std::string(rest);
}

TEST(ConfigErrorsTest, EachMistakeIsNamedAsItWas) {
  EXPECT_THAT(ErrorsOf("domain: [\n"), ElementsAre(StartsWith("error loading config file: ")));
  EXPECT_THAT(ErrorsOf("- a\n"), ElementsAre(StartsWith("error loading config file: ")));
  EXPECT_THAT(ErrorsOf("domain: d\nfoo: 1\n"), ElementsAre("config error, unknown key 'foo'"));
  EXPECT_THAT(ErrorsOf("domain: d\n0.25: 1\n"),
              ElementsAre("config error, key is not of type string: 0.25"));
  EXPECT_THAT(ErrorsOf("domain: d\ndescriptors: [a]\n"),
              ElementsAre("config error, yaml file contains list of type other than map: a"));
  EXPECT_THAT(ErrorsOf("domain: 1.5\n"), ElementsAre("error checking config"));
  EXPECT_THAT(ErrorsOf("domain: d\ndescriptors: [{key: k, value: 2024-01-02}]\n"),
              ElementsAre("error checking config"));
  EXPECT_THAT(ErrorsOf(""), ElementsAre("config file cannot have empty domain"));
  EXPECT_THAT(ErrorsOf("domain: ''\n"), ElementsAre("config file cannot have empty domain"));
  EXPECT_THAT(ErrorsOf("domain: d\ndescriptors: [{value: v}]\n"),
              ElementsAre("descriptor has empty key"));
  EXPECT_THAT(ErrorsOf(WithLimit("unit: foo, requests_per_unit: 1")),
              ElementsAre("invalid rate limit unit 'foo'"));
  EXPECT_THAT(ErrorsOf(WithLimit("requests_per_unit: 1")),
              ElementsAre("invalid rate limit unit ''"));
  EXPECT_THAT(ErrorsOf(WithLimit("unlimited: true, unit: day")),
              ElementsAre("should not specify rate limit unit when unlimited"));
  EXPECT_THAT(ErrorsOf(WithLimit("unit: day, name: a, replaces: [{name: ''}]")),
              ElementsAre("should not have an empty replaces entry"));
  EXPECT_THAT(ErrorsOf(WithLimit("unit: day, name: a, replaces: [{name: a}]")),
              ElementsAre("replaces should not contain name of same descriptor"));
  EXPECT_THAT(ErrorsOf(WithLimit("unit: day", "  share_threshold: true\n")),
              ElementsAre("share_threshold can only be used with wildcard values (containing "
                          "'*'), but found key 'k_v'"));
  EXPECT_THAT(ErrorsOf(WithLimit("unit: day", "  metadata: {1: a}\n")),
              ElementsAre(StartsWith("error parsing metadata: ")));
  EXPECT_THAT(ErrorsOf("domain: d\ndescriptors:\n- key: a\n  descriptors:\n  - {key: k1, value: "
                       "v1}\n  - {key: k1, value: v1}\n"),
              ElementsAre("duplicate descriptor composite key 'd.a.k1_v1'"));
}

TEST(ConfigErrorsTest, ATypeThatDoesNotFitIsNamedWithItsLine) {
  EXPECT_THAT(ErrorsOf(WithLimit("unit: day, requests_per_unit: many")),
              ElementsAre("error loading config file: yaml: unmarshal errors:\n  line 5: cannot "
                          "unmarshal !!str `many` into uint32"));
  EXPECT_THAT(ErrorsOf(WithLimit("unit: day, requests_per_unit: -1")),
              ElementsAre(testing::HasSubstr("!!int `-1` into uint32")));
  EXPECT_THAT(ErrorsOf(WithLimit("unit: day, requests_per_unit: 4294967296")),
              ElementsAre(testing::HasSubstr("into uint32")));
  EXPECT_THAT(ErrorsOf(WithLimit("unit: day, unlimited: 'true'")),
              ElementsAre(testing::HasSubstr("into bool")));
}

TEST(ConfigErrorsTest, ADomainOccursOnceUnlessDomainsAreMerged) {
  const std::vector<rules::SourceText> files = {
      {.name = "a.yaml", .text = "domain: d\ndescriptors: [{key: a}]\n"},
      {.name = "b.yaml", .text = "domain: d\ndescriptors: [{key: b}]\n"}};
  EXPECT_THAT(ErrorsOf(files), ElementsAre("duplicate domain 'd' in config file"));
  EXPECT_THAT(ErrorsOf(files, {.merge_domains = true}), ElementsAre());
  const std::vector<rules::SourceText> clash = {files[0],
                                                {.name = "b.yaml", .text = files[0].text}};
  EXPECT_THAT(ErrorsOf(clash, {.merge_domains = true}),
              ElementsAre("duplicate descriptor composite key 'd.a'"));
}

TEST(ConfigErrorsTest, AllOfThemAreFoundAtOnce) {
  EXPECT_EQ(ErrorsOf("domain: d\ndescriptors:\n- {key: a, rate_limit: {unit: x}}\n- {value: v}\n"
                     "- {key: b, rate_limit: {unit: y}}\n")
                .size(),
            3U);
}

TEST(ConfigErrorsTest, OurOwnFieldsAreCheckedToo) {
  const auto with_value = [](const std::string& value) {
    return ErrorsOf("domain: d\ndescriptors: [{key: k, " + value + "}]\n");
  };
  EXPECT_THAT(with_value("value_regex: \"(\""), ElementsAre(StartsWith("value_regex is not")));
  EXPECT_THAT(with_value("value_cidr: 10.0.0.1/8"),
              ElementsAre(testing::EndsWith("write 10.0.0.0/8")));
  EXPECT_THAT(with_value("value_cidr: ten"), ElementsAre(StartsWith("value_cidr `ten` is no")));
  EXPECT_THAT(with_value("value: a, value_regex: b"),
              ElementsAre(StartsWith("value, value_regex")));
  EXPECT_THAT(ErrorsOf(WithLimit("unit: day, period: 30s")),
              ElementsAre("should not specify rate limit unit and period: leave one"));
  EXPECT_THAT(ErrorsOf(WithLimit("unit: day, burst: 3")), ElementsAre(StartsWith("burst belongs")));
  EXPECT_THAT(ErrorsOf(WithLimit("unit: day, algorithm: tokens")), testing::SizeIs(1));
  EXPECT_THAT(ErrorsOf(WithLimit("period: 1500ms")),
              testing::SizeIs(1));  // A attempt window's seconds.
  EXPECT_THAT(ErrorsOf(WithLimit("period: 1500ms, algorithm: gcra, requests_per_unit: 1")),
              ElementsAre());
  EXPECT_THAT(ErrorsOf(WithLimit("unit: day, on_store_error: pass")), testing::SizeIs(1));
  EXPECT_THAT(ErrorsOf(WithLimit("unit: day, requests_per_unit: 9, sync: lease")),
              testing::ElementsAre(testing::HasSubstr("as in algorithm: fixed_window")));
  EXPECT_THAT(ErrorsOf(WithLimit("unit: day, requests_per_unit: 9, algorithm: gcra, sync: later")),
              testing::ElementsAre(testing::HasSubstr("write exact, lease or local")));
  EXPECT_THAT(ErrorsOf(WithLimit("period: soon, requests_per_unit: 1")),
              testing::Contains(testing::HasSubstr("period")));
}

TEST(ConfigErrorsTest, ListsOfLimitsAreCheckedToo) {
  const auto with_list = [](const std::string& list) {
    return ErrorsOf("domain: d\ndescriptors: [{key: k, rate_limits: " + list + "}]\n");
  };
  const std::string minute = "{unit: minute, requests_per_unit: 9, name: m}";
  EXPECT_THAT(with_list("[" + minute + ", {unit: hour, requests_per_unit: 90}]"), ElementsAre());
  EXPECT_THAT(with_list("[" + minute + ", {unit: minute, algorithm: gcra}]"), ElementsAre());
  EXPECT_THAT(with_list("[]"), ElementsAre("rate_limits must have 1 to 16 limits"));
  EXPECT_THAT(with_list(""), ElementsAre("rate_limits must have 1 to 16 limits"));
  std::string many = "[";
  for (int i = 1; i <= 17; ++i) {
    many += "{period: " + std::to_string(i) + "s}, ";
  }
  EXPECT_THAT(with_list(many + "]"), ElementsAre("rate_limits must have 1 to 16 limits"));
  EXPECT_THAT(with_list(minute), ElementsAre(testing::HasSubstr("cannot unmarshal !!map into")));
  EXPECT_THAT(with_list("[minute]"),
              ElementsAre("config error, yaml file contains list of type other than map: minute"));
  EXPECT_THAT(with_list("[" + minute + ", {unit: eon}]"),
              ElementsAre("invalid rate limit unit 'eon'"));
  EXPECT_THAT(with_list("[" + minute + ", {unlimited: true}]"),
              ElementsAre(testing::HasSubstr("should not be unlimited")));
  for (const char* again :
       {"{unit: minute}", "{period: 60s}", "{unit: minute, algorithm: fixed_window}"}) {
    EXPECT_THAT(with_list("[" + minute + ", " + again + "]"),
                ElementsAre(StartsWith("rate_limits has two limits of one period")))
        << again;
  }
  EXPECT_THAT(with_list("[" + minute + ", {unit: hour, replaces: [{name: m}]}]"),
              ElementsAre("replaces should not contain name of same descriptor"));
  EXPECT_THAT(ErrorsOf(WithLimit("unit: day", "  rate_limits: [" + minute + "]\n")),
              ElementsAre(StartsWith("rate_limit and rate_limits exclude each other")));
}

}  // namespace
}  // namespace sluice::envoy
