#include "rules/yaml_parser.h"

#include <algorithm>
#include <array>
#include <utility>

namespace sluice::rules {

namespace {

constexpr std::string_view kUnseparated = "a comment needs a blank before the #";
constexpr const char* kTabbed = "a tab indents this line: indent with spaces";

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
  Fail(at_, at_.IsBehindTab() ? std::string(kTabbed)
                              : "the document's value ends before this line: is it indented as "
                                "the lines before it?");
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
                                  : "the value ends before here: put it all into quotes, or begin "
                                    "a new line");
      return false;
    }
  }
  at_.SkipGap();
  return true;
}

// Block collections: by indentation.

bool YamlParser::HasNoContent(const Block& block) const {
  if (at_.at_end() || at_.AtMarker()) {
    return true;
  }
  if (!at_.IsFirstInLine()) {
    return false;
  }
  const int indent = at_.Indentation();
  return indent <= block.indent &&
         !(block.list_at_indent && indent == block.indent && at_.AtIndicator('-'));
}

const YamlNode* YamlParser::ReadBlockNode(const Block& block) {
  YamlProperties outer;  // In lines before that of the node.
  const YamlCursor before = at_;
  at_.SkipGap();
  for (bool compact = block.compact;; compact = false) {
    if (HasNoContent(block)) {
      return AddEmpty(before, outer);
    }
    const YamlCursor begin = at_;
    const bool may_open = (compact || at_.IsFirstInLine()) && !at_.IsBehindTab();
    YamlProperties own;
    if (!ReadProperties(/*in_flow=*/false, own)) {
      return nullptr;
    }
    if (!own.empty() && (at_.AtBreakOrEnd() || at_.AtComment())) {
      if (!Merge(own, outer)) {
        return nullptr;
      }
      at_.SkipGap();
      continue;
    }
    if (at_.Peek() == '|' || at_.Peek() == '>') {
      return Merge(own, outer) ? ReadBlockText(block.indent, outer) : nullptr;
    }
    const bool list = at_.AtIndicator('-');
    if (!list && !at_.AtIndicator('?') && !(own.empty() && at_.AtIndicator(':'))) {
      return ReadBlockInline(block, begin, may_open, outer, own);
    }
    if (!may_open || !own.empty()) {
      return Fail(at_, begin.IsBehindTab()
                           ? begin.IsFirstInLine() ? kTabbed : "a tab is before this: write spaces"
                       : list ? "a list begins in a line of its own: put its first - there"
                              : "a map begins in a line of its own: put its first key there");
    }
    return list ? ReadList(outer, begin.column() == block.indent) : ReadMap(begin, outer, nullptr);
  }
}

const YamlNode* YamlParser::ReadBlockInline(const Block& block, const YamlCursor& begin,
                                            bool may_open, const YamlProperties& outer,
                                            const YamlProperties& own) {
  Inline read;
  if (at_.AtIndicator(':')) {  // Behind properties: those of an empty key.
    read = AddText("", /*quoted=*/false, begin);
  } else {
    read = ReadInline({.indent = block.indent, .any_indent = options_.any_flow_indent});
  }
  if (read.node == nullptr) {
    return nullptr;
  }
  at_.SkipBlanks();
  if (!at_.AtIndicator(':')) {
    YamlProperties properties = outer;
    return Merge(own, properties) ? Apply(read, properties) : nullptr;
  }
  if (at_.line() != begin.line()) {
    return Fail(at_, "this ':' makes a key of a text that begins in line " +
                         std::to_string(begin.line()) +
                         ": is a ':' missing there, or this line indented too far?");
  }
  if (begin.IsBehindTab()) {
    return Fail(begin, std::string(kTabbed));
  }
  if (!may_open) {
    return Fail(at_,
                "a second ':' in this line: put the value in quotes, or its keys into lines "
                "of their own");
  }
  const YamlNode* const key = Apply(read, own);
  return key == nullptr ? nullptr : ReadMap(begin, outer, key);
}

bool YamlParser::GoesOnAt(int indent) {
  if (!EndLine() || at_.at_end() || at_.AtMarker() || at_.Indentation() < indent) {
    return false;
  }
  if (at_.IsBehindTab()) {
    Fail(at_, std::string(kTabbed));
  } else if (at_.Indentation() > indent) {
    Fail(at_,
         "this line is indented unlike the lines before it: the entries of one map or list "
         "are indented alike");
  }
  return !failed();
}

