#include "rules/yaml_parser.h"

#include <algorithm>
#include <array>
#include <utility>

namespace sluice::rules {

namespace {

bool IsNullWord(std::string_view text) {
  constexpr std::array<std::string_view, 5> kWords{"", "~", "null", "Null", "NULL"};
  return std::ranges::find(kWords, text) != kWords.end();
}

}  // namespace

// The stream: documents, their directives and markers.

const YamlNode* YamlParser::ReadDocument() {
  if (failed() || !BeginDocument() || at_.at_end()) {
    return nullptr;
  }
  document_line_ = at_.line();
  if (at_.AtMarker('-')) {
    at_.Advance(3);
  }
  const YamlNode* const root = ReadBlockNode({});
  return root != nullptr && EndDocument() ? root : nullptr;
}

bool YamlParser::BeginDocument() {
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
  YamlFault fault;
  if (!ReadYamlDirectives(at_, handles_, fault)) {
    fault_ = std::move(fault);
    return false;
  }
  if (!at_.AtMarker('-')) {
    Fail(at_, "a line with --- is missing after the directives (%)");
    return false;
  }
  return true;
}

bool YamlParser::EndDocument() {
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

bool YamlParser::EndLine() {
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

bool YamlParser::ReadProperties(bool in_flow, YamlProperties& properties) {
  YamlFault fault;
  if (!ReadYamlProperties(at_, in_flow, handles_, properties, fault)) {
    fault_ = std::move(fault);
    return false;
  }
  if (!properties.anchor.empty()) {
    anchors_[properties.anchor] = {};
  }
  return true;
}

bool YamlParser::Merge(const YamlProperties& from, YamlProperties& into) {
  if ((!from.anchor.empty() && !into.anchor.empty()) ||
      (from.tag != YamlTag::kNone && into.tag != YamlTag::kNone)) {
    Fail(at_, "a value has one tag and one anchor: remove one of them");
    return false;
  }
  if (!from.anchor.empty()) {
    into.anchor = from.anchor;
  }
  if (from.tag != YamlTag::kNone) {
    into.tag = from.tag;
    into.tag_text = from.tag_text;
  }
  return true;
}

const YamlNode* YamlParser::Apply(const Inline& read, const YamlProperties& properties) {
  if (read.created == nullptr) {
    return properties.empty() ? read.node : Fail(at_, "an alias cannot have a tag or an anchor");
  }
  YamlNode& node = *read.created;
  const bool is_plain = node.is_text() && !node.quoted;
  const YamlTag tag = properties.tag;
  const bool is_nonspecific = properties.tag_text == "!";
  const bool fits = tag == YamlTag::kNone || is_nonspecific ||
                    (tag == YamlTag::kList && node.is_list()) ||
                    (tag == YamlTag::kMap && node.is_map()) ||
                    ((tag == YamlTag::kText || tag == YamlTag::kAsWritten) && node.is_text());
  if (!fits && !options_.any_tag) {
    fault_ = {.message = "the tag " + properties.tag_text +
                         (tag == YamlTag::kOther ? " has no meaning here: leave it out"
                                                 : " does not fit this value: leave it out"),
              .line = node.line,
              .column = node.column - 1};
    return nullptr;
  }
  if (is_plain && (tag == YamlTag::kNone || tag == YamlTag::kAsWritten) && IsNullWord(node.text)) {
    node.kind = YamlNode::Kind::kNull;
    node.text.clear();
  } else if (is_plain && tag != YamlTag::kNone && tag != YamlTag::kAsWritten) {
    node.quoted = true;
  }
  if (!properties.anchor.empty()) {
    anchors_[properties.anchor] = {.node = &node, .size = count_ - read.count_before};
  }
  return &node;
}

bool YamlParser::Open() {
  if (depth_ >= kMaxYamlDepth) {
    Fail(at_, "nested deeper than " + std::to_string(kMaxYamlDepth) + " levels");
    return false;
  }
  ++depth_;
  return true;
}

bool YamlParser::Count(std::size_t nodes) {
  count_ += nodes;
  if (count_ > kMaxYamlNodes) {
    Fail(at_, "more than " + std::to_string(kMaxYamlNodes) +
                  " values, aliases counted in full: split the file");
    return false;
  }
  return true;
}

YamlNode* YamlParser::Add(YamlNode::Kind kind, const YamlCursor& begin) {
  if (!Count(1)) {
    return nullptr;
  }
  YamlNode& node = nodes_.emplace_back();
  node.kind = kind;
  node.line = begin.line();
  node.column = begin.column() + 1;
  return &node;
}

YamlParser::Inline YamlParser::AddText(std::string text, bool quoted, const YamlCursor& begin) {
  const std::size_t before = count_;
  YamlNode* const node = Add(YamlNode::Kind::kText, begin);
  if (node == nullptr) {
    return {};
  }
  node->text = std::move(text);
  node->quoted = quoted;
  return {.node = node, .created = node, .count_before = before};
}

const YamlNode* YamlParser::AddEmpty(const YamlCursor& begin, const YamlProperties& properties) {
  const Inline read = AddText("", /*quoted=*/false, begin);
  return read.node == nullptr ? nullptr : Apply(read, properties);
}

std::nullptr_t YamlParser::Fail(const YamlCursor& at, std::string message) {
  if (!fault_) {
    fault_ = {.message = std::move(message), .line = at.line(), .column = at.column()};
  }
  return nullptr;
}

}  // namespace sluice::rules
