#pragma once

#include <string>
#include <string_view>

#include "sluice/result.h"

#include "sources/etcd_rules.h"

namespace sluice::sources {

// A snapshot of etcd's rules as the text of a file, for a start at which etcd is away.
[[nodiscard]] std::string WriteCopy(const EtcdSnapshot& snapshot);
// Errors: the text is not one.
[[nodiscard]] Result<EtcdSnapshot> ReadCopy(std::string_view text);

}  // namespace sluice::sources
