#include "yaml/properties.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

namespace sluice::yaml {

namespace {

// Text is compared with each of them; there are only a few.
constexpr std::size_t kMaxDirectives = 32;
constexpr std::string_view kTags = "tag:yaml.org,2002:";

bool FailAt(const Cursor& at, std::string message, Fault& fault) {
  fault = {.message = std::move(message), .line = at.line(), .column = at.column()};
  return false;
}

// Up to a blank or the end of the line.
std::string_view TakeWord(Cursor& at) {
  const std::size_t begin = at.position();
  while (!at.SpaceAt(0)) {
    at.Advance();
  }
  const std::string_view word = at.From(begin);
  at.SkipBlanks();
  return word;
}

bool IsWordCharacter(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-';
}

// "!", "!!" or "!name!".
bool IsHandle(std::string_view text) {
  return text == "!" || (text.size() >= 2 && text.front() == '!' && text.back() == '!' &&
                         std::ranges::all_of(text.substr(1, text.size() - 2), IsWordCharacter));
}

bool ReadVersion(std::string_view version, const Cursor& at, Fault& fault) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  if (version.starts_with("1.") && version.size() > 2 &&
      std::ranges::all_of(version.substr(2), is_digit)) {
    return true;
  }
  return FailAt(at, "%YAML names an unsupported version: write %YAML 1.2, or leave it out", fault);
}

bool ReadHandle(Cursor& at, std::vector<TagHandle>& handles, Fault& fault) {
  const Cursor begin = at;
  const std::string_view name = TakeWord(at);
  const std::string_view prefix = TakeWord(at);
  if (!IsHandle(name) || prefix.empty()) {
    return FailAt(begin, "%TAG needs a name and a prefix: %TAG !e! tag:example.com,2000:", fault);
  }
  if (std::ranges::find(handles, name, &TagHandle::name) != handles.end()) {
    return FailAt(begin, "%TAG gives this name twice", fault);
  }
  handles.push_back({.name = name, .prefix = prefix});
  return true;
}

Tag TagOf(std::string_view full) {
  constexpr std::array<std::pair<std::string_view, Tag>, 7> kKnown{{{"str", Tag::kText},
                                                                    {"int", Tag::kAsWritten},
                                                                    {"float", Tag::kAsWritten},
                                                                    {"bool", Tag::kAsWritten},
                                                                    {"null", Tag::kAsWritten},
                                                                    {"seq", Tag::kList},
                                                                    {"map", Tag::kMap}}};
  if (!full.starts_with(kTags)) {
    return Tag::kOther;
  }
  const auto* const known = std::ranges::find(kKnown, full.substr(kTags.size()),
                                              &std::pair<std::string_view, Tag>::first);
  return known == kKnown.end() ? Tag::kOther : known->second;
}

// After the '!' of "!<tag:...>".
bool ReadVerbatim(Cursor& at, Properties& properties, Fault& fault) {
  const Cursor begin = at;
  at.Advance(2);
  const std::size_t from = at.position();
  while (!at.SpaceAt(0) && at.Peek() != '>') {
    at.Advance();
  }
  const std::string_view full = at.From(from);
  if (at.Peek() != '>' || full.empty()) {
    return FailAt(begin, "a tag that begins with !< ends with >", fault);
  }
  at.Advance();
  properties.tag = TagOf(full);
  return true;
}

bool ReadTag(Cursor& at, const std::vector<TagHandle>& handles, Properties& properties,
             Fault& fault) {
  const Cursor begin = at;
  if (at.Peek(1) == '<') {
    return ReadVerbatim(at, properties, fault);
  }
  std::size_t handle_size = 1;
  while (!at.SpaceAt(0) && !Cursor::IsFlowSign(at.Peek())) {
    at.Advance();
    if (at.position() - begin.position() > 1 && handle_size == 1 &&
        at.From(begin.position()).back() == '!') {
      handle_size = at.position() - begin.position();
    }
  }
  const std::string_view text = at.From(begin.position());
  if (text == "!") {
    properties.tag = Tag::kText;
    return true;
  }
  const std::string_view handle = text.substr(0, handle_size);
  const std::string_view suffix = text.substr(handle_size);
  if (suffix.empty() || !IsHandle(handle)) {
    return FailAt(begin, "this tag is incomplete: write !!str, or put the text in quotes", fault);
  }
  const auto known = std::ranges::find(handles, handle, &TagHandle::name);
  if (known != handles.end()) {
    properties.tag = TagOf(std::string(known->prefix) + std::string(suffix));
  } else if (handle == "!!") {
    properties.tag = TagOf(std::string(kTags) + std::string(suffix));
  } else if (handle == "!") {
    properties.tag = Tag::kOther;
  } else {
    return FailAt(begin, "no %TAG of this document defines " + std::string(handle), fault);
  }
  return true;
}

bool ReadAnchor(Cursor& at, Properties& properties, Fault& fault) {
  const Cursor begin = at;
  at.Advance();
  const std::size_t from = at.position();
  while (!at.SpaceAt(0) && !Cursor::IsFlowSign(at.Peek())) {
    at.Advance();
  }
  properties.anchor = at.From(from);
  return !properties.anchor.empty() ||
         FailAt(begin, "an anchor needs a name: write &name, or put the text in quotes", fault);
}

}  // namespace

bool ReadDirectives(Cursor& at, std::vector<TagHandle>& handles, Fault& fault) {
  bool has_version = false;
  for (std::size_t count = 0; at.Peek() == '%' && at.column() == 0; ++count) {
    const Cursor begin = at;
    const std::string_view name = TakeWord(at);
    if (count == kMaxDirectives) {
      return FailAt(begin, "more than " + std::to_string(kMaxDirectives) + " directives", fault);
    }
    if (name == "%YAML") {
      if (has_version) {
        return FailAt(begin, "%YAML is given twice", fault);
      }
      has_version = true;
      if (!ReadVersion(TakeWord(at), begin, fault)) {
        return false;
      }
    } else if (name == "%TAG") {
      if (!ReadHandle(at, handles, fault)) {
        return false;
      }
    } else {
      at.SkipLine();  // Reserved for future versions.
    }
    if (at.AtComment()) {
      at.SkipLine();
    }
    if (!at.AtBreakOrEnd()) {
      return FailAt(at, "unexpected text after this directive", fault);
    }
    at.SkipGap();
  }
  return true;
}

bool ReadProperties(Cursor& at, bool in_flow, const std::vector<TagHandle>& handles,
                    Properties& properties, Fault& fault) {
  while (at.Peek() == '&' || at.Peek() == '!') {
    const Cursor begin = at;
    if (at.Peek() == '&') {
      if (!properties.anchor.empty()) {
        return FailAt(begin, "a value has one anchor: remove one of them", fault);
      }
      if (!ReadAnchor(at, properties, fault)) {
        return false;
      }
    } else {
      if (properties.tag != Tag::kNone) {
        return FailAt(begin, "a value has one tag: remove one of them", fault);
      }
      if (!ReadTag(at, handles, properties, fault)) {
        return false;
      }
      properties.tag_text = at.From(begin.position());
    }
    if (!at.SpaceAt(0) && !(in_flow && Cursor::IsFlowSign(at.Peek()))) {
      return FailAt(at, "a blank is missing after a tag or an anchor", fault);
    }
    at.SkipBlanks();
  }
  return true;
}

}  // namespace sluice::yaml
