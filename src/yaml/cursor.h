#pragma once

#include <cstddef>
#include <string_view>

namespace sluice::yaml {

// A position in a YAML text in which all line breaks are '\n'. As in YAML, only spaces count as
// indentation, never tabs.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : text_(text) {}

  [[nodiscard]] bool at_end() const { return position_ >= text_.size(); }
  // The character `ahead` positions further; '\0' after the end.
  [[nodiscard]] char Peek(std::size_t ahead = 0) const {
    return position_ + ahead < text_.size() ? text_[position_ + ahead] : '\0';
  }
  [[nodiscard]] bool AtBreakOrEnd() const { return at_end() || Peek() == '\n'; }
  // Whether a blank, a line break or the end is `ahead` positions further.
  [[nodiscard]] bool SpaceAt(std::size_t ahead) const {
    return position_ + ahead >= text_.size() || IsBlank(Peek(ahead)) || Peek(ahead) == '\n';
  }
  // "-", "?" or ":" as the indicator of a block entry, not as part of a text.
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
  // Whether a comment begins here: a # after a blank or at the beginning of a line.
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

  // Whether only blanks precede this position in its line.
  [[nodiscard]] bool IsFirstInLine() const { return BlanksBegin() == line_begin_; }
  // Whether one of the blanks directly before this position is a tab.
  [[nodiscard]] bool IsBehindTab() const {
    return text_.substr(BlanksBegin(), position_ - BlanksBegin()).find('\t') !=
           std::string_view::npos;
  }
  // The number of spaces at the beginning of this line, up to this position.
  [[nodiscard]] int Indentation() const {
    std::size_t end = line_begin_;
    while (end < position_ && text_[end] == ' ') {
      ++end;
    }
    return static_cast<int>(end - line_begin_);
  }

  // Skips characters of this line.
  void Advance(std::size_t count = 1) { position_ += count; }
  // Skips a line break.
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
  // Skips blanks, comments and line breaks.
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

}  // namespace sluice::yaml
