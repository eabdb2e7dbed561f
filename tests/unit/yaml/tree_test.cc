#include "yaml/tree.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sluice::yaml {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::StartsWith;

std::vector<std::string> Problems(const std::string& text) {
  std::vector<Error> problems;
  const Tree tree(text, "f", problems);
  std::vector<std::string> texts;
  for (const Error& problem : problems) {
    texts.push_back(problem.Text());
  }
  return texts;
}

// The only key's value.
Node Value(const std::string& text) {
  std::vector<Error> problems;
  const Tree tree(text, "f", problems);
  EXPECT_THAT(problems, IsEmpty()) << text;
  return tree.root().is_map() ? tree.root().value(0) : Node{};
}

TEST(YamlTreeTest, CommonSlipsHaveTheirPlaceAndTheirRemedy) {
  EXPECT_THAT(Problems("rules:\n\t- id: a\n"),
              ElementsAre("f:2:2: a tab indents this line: indent with spaces"));
  EXPECT_THAT(Problems("a: \"x\nb: c\n"), ElementsAre(StartsWith("f:2:1: this line belongs to a "
                                                                 "text in quotes")));
  EXPECT_THAT(Problems("a: 'x\n"), ElementsAre("f:1:4: this single quote is never closed"));
  EXPECT_THAT(Problems("a: \"x\" y\n"), ElementsAre(StartsWith("f:1:8: the value ends before")));
  EXPECT_THAT(Problems("a: b: c\n"), ElementsAre(StartsWith("f:1:5: a second ':' in this line")));
  EXPECT_THAT(Problems("a: 1\nb 2\n"), ElementsAre(StartsWith("f:2:1: this line has no ': '")));
  EXPECT_THAT(Problems("a: 1\nb:2\nc: 3\n"),
              ElementsAre("f:2:1: this line has no ': ' and is not a value: write KEY: VALUE, with "
                          "a blank after the colon"));
  EXPECT_THAT(Problems("a:\n  b: 1\n c: 2\n"),
              ElementsAre(StartsWith("f:3:2: this line is indented unlike the lines before it")));
  EXPECT_THAT(Problems("rules\n  - id: a\n"), ElementsAre(StartsWith("f:2:7: this ':' makes a key "
                                                                     "of a text that begins in "
                                                                     "line 1")));
  EXPECT_THAT(Problems("a: [1, 2\nb: 3\n"),
              ElementsAre(StartsWith("f:2:1: this line belongs to a [ or { before it")));
  EXPECT_THAT(Problems("a: {b: 1 c: 2}\n"),
              ElementsAre("f:1:11: a comma or } is missing before this text"));
  EXPECT_THAT(Problems("a: @x\n"),
              ElementsAre("f:1:4: a value cannot begin with @: put it in quotes"));
  EXPECT_THAT(Problems("a: *.example.com\n"),
              ElementsAre(StartsWith("f:1:4: no anchor &.example.com stands before the alias")));
  EXPECT_THAT(Problems("a: \"\\d+\"\n"), ElementsAre(StartsWith("f:1:5: unknown escape \\d")));
  EXPECT_THAT(Problems("a: {{b}}\n"),
              ElementsAre(StartsWith("f:1:5: a key must be a plain word, not a list or a map")));
}

TEST(YamlTreeTest, TextThatIsNoUtf8IsRefused) {
  EXPECT_THAT(Problems("a: \xff\n"), ElementsAre("f:1:4: not UTF-8 (byte 255): save the file as "
                                                 "UTF-8 text"));
  EXPECT_THAT(Problems("\xef\xbb\xbf"
                       "a: 1\r\nb: \x01\n"),
              ElementsAre(StartsWith("f:2:4: a control character (byte 1)")));
}

TEST(YamlTreeTest, OnlyNullIsAWordOfItsOwn) {
  for (const std::string word :
       {"no", "on", "yes", "off", "true", "3", "1_000", "0x10", "2001-01-01"}) {
    const Node node = Value("a: " + word + "\n");
    EXPECT_TRUE(node.is_text() && !node.quoted && node.text == word) << word;
  }
  for (const std::string null : {"", "~", "null", "Null", "NULL", "!!null", "!!null ~"}) {
    EXPECT_TRUE(Value("a: " + null + "\n").is_null()) << null;
  }
  for (const std::string text : {"\"null\"", "'3'", "!!str null", "! 3", "|\n 3", "!!str"}) {
    EXPECT_TRUE(Value("a: " + text + "\n").is_text()) << text;
    EXPECT_TRUE(Value("a: " + text + "\n").quoted) << text;
  }
  EXPECT_FALSE(Value("a: !!int 3\n").quoted);
}

TEST(YamlTreeTest, MergeKeysAndTagsWithoutMeaningAreRefused) {
  EXPECT_THAT(Problems("a: &a {b: 1}\nc: {<<: *a}\n"),
              ElementsAre("f:2:5: merge keys (<<) are not supported: write the fields out"));
  EXPECT_THAT(Problems("a: {\"<<\": 1}\n"), IsEmpty());
  EXPECT_THAT(Problems("a: !python/object:os.system x\n"),
              ElementsAre(StartsWith("f:1:29: the tag !python/object:os.system has no meaning")));
  EXPECT_THAT(Problems("a: !!str [x]\n"),
              ElementsAre("f:1:10: the tag !!str does not fit this value: leave it out"));
}

TEST(YamlTreeTest, AliasesAreTheNodesThatTheyName) {
  std::vector<Error> problems;
  const Tree tree("a: &x [1]\nb: *x\n*x : c\n", "f", problems);
  EXPECT_EQ(problems.size(), 1U);  // A list for a key.
  const Tree again("a: &x k\n*x : *x\n", "f", problems);
  EXPECT_EQ(problems.size(), 1U);
  EXPECT_EQ(&again.root().value(0), &again.root().value(1));
  EXPECT_EQ(again.root().key(1).text, "k");
}

TEST(YamlTreeTest, AValueThatIsMissingHasItsKeysPlace) {
  EXPECT_EQ(Value("a:\n").line, 1);
  EXPECT_EQ(Value("a:\n").column, 1);
}

TEST(YamlTreeTest, AForeignTextMayBeIndentedLooselyInBrackets) {
  const std::string text = "a: [\n1,\n2\n]\n";
  EXPECT_THAT(Problems(text), ElementsAre(StartsWith("f:2:1: ")));
  std::vector<Error> problems;
  const ForeignTree tree(text, "f", problems);
  EXPECT_THAT(problems, IsEmpty());
  EXPECT_EQ(tree.root().value(0).items.size(), 2U);
}

}  // namespace
}  // namespace sluice::yaml
