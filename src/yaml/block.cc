#include <string>

#include "yaml/parser.h"

// The part of Parser that reads block collections, by indentation.
namespace sluice::yaml {

bool Parser::HasNoContent(const Block& block) const {
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

const Node* Parser::ReadBlockNode(const Block& block) {
  Properties outer;  // In lines before the node.
  const Cursor before = at_;
  at_.SkipGap();
  for (bool compact = block.compact;; compact = false) {
    if (HasNoContent(block)) {
      return AddEmpty(before, outer);
    }
    const Cursor begin = at_;
    const bool may_open = (compact || at_.IsFirstInLine()) && !at_.IsBehindTab();
    Properties own;
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
                       : list ? "a list begins on its own line: move its first - there"
                              : "a map begins on its own line: move its first key there");
    }
    return list ? ReadList(outer, begin.column() == block.indent) : ReadMap(begin, outer, nullptr);
  }
}

const Node* Parser::ReadBlockInline(const Block& block, const Cursor& begin, bool may_open,
                                    const Properties& outer, const Properties& own) {
  Inline read;
  if (at_.AtIndicator(':')) {  // After properties: those of an empty key.
    read = AddText("", /*quoted=*/false, begin);
  } else {
    read = ReadInline({.indent = block.indent, .any_indent = options_.any_flow_indent});
  }
  if (read.node == nullptr) {
    return nullptr;
  }
  at_.SkipBlanks();
  if (!at_.AtIndicator(':')) {
    Properties properties = outer;
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
                "a second ':' in this line: put the value in quotes, or each key on its own line");
  }
  const Node* const key = Apply(read, own);
  return key == nullptr ? nullptr : ReadMap(begin, outer, key);
}

bool Parser::GoesOnAt(int indent) {
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

const Node* Parser::ReadList(const Properties& properties, bool in_map) {
  const std::size_t before = count_;
  const Cursor begin = at_;
  Node* const list = Add(Node::Kind::kList, begin);
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
    const Node* const item =
        ReadBlockNode({.indent = begin.column(), .compact = true, .list_at_indent = false});
    if (item == nullptr) {
      return nullptr;
    }
    list->items.push_back(item);
  } while (GoesOnAt(begin.column()));
  --depth_;
  return failed() ? nullptr
                  : Apply({.node = list, .created = list, .count_before = before}, properties);
}

const Node* Parser::ReadMap(const Cursor& begin, const Properties& properties,
                            const Node* first_key) {
  const std::size_t before = count_;
  Node* const map = Add(Node::Kind::kMap, begin);
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
                  : Apply({.node = map, .created = map, .count_before = before}, properties);
}

// If a key has already been read, the cursor is at its ':'.
bool Parser::ReadMapEntry(Node& map, int indent) {
  const Block value{.indent = indent, .compact = false, .list_at_indent = true};
  const Block marked{.indent = indent, .compact = true, .list_at_indent = true};
  const Cursor begin = at_;
  const Node* read = nullptr;
  if (map.items.size() % 2 == 0 && at_.AtIndicator('?')) {
    at_.Advance();
    const Node* const key = ReadBlockNode(marked);
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
      const Node* const key = ReadInlineKey(indent);
      if (key == nullptr) {
        return false;
      }
      map.items.push_back(key);
    }
    const Node& key = *map.items.back();
    at_.Advance();
    Node* const last = nodes_.empty() ? nullptr : &nodes_.back();
    read = ReadBlockNode(value);
    if (read != nullptr && &nodes_.back() == read && read != last && read->is_null() &&
        read->text.empty()) {
      // "burst:" without a value: problems point at the key.
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

const Node* Parser::ReadInlineKey(int indent) {
  const Cursor begin = at_;
  Properties properties;
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
    return Fail(begin, "a key must be on one line");
  }
  return Apply(read, properties);
}

const Node* Parser::ReadBlockText(int indent, const Properties& properties) {
  const Cursor begin = at_;
  Fault fault;
  auto text = ReadBlockScalar(at_, indent, fault);
  if (!text) {
    fault_ = std::move(fault);
    return nullptr;
  }
  const Inline read = AddText(*std::move(text), /*quoted=*/true, begin);
  return read.node == nullptr ? nullptr : Apply(read, properties);
}

}  // namespace sluice::yaml
