#pragma once

#include <span>
#include <string_view>

#include "envoy/limit.h"
#include "wire/rls_request.h"

namespace sluice::envoy {

// Whether an override counts. Where the old service ends its process, over a unit that is none, it
// is passed over here.
[[nodiscard]] bool IsHonoured(const wire::RlsOverride& override);

// The limit that an override of a descriptor with these entries is. Its names are made of the keys:
// the values are the client's.
[[nodiscard]] Limit LimitOf(const wire::RlsOverride& override, std::string_view domain,
                            std::span<const wire::RlsEntry> entries);

}  // namespace sluice::envoy
