#pragma once

#include "frontend/http/front_end_settings.h"
#include "frontend/http/limit_headers.h"
#include "rules/findings.h"
#include "yaml/tree.h"

namespace sluice::app {

// Reads a listener's `proxy`. What it does not name keeps its value; what is wrong is reported with
// place and remedy.
void ReadProxy(const yaml::Node& node, rules::Reporter& report,
               frontend::http::ProxySettings& proxy);

// Reads a listener's `limit_headers`: the groups of fields that its words stand for.
[[nodiscard]] std::uint8_t ReadLimitHeaders(const yaml::Node& list, rules::Reporter& report);

}  // namespace sluice::app
