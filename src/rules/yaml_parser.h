#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "rules/yaml_cursor.h"
#include "rules/yaml_node.h"
#include "rules/yaml_properties.h"
#include "rules/yaml_scalar.h"

namespace sluice::rules {

// Reads YAML 1.2.2 as its public test suite has it (tests/unit/rules/yaml_suite_test.cc), in one
// pass, by recursive descent: a function for each kind of node.
//
// The one thing that YAML leaves open until late is whether a node is a key: "a", "[a]" and "*a"
// begin a map if ':' stands after them. So a node is read first, and becomes the first key of a
// map where ':' follows. Everything else is decided by the next character and its indentation.
//
// Time and memory are linear in the text, and bounded by kMaxYamlDepth and kMaxYamlNodes. The first
// fault ends the reading.
//
// yaml_parser.cc has documents and nodes, yaml_block.cc block collections, yaml_flow.cc what stands
// within lines.
class YamlParser {
 public:
  struct Options {
    bool any_flow_indent = false;  // Lines in quotes, [] and {} may be indented as they like.
    bool any_tag = false;          // Tags that are not YAML's own: their scalars are text.
  };

  // `text` has '\n' for line breaks, one at its end, and no other control character but tabs. It
  // outlives this, as do `nodes`, which get what is read.
  YamlParser(std::string_view text, Options options, std::deque<YamlNode>& nodes)
      : at_(text), options_(options), nodes_(nodes) {}

  // The next document's root; nullptr where there is none, or after a fault.
  [[nodiscard]] const YamlNode* ReadDocument();
  [[nodiscard]] const std::optional<YamlFault>& fault() const { return fault_; }
  // Where the document begins that was read last.
  [[nodiscard]] int document_line() const { return document_line_; }

 private:
  static constexpr const char* kTabbed = "a tab indents this line: indent with spaces";
  static constexpr const char* kUnseparated = "a comment needs a blank before the #";

  // Where a block node stands.
  struct Block {
    int indent = -1;              // Of the collection around it.
    bool compact = false;         // A collection may begin in the line of its "-", "?" or ":".
    bool list_at_indent = false;  // A list may be indented as its key is.
  };
  struct Anchored {
    const YamlNode* node = nullptr;
    std::size_t size = 0;  // Nodes in it, aliases counted in full; 0 while it is being read.
  };
  // A node whose properties are not applied yet. An alias has none.
  struct Inline {
    const YamlNode* node = nullptr;  // nullptr: a fault.
    YamlNode* fresh = nullptr;       // The same, if it is no alias.
    std::size_t count_before = 0;
    bool ends_itself = false;  // By a quote or bracket: ':' may follow without a blank.
  };

  // Those that return a node return nullptr after a fault, those that return a bool false.
  const YamlNode* ReadBlockNode(const Block& block);
  const YamlNode* ReadBlockInline(const Block& block, const YamlCursor& begin, bool may_open,
                                  const YamlProperties& outer, const YamlProperties& own);
  const YamlNode* ReadList(const YamlProperties& properties, bool in_map);
  const YamlNode* ReadMap(const YamlCursor& begin, const YamlProperties& properties,
                          const YamlNode* first_key);
  bool ReadMapEntry(YamlNode& map, int indent);
  const YamlNode* ReadInlineKey(int indent);
  const YamlNode* ReadBlockText(int indent, const YamlProperties& properties);

  Inline ReadInline(const YamlContext& context);
  Inline ReadAlias();
  Inline ReadFlowList(YamlContext context);
  Inline ReadFlowMap(YamlContext context);
  bool ReadFlowListEntry(YamlNode& list, const YamlContext& context);
  bool ReadFlowMapEntry(YamlNode& map, const YamlContext& context);
  bool ReadFlowValue(YamlNode& map, const YamlContext& context);
  // `may_be_empty`: a comma may stand here instead.
  Inline ReadFlowNode(const YamlContext& context, bool may_be_empty);
  // Over blanks, comments and line breaks within [] or {}.
  bool SkipFlowGap(const YamlContext& context);
  // Over the ',' after an entry; or the end of the collection stands there.
  bool EndFlowEntry(const YamlContext& context, char close);

  bool ReadProperties(bool in_flow, YamlProperties& properties);
  bool BeginDocument();
  bool EndDocument();
  // Over the rest of a line in which nothing but a comment may stand, to what comes next.
  bool EndLine();
  // What comes next goes on with the collection at `indent`; false at its end or after a fault.
  bool GoesOnAt(int indent);
  [[nodiscard]] bool HasNoContent(const Block& block) const;

  YamlNode* Add(YamlNode::Kind kind, const YamlCursor& begin);
  Inline AddText(std::string text, bool quoted, const YamlCursor& begin);
  const YamlNode* AddEmpty(const YamlCursor& begin, const YamlProperties& properties);
  // Makes `properties` those of the node.
  const YamlNode* Apply(const Inline& read, const YamlProperties& properties);
  bool Merge(const YamlProperties& from, YamlProperties& into);
  bool Open();
  bool Count(std::size_t nodes);
  std::nullptr_t Fail(const YamlCursor& at, std::string message);
  [[nodiscard]] bool failed() const { return fault_.has_value(); }

  YamlCursor at_;
  const Options options_;
  std::deque<YamlNode>& nodes_;
  std::unordered_map<std::string_view, Anchored> anchors_;
  std::vector<YamlTagHandle> handles_;
  std::optional<YamlFault> fault_;
  std::size_t count_ = 0;
  std::size_t depth_ = 0;
  int document_line_ = 0;
};

}  // namespace sluice::rules
