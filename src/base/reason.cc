#include "sluice/reason.h"

#include <array>
#include <cstddef>

#include "base/assert.h"

namespace sluice {

namespace {

constexpr std::string_view kQuota =
    "https://iana.org/assignments/http-problem-types#quota-exceeded";
constexpr std::string_view kReduced =
    "https://iana.org/assignments/http-problem-types#temporary-reduced-capacity";
constexpr std::string_view kAbnormal =
    "https://iana.org/assignments/http-problem-types#abnormal-usage-detected";

constexpr std::string_view kQuotaTitle = "Quota Exceeded";
constexpr std::string_view kReducedTitle = "Temporary Reduced Capacity";

// In the order of the enum; RowOf checks it.
constexpr std::array kRows{
    ReasonRow{Reason::kNone, "", 200, "", "", 0, ""},
    ReasonRow{Reason::kQuotaExceeded, "quota_exceeded", 429, kQuota, kQuotaTitle, 8, "LIMITED"},
    ReasonRow{Reason::kCostExceedsCapacity, "cost_exceeds_capacity", 429, kQuota, kQuotaTitle, 8,
              "LIMITED"},
    ReasonRow{Reason::kLimitZero, "limit_zero", 429, kQuota, kQuotaTitle, 8, "LIMITED"},
    ReasonRow{Reason::kInFlight, "in_flight", 429, kQuota, kQuotaTitle, 8, "LIMITED"},
    ReasonRow{Reason::kReserved, "reserved", 503, kReduced, kReducedTitle, 14, "SHED"},
    ReasonRow{Reason::kAttributeMissing, "attribute_missing", 429, kQuota, kQuotaTitle, 8,
              "LIMITED"},
    ReasonRow{Reason::kBanned, "banned", 403, kAbnormal, "Abnormal Usage Detected", 7, "BANNED"},
    ReasonRow{Reason::kStoreFull, "store_full", 503, kReduced, kReducedTitle, 14, "SHED"},
    ReasonRow{Reason::kStoreUnavailable, "store_unavailable", 503, kReduced, kReducedTitle, 14,
              "SHED"},
    ReasonRow{Reason::kDenyListed, "deny_listed", 403, "", "Forbidden", 7, "DENIED"},
};

}  // namespace

const ReasonRow& RowOf(Reason reason) {
  const auto index = static_cast<std::size_t>(reason);
  SLUICE_ASSERT(index < kRows.size() && kRows[index].reason == reason);
  return kRows[index];
}

}  // namespace sluice
