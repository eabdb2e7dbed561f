#include "logs/wrapped_parser.h"

#include <utility>

namespace sluice::logs {

WrappedParser::WrappedParser(const std::vector<Wrapping>& wrappings,
                             std::unique_ptr<LineParser> inner)
    : inner_(std::move(inner)) {
  for (const Wrapping wrapping : wrappings) {
    unwrappers_.emplace_back(wrapping);
  }
}

LineKind WrappedParser::Parse(std::string_view line, LogRecord& record) {
  if (line.empty()) {
    return LineKind::kOther;
  }
  for (Unwrapper& unwrapper : unwrappers_) {
    std::string_view content;
    switch (unwrapper.Unwrap(line, content)) {
      case Unwrapper::Outcome::kLine:
        line = content;
        break;
      case Unwrapper::Outcome::kPiece:
        return LineKind::kOther;
      case Unwrapper::Outcome::kOther:
        return Bad("it does not begin like the lines before it");
    }
  }
  const LineKind kind = inner_->Parse(line, record);
  return kind == LineKind::kBad ? Bad(inner_->problem()) : kind;
}

}  // namespace sluice::logs
