#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

// Plain text for a terminal of some width, which no line exceeds.
namespace sluice::replay {

// `text` in lines of at most `width` columns, broken at blanks, each ending in a line feed. The
// lines begin with `indent`, those after the first with `hanging` more blanks. What is not
// displayable (base/display_text.h) is written out. Requires width > indent + hanging.
void AppendWrapped(std::string& out, std::string_view text, std::size_t width,
                   std::size_t indent = 0, std::size_t hanging = 0);

// A table: the first column is text, cut to what the others leave of the width; they are numbers,
// to the right, as wide as what is in them. Where too little is left for the text it has a line of
// its own.
class TextTable {
 public:
  // A heading for each column.
  explicit TextTable(std::vector<std::string> headings);

  // As many cells as there are headings. The first may be anything that a client sent. `note`
  // stands behind the row, or below it where it does not fit.
  void AddRow(std::vector<std::string> cells, std::string note = {});

  void AppendTo(std::string& out, std::size_t width) const;

 private:
  struct Row {
    std::vector<std::string> cells;
    std::string note;
  };
  [[nodiscard]] std::size_t WidthOf(std::size_t column) const;
  // Where not even the numbers fit: each with its heading, in running text.
  void AppendAsLists(std::string& out, std::size_t width) const;

  std::vector<Row> rows_;  // The headings first.
};

}  // namespace sluice::replay
