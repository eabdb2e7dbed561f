// Any bytes handed in as a hold, a receipt or a reservation: refused, unless this very keyring has
// sealed them. And any bytes under a good proof, as another version might seal them: read as a
// token that can be written again, or refused.

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "frontend/key_token.h"
#include "signing/keyring.h"

namespace {

using sluice::frontend::ChargeKind;
using sluice::signing::Keyring;
using sluice::signing::Opened;
using sluice::signing::TokenKind;

void Check(bool condition) {
  if (!condition) {
    std::abort();
  }
}

class FixedClock final : public sluice::base::Clock {
 public:
  [[nodiscard]] sluice::base::ClockReading Read() const override {
    return {.boot = {}, .wall_clock = sluice::WallInstant(std::chrono::hours(24 * 20'000))};
  }
};

void ReadAll(const Keyring& keys, std::string_view text, bool sealed) {
  sluice::service::HoldChange::NamedHold hold;
  if (sluice::frontend::ReadHoldToken(&keys, text, hold) == Opened::kGood) {
    Check(sealed && hold.hold.id != 0);
  }
  for (const ChargeKind kind : {ChargeKind::kReceipt, ChargeKind::kReservation}) {
    std::vector<sluice::service::Charge> charges;
    if (ReadChargeToken(&keys, kind, text, charges) == Opened::kGood) {
      Check(sealed && !charges.empty() && charges.size() <= sluice::store::kMaxChecksPerCall);
      for (const sluice::service::Charge& charge : charges) {
        Check(charge.made.units >= 0 && charge.made.units <= sluice::kMaxUnits);
        Check(charge.made.limit >= 0 && charge.made.rate >= 0);
      }
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const FixedClock clock;
  static const Keyring keys(sluice::signing::Derive("a node", ""), clock);
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  ReadAll(keys, bytes, /*sealed=*/false);
  for (const TokenKind kind : {TokenKind::kHold, TokenKind::kReceipt, TokenKind::kReservation}) {
    std::string token;
    keys.Seal(kind, bytes, token);
    ReadAll(keys, token, /*sealed=*/true);
    std::string payload;
    Check(keys.Open(kind, token, payload) == Opened::kGood && payload == bytes);
    if (size > 0) {  // One letter of it, which the input chooses.
      std::string edited = token;
      edited[data[0] % edited.size()] = edited[data[0] % edited.size()] == 'A' ? 'B' : 'A';
      Check(keys.Open(kind, edited, payload) != Opened::kGood);
      ReadAll(keys, edited, /*sealed=*/false);
    }
  }
  return 0;
}
