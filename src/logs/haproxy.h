#pragma once

#include "logs/line_parser.h"
#include "logs/stamp.h"

namespace sluice::logs {

// HAProxy's HTTP log (option httplog), with whatever syslog put before it:
//
//   192.0.2.1:42617 [02/Feb/2012:04:05:24.385] fe be/srv 0/0/0/1/4 404 638 - - CD-- ...
//     0/0/0/0/0 0/0 {captured} {captured} "GET / HTTP/1.0"
//
// The stamp is when the request came, in the server's own zone, and lines stand in the order in
// which requests were over. Lines without a request (TCP, connection errors) are bad.
// Source: HAProxy configuration manual, 8.2.3 "HTTP log format".
class HaproxyParser final : public LineParser {
 public:
  // `stamps` outlives the parser.
  explicit HaproxyParser(StampReader& stamps) : stamps_(stamps) {}

  LineKind Parse(std::string_view line, LogRecord& record) override;

 private:
  StampReader& stamps_;
};

}  // namespace sluice::logs
