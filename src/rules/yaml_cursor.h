#pragma once

#include <cstddef>
#include <string_view>

namespace sluice::rules {

// A position in a YAML text whose line breaks are all '\n', and what is to be seen from there.
// Indentation is spaces alone, as in YAML: a tab never counts towards it.
class YamlCursor {
 public:
  explicit YamlCursor(std::string_view text) : text_(text) {}

  [[nodiscard]] bool at_end() const { return position_ >= text_.size(); }
  // The character `ahead` of here; '\0' after the end.
  [[nodiscard]] char Peek(std::size_t ahead = 0) const {
    return position_ + ahead < text_.size() ? text_[position_ + ahead] : '\0';
  }
  [[nodiscard]] bool AtBreakOrEnd() const { return at_end() || Peek() == '\n'; }
  // Whether a blank, a line break or the end stands `ahead` of here.
  [[nodiscard]] bool SpaceAt(std::size_t ahead) const {
    return position_ + ahead >= text_.size() || IsBlank(Peek(ahead)) || Peek(ahead) == '\n';
  }
  // "-", "?" or ":" as the sign of a block entry, and no part of a text.
  [[nodiscard]] bool AtIndicator(char indicator) const { return Peek() == indicator && SpaceAt(1); }
  // "---" or "..." at the beginning of a line.
  [[nodiscard]] bool AtMarker() const {
    return column() == 0 && SpaceAt(3) && (AtMarker('-') || AtMarker('.'));
  }
  [[nodiscard]] bool AtMarker(char sign) const {
    return column() == 0 && Peek() == sign && Peek(1) == sign && Peek(2) == sign && SpaceAt(3);
  }
  [[nodiscard]] bool AtText(std::string_view expected) const {
    return text_.substr(position_).starts_with(expected);
  }
  // Whether a comment begins here: its sign stands after a blank or at the beginning of a line.
  [[nodiscard]] bool AtComment() const {
    return Peek() == '#' && (column() == 0 || IsBlank(text_[position_ - 1]));
  }

  [[nodiscard]] std::size_t position() const { return position_; }
  [[nodiscard]] int line() const { return line_; }  // From 1.
  // Bytes from the beginning of the line.
  [[nodiscard]] int column() const { return static_cast<int>(position_ - line_begin_); }
  [[nodiscard]] std::string_view From(std::size_t begin) const {
    return text_.substr(begin, position_ - begin);
  }

  // Whether nothing but blanks stands before here in this line.
  [[nodiscard]] bool IsFirstInLine() const { return BlanksBegin() == line_begin_; }
  // Whether one of the blanks right before here is a tab.
  [[nodiscard]] bool IsBehindTab() const {
    return text_.substr(BlanksBegin(), position_ - BlanksBegin()).find('\t') !=
           std::string_view::npos;
  }
  // Spaces at the beginning of this line, as far as here.
  [[nodiscard]] int Indentation() const {
    std::size_t end = line_begin_;
    while (end < position_ && text_[end] == ' ') {
      ++end;
    }
    return static_cast<int>(end - line_begin_);
  }

  // Over characters of this line.
  void Advance(std::size_t count = 1) { position_ += count; }
  // Over a line break.
  void NextLine() {
    ++position_;
    ++line_;
    line_begin_ = position_;
  }
  void SkipBlanks() {
    while (IsBlank(Peek())) {
      ++position_;
    }
  }
  void SkipSpaces(int most) {
    for (int i = 0; i < most && Peek() == ' '; ++i) {
      ++position_;
    }
  }
  void SkipLine() {
    while (!AtBreakOrEnd()) {
      ++position_;
    }
  }
  // Over blanks, comments and line breaks, to what comes next.
  void SkipGap() {
    while (true) {
      SkipBlanks();
      if (AtComment()) {
        SkipLine();
      }
      if (at_end() || Peek() != '\n') {
        return;
      }
      NextLine();
    }
  }

  [[nodiscard]] static bool IsBlank(char c) { return c == ' ' || c == '\t'; }
  [[nodiscard]] static bool IsFlowSign(char c) {
    return c == ',' || c == '[' || c == ']' || c == '{' || c == '}';
  }

 private:
  [[nodiscard]] std::size_t BlanksBegin() const {
    std::size_t begin = position_;
    while (begin > line_begin_ && IsBlank(text_[begin - 1])) {
      --begin;
    }
    return begin;
  }

  std::string_view text_;
  std::size_t position_ = 0;
  std::size_t line_begin_ = 0;
  int line_ = 1;
};

}  // namespace sluice::rules
