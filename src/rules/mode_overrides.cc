#include "rules/mode_overrides.h"

namespace sluice::rules {

Mode ModeOverrides::Effective(const Rule& rule) const {
  if (all.has_value()) {
    return *all;
  }
  if (!by_rule.empty()) {
    if (const auto found = by_rule.find(rule.id); found != by_rule.end()) {
      return found->second;
    }
  }
  return rule.mode;
}

}  // namespace sluice::rules