const YamlNode* YamlParser::ReadList(const YamlProperties& properties, bool in_map) {
  const std::size_t before = count_;
  const YamlCursor begin = at_;
  YamlNode* const list = Add(YamlNode::Kind::kList, begin);
  if (list == nullptr || !Open()) {
    return nullptr;
  }
  do {
    if (!at_.AtIndicator('-')) {
      if (in_map) {
        break;  // The next key of the map around it.
      }
      return Fail(at_, "this line is indented as the list's entries before it: begin it with -");
    }
    at_.Advance();
    const YamlNode* const item =
        ReadBlockNode({.indent = begin.column(), .compact = true, .list_at_indent = false});
    if (item == nullptr) {
      return nullptr;
    }
    list->items.push_back(item);
  } while (GoesOnAt(begin.column()));
  --depth_;
  return failed() ? nullptr
                  : Apply({.node = list, .fresh = list, .count_before = before}, properties);
}

const YamlNode* YamlParser::ReadMap(const YamlCursor& begin, const YamlProperties& properties,
                                    const YamlNode* first_key) {
  const std::size_t before = count_;
  YamlNode* const map = Add(YamlNode::Kind::kMap, begin);
  if (map == nullptr || !Open()) {
    return nullptr;
  }
  if (first_key != nullptr) {
    map->items.push_back(first_key);
  }
  do {
    if (!ReadMapEntry(*map, begin.column())) {
      return nullptr;
    }
  } while (GoesOnAt(begin.column()));
  --depth_;
  return failed() ? nullptr
                  : Apply({.node = map, .fresh = map, .count_before = before}, properties);
}

// Where a key has been read already, the cursor is at its ':'.
bool YamlParser::ReadMapEntry(YamlNode& map, int indent) {
  const Block value{.indent = indent, .compact = false, .list_at_indent = true};
  const Block marked{.indent = indent, .compact = true, .list_at_indent = true};
  const YamlCursor begin = at_;
  const YamlNode* read = nullptr;
  if (map.items.size() % 2 == 0 && at_.AtIndicator('?')) {
    at_.Advance();
    const YamlNode* const key = ReadBlockNode(marked);
    if (key == nullptr || !EndLine()) {
      return false;
    }
    map.items.push_back(key);
    const bool has_value =
        at_.AtIndicator(':') && at_.IsFirstInLine() && at_.column() == indent && !at_.IsBehindTab();
    at_.Advance(has_value ? 1 : 0);
    read = has_value ? ReadBlockNode(marked) : AddEmpty(begin, {});
  } else {
    if (map.items.size() % 2 == 0) {
      const YamlNode* const key = ReadInlineKey(indent);
      if (key == nullptr) {
        return false;
      }
      map.items.push_back(key);
    }
    const YamlNode& key = *map.items.back();
    at_.Advance();
    YamlNode* const last = nodes_.empty() ? nullptr : &nodes_.back();
    read = ReadBlockNode(value);
    if (read != nullptr && &nodes_.back() == read && read != last && read->is_null() &&
        read->text.empty()) {
      // "burst:" without a value: the key is where to look.
      nodes_.back().line = key.line;
      nodes_.back().column = key.column;
    }
  }
  if (read == nullptr) {
    return false;
  }
  map.items.push_back(read);
  return true;
}

const YamlNode* YamlParser::ReadInlineKey(int indent) {
  const YamlCursor begin = at_;
  YamlProperties properties;
  if (!ReadProperties(/*in_flow=*/false, properties)) {
    return nullptr;
  }
  if (at_.AtIndicator(':')) {
    return AddEmpty(begin, properties);
  }
  if (at_.AtIndicator('-')) {
    return Fail(at_, "a list's entry (-) among the keys of a map: indent it more than its key");
  }
  if (at_.AtIndicator('?') || at_.AtBreakOrEnd()) {
    return Fail(at_, "a key is missing here: write KEY: VALUE");
  }
  const Inline read =
      ReadInline({.indent = indent, .one_line = true, .any_indent = options_.any_flow_indent});
  if (read.node == nullptr) {
    return nullptr;
  }
  at_.SkipBlanks();
  if (!at_.AtIndicator(':')) {
    return Fail(begin, at_.Peek() == ':' ? "a blank is missing after the ':' of this key"
                                         : "this line has no ': ' and is not a value: write KEY: "
                                           "VALUE, with a blank after the colon");
  }
  if (at_.line() != begin.line()) {
    return Fail(begin, "a key stands in one line");
  }
  return Apply(read, properties);
}

