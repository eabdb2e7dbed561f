#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "logs/line_parser.h"
#include "logs/line_wrapping.h"

namespace sluice::logs {

// Reads the lines of a log that are wrapped, once or several times, by a parser for what is in
// them. A line that is not wrapped like the others is bad.
class WrappedParser final : public LineParser {
 public:
  // `wrappings`: the outermost first.
  WrappedParser(const std::vector<Wrapping>& wrappings, std::unique_ptr<LineParser> inner);

  LineKind Parse(std::string_view line, LogRecord& record) override;

 private:
  std::vector<Unwrapper> unwrappers_;
  std::unique_ptr<LineParser> inner_;
};

}  // namespace sluice::logs
