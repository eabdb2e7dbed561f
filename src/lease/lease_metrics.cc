#include "lease/lease_metrics.h"

#include <array>
#include <string_view>

#include "telemetry/registry.h"

namespace sluice::lease {

void LeaseMetrics::Write(telemetry::Exposition& out) const {
  using Type = telemetry::Exposition::Type;
  out.Family("sluice_lease_decisions_total",
             "Checks of rules with sync: lease decided without the shared store.", Type::kCounter);
  out.Sample("sluice_lease_decisions_total",
             std::array{telemetry::Label{.name = "result", .value = "allowed"}},
             Read(LeaseCount::kAllowedHere));
  out.Sample("sluice_lease_decisions_total",
             std::array{telemetry::Label{.name = "result", .value = "denied"}},
             Read(LeaseCount::kDeniedHere));
  struct Row {
    std::string_view name;
    std::string_view help;
    LeaseCount count;
  };
  constexpr std::array kRows{
      Row{"sluice_lease_borrowed_units_total", "Units borrowed from the shared store.",
          LeaseCount::kBorrowedUnits},
      Row{"sluice_lease_given_back_units_total", "Borrowed units that were given back.",
          LeaseCount::kGivenBackUnits},
      Row{"sluice_lease_lapsed_units_total", "Borrowed units that expired unused.",
          LeaseCount::kLapsedUnits},
      Row{"sluice_lease_borrows_total", "Calls to the shared store that borrow units.",
          LeaseCount::kBorrows},
      Row{"sluice_lease_failed_borrows_total",
          "Borrowing calls that were denied, not answered, or answered too late.",
          LeaseCount::kFailedBorrows},
      Row{"sluice_lease_unknown_keys_total",
          "Checks sent to the shared store because too many keys had leases.",
          LeaseCount::kUnknownKeys}};
  for (const Row& row : kRows) {
    out.Family(row.name, row.help, Type::kCounter);
    out.Sample(row.name, {}, Read(row.count));
  }
  out.Family("sluice_lease_keys", "Keys that worker threads may borrow for.", Type::kGauge);
  out.Sample("sluice_lease_keys", {}, static_cast<double>(keys()));
  out.Family("sluice_leases_held", "Leases with units left.", Type::kGauge);
  out.Sample("sluice_leases_held", {}, static_cast<double>(held()));
}

}  // namespace sluice::lease
