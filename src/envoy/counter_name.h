#pragma once

#include <span>
#include <string>
#include <string_view>

#include "envoy/limit.h"
#include "envoy/match.h"
#include "envoy/settings.h"
#include "wire/rls_request.h"

namespace sluice::envoy {

// Appends what the counter of `limit`, one of those that `match` found for these entries, is called
// in the store. With our own names those of a list have one name, as a key is not the same with
// another window or algorithm. The old service's name says when the window began and not how long
// it is, and windows of several lengths may begin at once: of a list each has its length in it.
void AppendCounterName(std::string& out, const Settings& settings, std::string_view domain,
                       std::span<const wire::RlsEntry> entries, const Match& match,
                       const Limit& limit);

}  // namespace sluice::envoy
