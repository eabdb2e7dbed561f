#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "service/hold_change.h"
#include "service/settlement.h"
#include "service/verdict.h"
#include "signing/keyring.h"

// A token in an answer, which the caller sends back later: a hold, or the charges of a request. A
// store finds a key by its rule and attributes, so the token contains them, as text that is opaque
// to the caller. This needs no memory here. store/receipt.h defines the contents. All of it is
// signed (signing/keyring.h): it is accepted unchanged, or refused. `keys` is nullptr if no tokens
// exist.
namespace sluice::frontend {

// The purpose of a list of charges.
enum class ChargeKind : std::uint8_t { kReceipt, kReservation };

// Appends text of letters, digits, '-' and '_'. `item` has a hold.
void AppendHoldToken(const signing::Keyring& keys, const service::RuleDecision& item,
                     std::string& out);
// Appends the charges of `verdict` that have a receipt. False, with nothing appended, if none has.
bool AppendChargeToken(const signing::Keyring& keys, ChargeKind kind,
                       const service::Verdict& verdict, std::string& out);

// Accepts any bytes. The result may be used only if this is kGood.
[[nodiscard]] signing::Opened ReadHoldToken(const signing::Keyring* keys, std::string_view text,
                                            service::HoldChange::NamedHold& hold);
[[nodiscard]] signing::Opened ReadChargeToken(const signing::Keyring* keys, ChargeKind kind,
                                              std::string_view text,
                                              std::vector<service::Charge>& charges);

}  // namespace sluice::frontend
