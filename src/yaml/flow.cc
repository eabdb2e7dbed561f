#include <string>

#include "yaml/parser.h"

// The part of Parser that reads nodes within lines: scalars, aliases, [] and {}.
namespace sluice::yaml {

Parser::Inline Parser::ReadInline(const Context& context) {
  const Cursor begin = at_;
  Fault fault;
  std::optional<std::string> text;
  switch (at_.Peek()) {
    case '*':
      return ReadAlias();
    case '[':
      return ReadFlowCollection(context, Node::Kind::kList);
    case '{':
      return ReadFlowCollection(context, Node::Kind::kMap);
    case '"':
    case '\'':
      text = at_.Peek() == '"' ? ReadDoubleQuoted(at_, context, fault)
                               : ReadSingleQuoted(at_, context, fault);
      if (!text) {
        fault_ = std::move(fault);
        return {};
      }
      return AddText(*std::move(text), /*quoted=*/true, begin);
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

Parser::Inline Parser::ReadAlias() {
  const Cursor begin = at_;
  at_.Advance();
  const std::size_t from = at_.position();
  while (!at_.SpaceAt(0) && !Cursor::IsFlowSign(at_.Peek())) {
    at_.Advance();
  }
  const std::string name(at_.From(from));
  const auto found = anchors_.find(name);
  if (name.empty() || found == anchors_.end()) {
    Fail(begin, name.empty() ? "an alias needs a name: put the * in quotes"
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

bool Parser::SkipFlowGap(const Context& context) {
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
                                  "the key there, or close the bracket");
  }
  return !failed();
}

bool Parser::EndFlowEntry(const Context& context, char close) {
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
    Fail(at_, std::string("a comma or ") + close + " is missing before this text");
  }
  return false;
}

// Reads [...] or {...}. Both have the same form: entries, each followed by a comma or by the
// closing bracket, with comments and line breaks in between. Only the entries differ.
Parser::Inline Parser::ReadFlowCollection(Context context, Node::Kind kind) {
  const bool is_list = kind == Node::Kind::kList;
  const char close = is_list ? ']' : '}';
  const std::size_t before = count_;
  Node* const node = Add(kind, at_);
  if (node == nullptr || !Open()) {
    return {};
  }
  context.in_flow = true;
  context.one_line = false;
  at_.Advance();
  while (SkipFlowGap(context) && at_.Peek() != close) {
    const bool has_entry =
        is_list ? ReadFlowListEntry(*node, context) : ReadFlowMapEntry(*node, context);
    if (!has_entry || !EndFlowEntry(context, close)) {
      return {};
    }
  }
  at_.Advance();
  --depth_;
  if (failed()) {
    return {};
  }
  return {.node = node, .created = node, .count_before = before, .ends_itself = true};
}

bool Parser::AtFlowColon(bool key_ends_itself) const {
  return at_.Peek() == ':' &&
         (key_ends_itself || at_.SpaceAt(1) || Cursor::IsFlowSign(at_.Peek(1)));
}

// An entry of a list may be a map of one pair: [a: b].
bool Parser::ReadFlowListEntry(Node& list, const Context& context) {
  const Cursor begin = at_;
  if (at_.AtIndicator('?')) {
    Node* const pair = Add(Node::Kind::kMap, begin);
    list.items.push_back(pair);
    return pair != nullptr && ReadFlowMapEntry(*pair, context);
  }
  const Inline read = ReadFlowNode(context, /*may_be_empty=*/false);
  if (read.node == nullptr) {
    return false;
  }
  at_.SkipBlanks();
  if (!AtFlowColon(read.ends_itself)) {
    list.items.push_back(read.node);
    return true;
  }
  if (at_.line() != begin.line()) {
    Fail(at_, "a key within [] must be on one line");
    return false;
  }
  Node* const pair = Add(Node::Kind::kMap, begin);
  list.items.push_back(pair);
  if (pair == nullptr) {
    return false;
  }
  pair->items.push_back(read.node);
  return ReadFlowValue(*pair, context);
}

bool Parser::ReadFlowMapEntry(Node& map, const Context& context) {
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
  if (AtFlowColon(key.ends_itself)) {
    return ReadFlowValue(map, context);
  }
  map.items.push_back(AddEmpty(at_, {}));
  return !failed();
}

// From the ':' on.
bool Parser::ReadFlowValue(Node& map, const Context& context) {
  at_.Advance();
  if (!SkipFlowGap(context)) {
    return false;
  }
  map.items.push_back(ReadFlowNode(context, /*may_be_empty=*/true).node);
  return !failed();
}

Parser::Inline Parser::ReadFlowNode(const Context& context, bool may_be_empty) {
  const Cursor begin = at_;
  Properties properties;
  if (!ReadProperties(/*in_flow=*/true, properties) || !SkipFlowGap(context)) {
    return {};
  }
  const char c = at_.Peek();
  const bool is_empty = c == ']' || c == '}' ||
                        (c == ',' && (may_be_empty || !properties.empty())) ||
                        AtFlowColon(/*key_ends_itself=*/false);
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

}  // namespace sluice::yaml
