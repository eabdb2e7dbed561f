#pragma once

#include "frontend/http/mode_switch.h"
#include "frontend/http/rule_book.h"
#include "service/limiter_service.h"
#include "service/service_metrics.h"

namespace sluice::frontend::http {

// What an admin listener's verbs act on. All outlive the front end.
struct AdminContext {
  RuleBook& rules;
  ModeSwitch& modes;
  service::LimiterService& service;
  service::ServiceMetrics& metrics;
};

}  // namespace sluice::frontend::http
