#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include "yaml/cursor.h"

// Readers of YAML's scalars (YAML 1.2.2, chapters 7.3 and 8.1). Each starts at the scalar's first
// character and leaves the cursor after its last one.
namespace sluice::yaml {

// Why a text is not YAML, and where. Lines count from 1, columns are bytes and count from 0.
struct Fault {
  std::string message;
  int line = 0;
  int column = 0;
};
[[nodiscard]] inline Fault FaultAt(const Cursor& at, std::string message) {
  return {.message = std::move(message), .line = at.line(), .column = at.column()};
}

// The context in which a scalar is read.
struct Context {
  int indent = -1;          // Of the enclosing collection: continuation lines are indented more.
  bool in_flow = false;     // Within [] or {}.
  bool one_line = false;    // A plain scalar ends with its line.
  bool any_indent = false;  // Lines within quotes, [] and {} may have any indentation.
};

// Whether a plain scalar can begin here.
[[nodiscard]] bool CanBeginPlain(const Cursor& at, bool in_flow);
// Never fails. Reads nothing if no plain scalar can begin here.
[[nodiscard]] std::string ReadPlain(Cursor& at, const Context& context);
// nullopt, with `fault` set: it is not closed, an escape is unknown, or a line is indented too
// little.
[[nodiscard]] std::optional<std::string> ReadSingleQuoted(Cursor& at, const Context& context,
                                                          Fault& fault);
[[nodiscard]] std::optional<std::string> ReadDoubleQuoted(Cursor& at, const Context& context,
                                                          Fault& fault);
// "|" keeps line breaks, ">" folds them.
[[nodiscard]] std::optional<std::string> ReadBlockScalar(Cursor& at, int indent, Fault& fault);

// Whether a continuation line in quotes, [] or {} has the indentation that `context` requires.
[[nodiscard]] inline bool GoesOnHere(const Cursor& at, const Context& context) {
  return context.any_indent || at.Indentation() > context.indent;
}

// Appends the line breaks between two lines of text: a single one becomes a blank, of several the
// first is dropped.
inline void FoldLines(std::size_t breaks, std::string& text) {
  if (breaks == 1) {
    text += ' ';
  } else {
    text.append(breaks - 1, '\n');
  }
}

// Reads an escape in double quotes (YAML 1.2.2, chapter 5.7) and appends its character to `text`,
// in UTF-8. `at` is at the backslash; no line break follows it. False, with `fault` set: unknown
// escape or character.
[[nodiscard]] bool ReadEscape(Cursor& at, std::string& text, Fault& fault);

}  // namespace sluice::yaml
