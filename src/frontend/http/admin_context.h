#pragma once

#include "control/mode_file.h"
#include "control/rule_controller.h"
#include "service/limiter_service.h"
#include "service/service_metrics.h"

namespace sluice::frontend::http {

// What an admin listener's verbs act on. All outlive the front end.
struct AdminContext {
  control::RuleController& rules;
  control::ModeFile& modes;
  service::LimiterService& service;
  service::ServiceMetrics& metrics;
};

}  // namespace sluice::frontend::http
