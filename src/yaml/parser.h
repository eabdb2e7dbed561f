#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "sluice/result.h"

#include "yaml/cursor.h"
#include "yaml/properties.h"
#include "yaml/scalar.h"
#include "yaml/tree.h"

namespace sluice::yaml {

// Parses YAML 1.2.2 as its public test suite defines it (tests/unit/yaml/suite_test.cc), in
// one pass, by recursive descent: a function for each kind of node.
//
// In YAML, it is known only late whether a node is a key: "a", "[a]" and "*a" begin a map if ':'
// follows them. So a node is read first, and becomes the first key of a map if ':' follows.
// Everything else is decided by the next character and its indentation.
//
// Time and memory are linear in the text, and bounded by kMaxDepth and kMaxNodes. Parsing
// ends at the first fault.
//
// parser.cc has documents and nodes, block.cc block collections, flow.cc nodes
// within lines.
class Parser {
 public:
  struct Options {
    bool any_flow_indent = false;  // Lines in quotes, [] and {} may have any indentation.
    bool any_tag = false;  // Tags that YAML does not define are accepted; their scalars are text.
  };

  // `text` has '\n' as line breaks, one at its end, and no other control characters except tabs. It
  // outlives this. The nodes are appended to `nodes`, which outlive this too.
  Parser(std::string_view text, Options options, std::deque<Node>& nodes)
      : at_(text), options_(options), nodes_(nodes) {}

  // The next document's root; nullptr after the last one or after a fault.
  [[nodiscard]] const Node* ReadDocument();
  [[nodiscard]] const std::optional<Fault>& fault() const { return fault_; }
  // The first line of the document read last.
  [[nodiscard]] int document_line() const { return document_line_; }

 private:
  static constexpr const char* kTabbed = "a tab indents this line: indent with spaces";
  static constexpr const char* kUnseparated = "a comment needs a blank before the #";

  // The context of a block node.
  struct Block {
    int indent = -1;              // Of the collection around it.
    bool compact = false;         // A collection may begin on the line of its "-", "?" or ":".
    bool list_at_indent = false;  // A list may have the indentation of its key.
  };
  struct Anchored {
    const Node* node = nullptr;
    std::size_t size = 0;  // Nodes in it, aliases counted in full; 0 while it is being read.
  };
  // A node before its properties are applied. An alias has none.
  struct Inline {
    const Node* node = nullptr;  // nullptr: a fault.
    Node* created = nullptr;     // The same, if it is not an alias.
    std::size_t count_before = 0;
    bool ends_itself = false;  // By a quote or bracket: ':' may follow without a blank.
  };

  // After a fault, functions that return a node return nullptr, functions that return a bool false.
  const Node* ReadBlockNode(const Block& block);
  const Node* ReadBlockInline(const Block& block, const Cursor& begin, bool may_open,
                              const Properties& outer, const Properties& own);
  const Node* ReadList(const Properties& properties, bool in_map);
  const Node* ReadMap(const Cursor& begin, const Properties& properties, const Node* first_key);
  bool ReadMapEntry(Node& map, int indent);
  const Node* ReadInlineKey(int indent);
  const Node* ReadBlockText(int indent, const Properties& properties);

  Inline ReadInline(const Context& context);
  Inline ReadAlias();
  Inline ReadFlowCollection(Context context, Node::Kind kind);
  // Whether a ':' here ends a key. `key_ends_itself`: as in Inline.
  [[nodiscard]] bool AtFlowColon(bool key_ends_itself) const;
  bool ReadFlowListEntry(Node& list, const Context& context);
  bool ReadFlowMapEntry(Node& map, const Context& context);
  bool ReadFlowValue(Node& map, const Context& context);
  // `may_be_empty`: a comma is allowed here instead.
  Inline ReadFlowNode(const Context& context, bool may_be_empty);
  // Skips blanks, comments and line breaks within [] or {}.
  bool SkipFlowGap(const Context& context);
  // Skips the ',' after an entry, or stops at the end of the collection.
  bool EndFlowEntry(const Context& context, char close);

  bool ReadProperties(bool in_flow, Properties& properties);
  bool BeginDocument();
  bool EndDocument();
  // Skips the rest of a line, which may only have a comment, and blank lines after it.
  bool EndLine();
  // Whether the next line continues the collection at `indent`; false also after a fault.
  bool GoesOnAt(int indent);
  [[nodiscard]] bool HasNoContent(const Block& block) const;

  Node* Add(Node::Kind kind, const Cursor& begin);
  Inline AddText(std::string text, bool quoted, const Cursor& begin);
  const Node* AddEmpty(const Cursor& begin, const Properties& properties);
  // Gives the node its `properties`.
  const Node* Apply(const Inline& read, const Properties& properties);
  bool Merge(const Properties& from, Properties& into);
  bool Open();
  bool Count(std::size_t nodes);
  std::nullptr_t Fail(const Cursor& at, std::string message);
  [[nodiscard]] bool failed() const { return fault_.has_value(); }

  Cursor at_;
  const Options options_;
  std::deque<Node>& nodes_;
  std::unordered_map<std::string_view, Anchored> anchors_;
  std::vector<TagHandle> handles_;
  std::optional<Fault> fault_;
  std::size_t count_ = 0;
  std::size_t depth_ = 0;
  int document_line_ = 0;
};

// `text` in the form that a Parser requires: UTF-8 without a byte order mark, each line ended
// by '\n', no other control character except tabs. nullopt, with a problem appended, if the text is
// not UTF-8, has control characters, or is larger than kMaxTextBytes.
[[nodiscard]] std::optional<std::string> PlainText(std::string_view text, const std::string& file,
                                                   std::vector<Error>& problems);

}  // namespace sluice::yaml
