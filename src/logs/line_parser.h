#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "logs/log_record.h"

namespace sluice::logs {

// How a log is written.
enum class Format : std::uint8_t {
  kClf,
  kVhostClf,
  kHaproxy,
  kAlb,
  kClassicElb,
  kEnvoy,
  kIstio,
  kCsv,
  kTsv,
  kJson,
  kW3c,
  kPattern,  // Laid out as the caller says: never found out.
};
inline constexpr int kFormatCount = 12;

enum class LineKind : std::uint8_t {
  kRequest,
  kOther,  // A header, a comment, nothing: no request, and nothing wrong.
  kBad,
};

// Reads the lines of one log, in order, for some formats say in one line what the next ones
// mean. Allocates nothing per line once warm. One thread.
class LineParser {
 public:
  virtual ~LineParser() = default;

  // `line` without its end. Fills `record` where the answer is kRequest, with as many columns as
  // the parser was made for. problem() says what is wrong with a kBad one.
  [[nodiscard]] virtual LineKind Parse(std::string_view line, LogRecord& record) = 0;

  [[nodiscard]] std::string_view problem() const { return problem_; }

 protected:
  // `why` outlives the parser: a literal.
  LineKind Bad(std::string_view why) {
    problem_ = why;
    return LineKind::kBad;
  }

 private:
  std::string_view problem_;
};

}  // namespace sluice::logs
