#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include "rules/yaml_cursor.h"

// Readers of YAML's scalars (YAML 1.2.2, chapters 7.3 and 8.1). Each begins at the scalar's first
// character and leaves the cursor after its last one.
namespace sluice::rules {

// Why a text is not YAML, and where. Lines count from 1, columns are bytes and count from 0.
struct YamlFault {
  std::string message;
  int line = 0;
  int column = 0;
};
[[nodiscard]] inline YamlFault FaultAt(const YamlCursor& at, std::string message) {
  return {.message = std::move(message), .line = at.line(), .column = at.column()};
}

// How scalars are read at a place.
struct YamlContext {
  int indent = -1;          // Of the collection around it: lines that go on are indented more.
  bool in_flow = false;     // Within [] or {}.
  bool one_line = false;    // A text without quotes ends with its line.
  bool any_indent = false;  // Lines within quotes, [] and {} may be indented as they like.
};

// Whether a text without quotes can begin here.
[[nodiscard]] bool CanBeginPlain(const YamlCursor& at, bool in_flow);
// Never fails, and reads nothing where none can begin.
[[nodiscard]] std::string ReadPlain(YamlCursor& at, const YamlContext& context);
// nullopt, and `fault` is set: it is not closed, an escape is unknown, a line is indented too
// little.
[[nodiscard]] std::optional<std::string> ReadSingleQuoted(YamlCursor& at,
                                                          const YamlContext& context,
                                                          YamlFault& fault);
[[nodiscard]] std::optional<std::string> ReadDoubleQuoted(YamlCursor& at,
                                                          const YamlContext& context,
                                                          YamlFault& fault);
// "|" keeps line breaks, ">" folds them.
[[nodiscard]] std::optional<std::string> ReadBlockScalar(YamlCursor& at, int indent,
                                                         YamlFault& fault);

// Whether a line that goes on in quotes, [] or {} is indented as `context` wants it.
[[nodiscard]] inline bool GoesOnHere(const YamlCursor& at, const YamlContext& context) {
  return context.any_indent || at.Indentation() > context.indent;
}

// Adds the line breaks between two lines of text: one is a blank, of several the first is dropped.
inline void FoldLines(std::size_t breaks, std::string& text) {
  if (breaks == 1) {
    text += ' ';
  } else {
    text.append(breaks - 1, '\n');
  }
}

}  // namespace sluice::rules
