#pragma once

#include <cstdint>
#include <string_view>

#include "sluice/decision.h"

namespace sluice {

// How one Reason reads at every front end. The table is in reason.cc, one row a reason.
struct ReasonRow {
  Reason reason;
  std::string_view name;          // As in JSON, metrics and logs; "" for kNone.
  int http_status;                // 200, 403, 429 or 503.
  std::string_view problem_type;  // The draft's URI, or "".
  std::string_view title;         // The problem's title.
  int grpc_code;                  // 0, 7 PERMISSION_DENIED, 8 RESOURCE_EXHAUSTED, 14 UNAVAILABLE.
  std::string_view resp_error;    // The first word of a RESP error reply; "" for kNone.
};

// Never fails: the enum is closed. Safe from any thread.
[[nodiscard]] const ReasonRow& RowOf(Reason reason);

}  // namespace sluice
