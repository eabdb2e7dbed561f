#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/decision.h"

#include "core/key.h"
#include "service/verdict.h"
#include "store/key_store.h"

// What an answer gives its caller to hand in later: a hold, or the charges of a request. A store
// finds a key by its rule and attributes, so these travel along, as text that is opaque to the
// caller and needs no memory here. What a token says is no secret and no proof: the store
// knows its holds, and what a receipt's number must be.
namespace sluice::frontend {

// One key, owning its texts.
struct TokenKey {
  struct Part {
    std::string attribute;
    core::AttributeType type = core::AttributeType::kText;
    std::string value;
  };
  std::vector<Part> parts;

  // Views into this.
  [[nodiscard]] std::vector<core::KeyPart> Views() const;
};

struct HoldToken {
  store::HoldId hold = 0;
  TokenKey key;
};

// What one rule charged for a request.
struct ChargeToken {
  std::string rule;
  TokenKey key;
  store::Receipt receipt;
  Units units = 0;
  Units limit = 0;  // The numbers that it was judged by: a plan's or an override's.
  Units rate = 0;
};

// What a list of charges may be handed in for.
enum class ChargeKind : std::uint8_t { kReceipt, kReservation };

// Appends text of letters, digits, '-' and '_'.
void AppendHoldToken(store::HoldId hold, std::span<const core::KeyPart> parts, std::string& out);
// Of the charges of `verdict` that have a receipt. False, with nothing appended, if none has.
bool AppendChargeToken(ChargeKind kind, const service::Verdict& verdict, std::string& out);

// nullopt: no such token. Any bytes may be given.
[[nodiscard]] std::optional<HoldToken> ReadHoldToken(std::string_view text);
[[nodiscard]] std::optional<std::vector<ChargeToken>> ReadChargeToken(ChargeKind kind,
                                                                      std::string_view text);

}  // namespace sluice::frontend
