#pragma once

#include "core/quota.h"

namespace sluice::app::doctor {

// Whether use that `grants` lets pass can never reach the point at which `limit` denies, whenever
// their windows begin. Both count the same units, and keys of `limit` are no larger than those of
// `grants`. False may be wrong; true never is.
[[nodiscard]] bool NeverExceeds(const core::Quota& grants, const core::Quota& limit);

}  // namespace sluice::app::doctor