const YamlNode* YamlParser::ReadBlockText(int indent, const YamlProperties& properties) {
  const YamlCursor begin = at_;
  YamlFault fault;
  auto text = ReadBlockScalar(at_, indent, fault);
  if (!text) {
    fault_ = std::move(fault);
    return nullptr;
  }
  const Inline read = AddText(std::move(text), /*quoted=*/true, begin);
  return read.node == nullptr ? nullptr : Apply(read, properties);
}

// What stands within lines.

YamlParser::Inline YamlParser::ReadInline(const YamlContext& context) {
  const YamlCursor begin = at_;
  YamlFault fault;
  std::optional<std::string> text;
  switch (at_.Peek()) {
    case '*':
      return ReadAlias();
    case '[':
      return ReadFlowList(context);
    case '{':
      return ReadFlowMap(context);
    case '"':
    case '\'':
      text = at_.Peek() == '"' ? ReadDoubleQuoted(at_, context, fault)
                               : ReadSingleQuoted(at_, context, fault);
      if (!text) {
        fault_ = std::move(fault);
        return {};
      }
      return AddText(std::move(text), /*quoted=*/true, begin);
    default:
      break;
  }
  if (!CanBeginPlain(at_, context.in_flow)) {
    Fail(at_, at_.Peek() == '#'
                  ? std::string(kUnseparated)
                  : std::string("a value cannot begin with ") + at_.Peek() + ": put it in quotes");
    return {};
  }
  return AddText(ReadPlain(at_, context), /*quoted=*/false, begin);
}

YamlParser::Inline YamlParser::ReadAlias() {
  const YamlCursor begin = at_;
  at_.Advance();
  const std::size_t from = at_.position();
  while (!at_.SpaceAt(0) && !YamlCursor::IsFlowSign(at_.Peek())) {
    at_.Advance();
  }
  const std::string name(at_.From(from));
  const auto found = anchors_.find(name);
  if (name.empty() || found == anchors_.end()) {
    Fail(begin, name.empty() ? "an alias wants a name: put the * in quotes"
                             : "no anchor &" + name + " stands before the alias *" + name +
                                   ": put a text that begins with * in quotes");
    return {};
  }
  if (found->second.size == 0) {
    Fail(begin, "an alias is inside the value that it refers to");
    return {};
  }
  if (!Count(found->second.size)) {
    return {};
  }
  return {.node = found->second.node};
}

bool YamlParser::SkipFlowGap(const YamlContext& context) {
  const int line = at_.line();
  at_.SkipGap();
  if (at_.line() == line || at_.at_end()) {
    return true;
  }
  if (at_.AtMarker()) {
    Fail(at_, "the document ends within [] or {}: a closing bracket is missing");
  } else if (!GoesOnHere(at_, context)) {
    Fail(at_, at_.IsBehindTab() ? std::string(kTabbed)
                                : "this line belongs to a [ or { before it: indent it more than "
                                  "the key there, or is a bracket not closed?");
  }
  return !failed();
}

bool YamlParser::EndFlowEntry(const YamlContext& context, char close) {
  if (!SkipFlowGap(context)) {
    return false;
  }
  if (at_.Peek() == ',') {
    at_.Advance();
    return true;
  }
  if (at_.Peek() == close) {
    return true;
  }
  if (at_.at_end()) {
    Fail(at_, std::string("the text ends before the closing ") + close);
  } else if (at_.Peek() == '#') {
    Fail(at_, std::string(kUnseparated));
  } else {
    Fail(at_, std::string("a comma or ") + close + " is missing before here");
  }
  return false;
}

YamlParser::Inline YamlParser::ReadFlowList(YamlContext context) {
  const std::size_t before = count_;
  YamlNode* const list = Add(YamlNode::Kind::kList, at_);
  if (list == nullptr || !Open()) {
    return {};
  }
  context.in_flow = true;
  context.one_line = false;
  at_.Advance();
  while (SkipFlowGap(context) && at_.Peek() != ']') {
    if (!ReadFlowListEntry(*list, context) || !EndFlowEntry(context, ']')) {
      return {};
    }
  }
  at_.Advance();
  --depth_;
  return failed()
             ? Inline{}
             : Inline{.node = list, .fresh = list, .count_before = before, .ends_itself = true};
}

