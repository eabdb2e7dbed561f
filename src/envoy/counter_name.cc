#include "envoy/counter_name.h"

#include <chrono>

#include "envoy/counter_text.h"

namespace sluice::envoy {

void AppendCounterName(std::string& out, const Settings& settings, std::string_view domain,
                       std::span<const wire::RlsEntry> entries, const Match& match,
                       const Limit& limit) {
  // A limit that each node counts for itself is in no Redis, and of a table's length.
  if (!settings.old_counter_names || limit.quota.algorithm != core::Algorithm::kAttemptWindow ||
      limit.sync == core::Sync::kLocal) {
    AppendCounterText(out, domain, entries, match.shared);
    return;
  }
  AppendOldCounterText(out, settings.cache_key_prefix, domain, entries, match);
  if (match.limits.size() > 1) {
    out += std::to_string(limit.quota.window / std::chrono::seconds(1)) + "s_";
  }
}

}  // namespace sluice::envoy
