#pragma once

#include "logs/line_parser.h"
#include "logs/stamp.h"

namespace sluice::logs {

// The Common Log Format and what grew out of it, as Apache and NGINX write them:
//
//   common    192.0.2.1 - alice [17/Dec/2025:09:03:01 +0000] "GET /a?b HTTP/1.1" 200 512
//   combined  ... "referer" "user agent"; a third quoted text is X-Forwarded-For
//   vhost     example.com:443 192.0.2.1 - alice [...] ...
//
// What follows is not read. Texts stay as the server escaped them (\x22, \").
class ClfParser final : public LineParser {
 public:
  // `vhost`: whether each line begins with the virtual host. `stamps` outlives the parser.
  ClfParser(StampReader& stamps, bool vhost) : stamps_(stamps), vhost_(vhost) {}

  LineKind Parse(std::string_view line, LogRecord& record) override;

 private:
  StampReader& stamps_;
  bool vhost_;
};

}  // namespace sluice::logs
