#pragma once

#include <memory>
#include <string_view>

#include "logs/column_role.h"
#include "logs/line_parser.h"

namespace sluice::logs {

// One JSON object a line, as Caddy, Traefik, Envoy, NGINX and log shippers write them. Members
// of objects within are called by their way down: request.headers.User-Agent; of an array the
// first element counts. Numbers are taken as they are written. A line that is no JSON, or
// deeper than 16 levels, is bad.
class JsonLinesParser final : public LineParser {
 public:
  explicit JsonLinesParser(const ColumnOptions& columns);
  ~JsonLinesParser() override;

  LineKind Parse(std::string_view line, LogRecord& record) override;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace sluice::logs