YamlParser::Inline YamlParser::ReadFlowMap(YamlContext context) {
  const std::size_t before = count_;
  YamlNode* const map = Add(YamlNode::Kind::kMap, at_);
  if (map == nullptr || !Open()) {
    return {};
  }
  context.in_flow = true;
  context.one_line = false;
  at_.Advance();
  while (SkipFlowGap(context) && at_.Peek() != '}') {
    if (!ReadFlowMapEntry(*map, context) || !EndFlowEntry(context, '}')) {
      return {};
    }
  }
  at_.Advance();
  --depth_;
  return failed() ? Inline{}
                  : Inline{.node = map, .fresh = map, .count_before = before, .ends_itself = true};
}

// An entry of a list may be a map of one pair: [a: b].
bool YamlParser::ReadFlowListEntry(YamlNode& list, const YamlContext& context) {
  const YamlCursor begin = at_;
  if (at_.AtIndicator('?')) {
    YamlNode* const pair = Add(YamlNode::Kind::kMap, begin);
    list.items.push_back(pair);
    return pair != nullptr && ReadFlowMapEntry(*pair, context);
  }
  const Inline read = ReadFlowNode(context, /*may_be_empty=*/false);
  if (read.node == nullptr) {
    return false;
  }
  at_.SkipBlanks();
  if (at_.Peek() != ':' ||
      !(read.ends_itself || at_.SpaceAt(1) || YamlCursor::IsFlowSign(at_.Peek(1)))) {
    list.items.push_back(read.node);
    return true;
  }
  if (at_.line() != begin.line()) {
    Fail(at_, "a key within [] stands in one line");
    return false;
  }
  YamlNode* const pair = Add(YamlNode::Kind::kMap, begin);
  list.items.push_back(pair);
  if (pair == nullptr) {
    return false;
  }
  pair->items.push_back(read.node);
  return ReadFlowValue(*pair, context);
}

bool YamlParser::ReadFlowMapEntry(YamlNode& map, const YamlContext& context) {
  const bool is_marked = at_.AtIndicator('?');
  at_.Advance(is_marked ? 1 : 0);
  if (!SkipFlowGap(context)) {
    return false;
  }
  const Inline key = ReadFlowNode(context, is_marked);
  if (key.node == nullptr || !SkipFlowGap(context)) {
    return false;
  }
  map.items.push_back(key.node);
  if (at_.Peek() == ':' &&
      (key.ends_itself || at_.SpaceAt(1) || YamlCursor::IsFlowSign(at_.Peek(1)))) {
    return ReadFlowValue(map, context);
  }
  map.items.push_back(AddEmpty(at_, {}));
  return !failed();
}

// From the ':' on.
bool YamlParser::ReadFlowValue(YamlNode& map, const YamlContext& context) {
  at_.Advance();
  if (!SkipFlowGap(context)) {
    return false;
  }
  map.items.push_back(ReadFlowNode(context, /*may_be_empty=*/true).node);
  return !failed();
}

YamlParser::Inline YamlParser::ReadFlowNode(const YamlContext& context, bool may_be_empty) {
  const YamlCursor begin = at_;
  YamlProperties properties;
  if (!ReadProperties(/*in_flow=*/true, properties) || !SkipFlowGap(context)) {
    return {};
  }
  const char c = at_.Peek();
  const bool is_empty = c == ']' || c == '}' ||
                        (c == ',' && (may_be_empty || !properties.empty())) ||
                        (c == ':' && (at_.SpaceAt(1) || YamlCursor::IsFlowSign(at_.Peek(1))));
  if (at_.at_end()) {
    Fail(at_, "the text ends within [] or {}");
    return {};
  }
  Inline read = is_empty ? AddText("", /*quoted=*/false, begin) : ReadInline(context);
  if (read.node == nullptr || Apply(read, properties) == nullptr) {
    return {};
  }
  read.ends_itself = !is_empty && (c == '"' || c == '\'' || read.ends_itself);
  return read;
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
  if (read.fresh == nullptr) {
    return properties.empty() ? read.node
                              : Fail(at_, "an alias has no tag and no anchor of its own");
  }
  YamlNode& node = *read.fresh;
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

YamlParser::Inline YamlParser::AddText(std::optional<std::string> text, bool quoted,
                                       const YamlCursor& begin) {
  const std::size_t before = count_;
  YamlNode* const node = Add(YamlNode::Kind::kText, begin);
  if (node == nullptr) {
    return {};
  }
  node->text = *std::move(text);
  node->quoted = quoted;
  return {.node = node, .fresh = node, .count_before = before};
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
