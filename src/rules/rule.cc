#include "rules/rule.h"

namespace sluice::rules {

std::string_view NameOf(Mode mode) {
  switch (mode) {
    case Mode::kEnforce:
      return "enforce";
    case Mode::kShadow:
      return "shadow";
    case Mode::kOff:
      break;
  }
  return "off";
}

std::string_view NameOf(OnStoreError policy) {
  switch (policy) {
    case OnStoreError::kAllow:
      return "allow";
    case OnStoreError::kDeny:
      return "deny";
    case OnStoreError::kLocal:
      break;
  }
  return "local";
}

}  // namespace sluice::rules
