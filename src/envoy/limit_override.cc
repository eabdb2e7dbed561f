#include "envoy/limit_override.h"

#include "envoy/limit_fields.h"

namespace sluice::envoy {

bool IsHonoured(const wire::RlsOverride& override) {
  return override.unit >= 1 && override.unit <= kMostUnit;
}

Limit LimitOf(const wire::RlsOverride& override, std::string_view domain,
              std::span<const wire::RlsEntry> entries) {
  Limit limit;
  limit.unit = static_cast<Unit>(override.unit);
  limit.requests_per_unit = override.requests_per_unit;
  limit.quota.algorithm = core::Algorithm::kAttemptWindow;
  limit.quota.limit = limit.requests_per_unit;
  limit.quota.window = LengthOf(limit.unit);
  limit.path = domain;
  for (const wire::RlsEntry& entry : entries) {
    limit.path += '.';
    limit.path += entry.key;
  }
  limit.policy = PolicyNameOf(limit, domain, false);
  return limit;
}

}  // namespace sluice::envoy
