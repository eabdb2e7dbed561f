#include "frontend/key_token.h"

#include "core/shape.h"
#include "rules/rule.h"
#include "store/key_store.h"
#include "store/receipt.h"

namespace sluice::frontend {

namespace {

signing::TokenKind KindOf(ChargeKind kind) {
  return kind == ChargeKind::kReceipt ? signing::TokenKind::kReceipt
                                      : signing::TokenKind::kReservation;
}

core::KeyView KeyOf(const service::RuleDecision& item) {
  return {.rule = item.rule->id, .formerly = {}, .parts = item.parts};
}

signing::Opened Open(const signing::Keyring* keys, signing::TokenKind kind, std::string_view text,
                     std::string& bytes) {
  return keys == nullptr ? signing::Opened::kForeign : keys->Open(kind, text, bytes);
}

}  // namespace

void AppendHoldToken(const signing::Keyring& keys, const service::RuleDecision& item,
                     std::string& out) {
  std::string bytes;
  store::AppendHold(KeyOf(item), {.id = item.hold, .store_id = item.receipt.store_id}, bytes);
  keys.Seal(signing::TokenKind::kHold, bytes, out);
}

bool AppendChargeToken(const signing::Keyring& keys, ChargeKind kind,
                       const service::Verdict& verdict, std::string& out) {
  std::string bytes;
  for (const service::RuleDecision& item : verdict.decisions) {
    if (item.receipt.nonce != 0) {
      store::AppendCharge(KeyOf(item),
                          {.receipt = item.receipt,
                           .units = item.cost.units,
                           .limit = item.quota.limit,
                           .rate = item.quota.rate,
                           .shape = core::ShapeDigest(item.quota)},
                          bytes);
    }
  }
  if (bytes.empty()) {
    return false;
  }
  keys.Seal(KindOf(kind), bytes, out);
  return true;
}

signing::Opened ReadHoldToken(const signing::Keyring* keys, std::string_view text,
                              service::HoldChange::NamedHold& hold) {
  std::string bytes;
  const signing::Opened opened = Open(keys, signing::TokenKind::kHold, text, bytes);
  if (opened != signing::Opened::kGood) {
    return opened;
  }
  std::string_view rest = bytes;
  const bool whole = ReadHold(rest, hold.key, hold.hold) && rest.empty();
  return whole && hold.hold.id != 0 ? opened : signing::Opened::kForged;
}

signing::Opened ReadChargeToken(const signing::Keyring* keys, ChargeKind kind,
                                std::string_view text, std::vector<service::Charge>& charges) {
  std::string bytes;
  const signing::Opened opened = Open(keys, KindOf(kind), text, bytes);
  if (opened != signing::Opened::kGood) {
    return opened;
  }
  std::string_view rest = bytes;
  while (!rest.empty() && charges.size() < store::kMaxChecksPerCall) {
    service::Charge& charge = charges.emplace_back();
    if (!ReadCharge(rest, charge.key, charge.made)) {
      return signing::Opened::kForged;
    }
  }
  return rest.empty() && !charges.empty() ? opened : signing::Opened::kForged;
}

}  // namespace sluice::frontend
