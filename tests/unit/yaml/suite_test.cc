// The public YAML test suite: suite/README.md says where its cases come from.

#include <cstddef>
#include <deque>
#include <fstream>
#include <string>
#include <vector>

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <boost/json/value_to.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "yaml/parser.h"
#include "yaml/tree.h"

namespace sluice::yaml {
namespace {

using ::testing::ElementsAreArray;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::vector<boost::json::object> Cases() {
  std::ifstream file(SLUICE_YAML_SUITE);
  std::vector<boost::json::object> cases;
  for (std::string line; std::getline(file, line);) {
    cases.push_back(boost::json::parse(line).as_object());
  }
  return cases;
}

std::string TextOf(const boost::json::object& object, const char* field) {
  const auto* const value = object.if_contains(field);
  return value == nullptr ? "" : std::string(value->as_string());
}

// As the suite writes it.
std::string Escaped(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '\\':
        escaped += "\\\\";
        break;
      case '\n':
        escaped += "\\n";
        break;
      case '\t':
        escaped += "\\t";
        break;
      case '\r':
        escaped += "\\r";
        break;
      case '\b':
        escaped += "\\b";
        break;
      case '\0':
        escaped += "\\0";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

void Append(const Node& node, std::vector<std::string>& nodes) {
  if (node.is_null()) {
    nodes.emplace_back("=NULL");
  } else if (node.is_text()) {
    nodes.push_back("=VAL " + Escaped(node.text));
  } else {
    const std::string name = node.is_list() ? "SEQ" : "MAP";
    nodes.push_back("+" + name);
    for (const Node* item : node.items) {
      Append(*item, nodes);
    }
    nodes.push_back("-" + name);
  }
}

TEST(YamlSuiteTest, EveryDocumentIsReadOrRefusedAsTheSuiteSays) {
  const auto cases = Cases();
  EXPECT_THAT(cases, SizeIs(402));
  for (const auto& row : cases) {
    SCOPED_TRACE(TextOf(row, "id") + " " + TextOf(row, "name"));
    std::vector<Error> problems;
    const auto text = PlainText(TextOf(row, "yaml"), "", problems);
    ASSERT_TRUE(text.has_value());
    std::deque<Node> nodes;
    Parser parser(*text, {.any_tag = true}, nodes);
    std::vector<std::string> read;
    while (const Node* const root = parser.ReadDocument()) {
      read.emplace_back("+DOC");
      Append(*root, read);
      read.emplace_back("-DOC");
    }
    if (row.contains("fails")) {
      EXPECT_TRUE(parser.fault().has_value());
      continue;
    }
    EXPECT_FALSE(parser.fault().has_value()) << parser.fault()->message;
    EXPECT_THAT(read,
                ElementsAreArray(boost::json::value_to<std::vector<std::string>>(row.at("nodes"))));
  }
}

// What a rule file may be: every fault has its place, and a document that is YAML but nothing that
// we could mean is refused with a message.
TEST(YamlSuiteTest, ARuleFileIsReadOrRefusedAsTheTableSays) {
  for (const auto& row : Cases()) {
    SCOPED_TRACE(TextOf(row, "id") + " " + TextOf(row, "name"));
    std::vector<Error> problems;
    const Tree tree(TextOf(row, "yaml"), "", problems);
    if (row.contains("fails")) {
      ASSERT_FALSE(problems.empty());
      EXPECT_EQ(problems.front().Text().substr(0, TextOf(row, "place").size()),
                TextOf(row, "place"));
    } else if (row.contains("refused")) {
      ASSERT_FALSE(problems.empty());
      EXPECT_EQ(problems.front().Text(), TextOf(row, "refused"));
    } else {
      EXPECT_THAT(problems, IsEmpty());
    }
  }
}

}  // namespace
}  // namespace sluice::yaml
