#include "yaml/parser.h"

#include <algorithm>
#include <array>
#include <utility>

namespace sluice::yaml {

namespace {

bool IsNullWord(std::string_view text) {
  constexpr std::array<std::string_view, 5> kWords{"", "~", "null", "Null", "NULL"};
  return std::ranges::find(kWords, text) != kWords.end();
}

}  // namespace

// The stream: documents, their directives and markers.

const Node* Parser::ReadDocument() {
  if (failed() || !BeginDocument() || at_.at_end()) {
    return nullptr;
  }
  document_line_ = at_.line();
  if (at_.AtMarker('-')) {
    at_.Advance(3);
  }
  const Node* const root = ReadBlockNode({});
  return root != nullptr && EndDocument() ? root : nullptr;
}

bool Parser::BeginDocument() {
  anchors_.clear();
  handles_.clear();
  at_.SkipGap();
  while (at_.AtMarker('.')) {
    at_.Advance(3);
    if (!EndLine()) {
      return false;
    }
  }
  if (at_.Peek() != '%' || at_.column() != 0) {
    return true;
  }
  Fault fault;
  if (!ReadDirectives(at_, handles_, fault)) {
    fault_ = std::move(fault);
    return false;
  }
  if (!at_.AtMarker('-')) {
    Fail(at_, "a line with --- is missing after the directives (%)");
    return false;
  }
  return true;
}

bool Parser::EndDocument() {
  if (!EndLine()) {
    return false;
  }
  if (at_.at_end() || at_.AtMarker('-')) {
    return true;
  }
  if (at_.AtMarker('.')) {
    at_.Advance(3);
    return EndLine();
  }
  Fail(at_, at_.IsBehindTab()
                ? std::string(kTabbed)
                : "the document's value ends before this line: indent it like the lines before it");
  return false;
}

bool Parser::EndLine() {
  if (!at_.IsFirstInLine()) {
    at_.SkipBlanks();
    if (at_.AtComment()) {
      at_.SkipLine();
    }
    if (!at_.AtBreakOrEnd()) {
      Fail(at_, at_.Peek() == '#' ? std::string(kUnseparated)
                                  : "the value ends before this text: put the whole value in "
                                    "quotes, or begin a new line");
      return false;
    }
  }
  at_.SkipGap();
  return true;
}

// Nodes and their properties.

bool Parser::ReadProperties(bool in_flow, Properties& properties) {
  Fault fault;
  if (!yaml::ReadProperties(at_, in_flow, handles_, properties, fault)) {
    fault_ = std::move(fault);
    return false;
  }
  if (!properties.anchor.empty()) {
    anchors_[properties.anchor] = {};
  }
  return true;
}

bool Parser::Merge(const Properties& from, Properties& into) {
  if ((!from.anchor.empty() && !into.anchor.empty()) ||
      (from.tag != Tag::kNone && into.tag != Tag::kNone)) {
    Fail(at_, "a value has one tag and one anchor: remove one of them");
    return false;
  }
  if (!from.anchor.empty()) {
    into.anchor = from.anchor;
  }
  if (from.tag != Tag::kNone) {
    into.tag = from.tag;
    into.tag_text = from.tag_text;
  }
  return true;
}

const Node* Parser::Apply(const Inline& read, const Properties& properties) {
  if (read.created == nullptr) {
    return properties.empty() ? read.node : Fail(at_, "an alias cannot have a tag or an anchor");
  }
  Node& node = *read.created;
  const bool is_plain = node.is_text() && !node.quoted;
  const Tag tag = properties.tag;
  const bool is_nonspecific = properties.tag_text == "!";
  const bool fits = tag == Tag::kNone || is_nonspecific || (tag == Tag::kList && node.is_list()) ||
                    (tag == Tag::kMap && node.is_map()) ||
                    ((tag == Tag::kText || tag == Tag::kAsWritten) && node.is_text());
  if (!fits && !options_.any_tag) {
    fault_ = {.message = "the tag " + properties.tag_text +
                         (tag == Tag::kOther ? " has no meaning here: leave it out"
                                             : " does not fit this value: leave it out"),
              .line = node.line,
              .column = node.column - 1};
    return nullptr;
  }
  if (is_plain && (tag == Tag::kNone || tag == Tag::kAsWritten) && IsNullWord(node.text)) {
    node.kind = Node::Kind::kNull;
    node.text.clear();
  } else if (is_plain && tag != Tag::kNone && tag != Tag::kAsWritten) {
    node.quoted = true;
  }
  if (!properties.anchor.empty()) {
    anchors_[properties.anchor] = {.node = &node, .size = count_ - read.count_before};
  }
  return &node;
}

bool Parser::Open() {
  if (depth_ >= kMaxDepth) {
    Fail(at_, "nested deeper than " + std::to_string(kMaxDepth) + " levels");
    return false;
  }
  ++depth_;
  return true;
}

bool Parser::Count(std::size_t nodes) {
  count_ += nodes;
  if (count_ > kMaxNodes) {
    Fail(at_, "more than " + std::to_string(kMaxNodes) +
                  " values, aliases counted in full: split the file");
    return false;
  }
  return true;
}

Node* Parser::Add(Node::Kind kind, const Cursor& begin) {
  if (!Count(1)) {
    return nullptr;
  }
  Node& node = nodes_.emplace_back();
  node.kind = kind;
  node.line = begin.line();
  node.column = begin.column() + 1;
  return &node;
}

Parser::Inline Parser::AddText(std::string text, bool quoted, const Cursor& begin) {
  const std::size_t before = count_;
  Node* const node = Add(Node::Kind::kText, begin);
  if (node == nullptr) {
    return {};
  }
  node->text = std::move(text);
  node->quoted = quoted;
  return {.node = node, .created = node, .count_before = before};
}

const Node* Parser::AddEmpty(const Cursor& begin, const Properties& properties) {
  const Inline read = AddText("", /*quoted=*/false, begin);
  return read.node == nullptr ? nullptr : Apply(read, properties);
}

std::nullptr_t Parser::Fail(const Cursor& at, std::string message) {
  if (!fault_) {
    fault_ = {.message = std::move(message), .line = at.line(), .column = at.column()};
  }
  return nullptr;
}

}  // namespace sluice::yaml
