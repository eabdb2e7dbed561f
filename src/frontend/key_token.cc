#include "frontend/key_token.h"

#include <utility>

#include "core/quota.h"
#include "core/shape.h"
#include "rules/rule.h"

namespace sluice::frontend {

namespace {

signing::TokenKind KindOf(ChargeKind kind) {
  return kind == ChargeKind::kReceipt ? signing::TokenKind::kReceipt
                                      : signing::TokenKind::kReservation;
}

void PutNumber(std::uint64_t number, std::size_t bytes, std::string& out) {
  for (std::size_t i = 0; i < bytes; ++i) {
    out += static_cast<char>((number >> (8 * i)) & 255U);
  }
}

void PutText(std::string_view text, std::string& out) {
  PutNumber(text.size(), 2, out);  // Names and values are far shorter than 64 KiB.
  out += text;
}

void PutKey(std::span<const core::KeyPart> parts, std::string& out) {
  PutNumber(parts.size(), 1, out);
  for (const core::KeyPart& part : parts) {
    PutNumber(static_cast<std::uint64_t>(part.type), 1, out);
    PutText(part.attribute, out);
    PutText(part.value, out);
  }
}

// Reads what was put, by this or another version of Sluice. After the first thing that is not
// there, everything is empty.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}

  std::uint64_t Number(std::size_t bytes) {
    if (rest_.size() < bytes) {
      good_ = false;
      rest_ = {};
      return 0;
    }
    std::uint64_t number = 0;
    for (std::size_t i = 0; i < bytes; ++i) {
      number |= std::uint64_t{static_cast<unsigned char>(rest_[i])} << (8 * i);
    }
    rest_.remove_prefix(bytes);
    return number;
  }
  std::string Text() {
    const std::size_t size = Number(2);
    if (rest_.size() < size) {
      good_ = false;
      rest_ = {};
      return {};
    }
    std::string text(rest_.substr(0, size));
    rest_.remove_prefix(size);
    return text;
  }
  TokenKey Key() {
    TokenKey key;
    const std::uint64_t parts = Number(1);
    good_ = good_ && parts <= core::kMaxKeyParts;
    for (std::uint64_t i = 0; good_ && i < parts; ++i) {
      const std::uint64_t type = Number(1);
      constexpr auto kIp = static_cast<std::uint64_t>(core::AttributeType::kIp);
      good_ = good_ && type <= kIp;
      TokenKey::Part part{.attribute = Text(), .type = {}, .value = Text()};
      part.type = type == kIp ? core::AttributeType::kIp : core::AttributeType::kText;
      good_ = good_ && part.value.size() <= core::kMaxValueBytes;
      key.parts.push_back(std::move(part));
    }
    return key;
  }
  Units Count() {
    const std::uint64_t units = Number(8);
    good_ = good_ && units <= static_cast<std::uint64_t>(kMaxUnits);
    return good_ ? static_cast<Units>(units) : 0;
  }

  [[nodiscard]] bool good() const { return good_; }
  [[nodiscard]] bool whole() const { return good_ && rest_.empty(); }

 private:
  std::string_view rest_;
  bool good_ = true;
};

signing::Opened Open(const signing::Keyring* keys, signing::TokenKind kind, std::string_view text,
                     std::string& bytes) {
  return keys == nullptr ? signing::Opened::kForeign : keys->Open(kind, text, bytes);
}

}  // namespace

std::vector<core::KeyPart> TokenKey::Views() const {
  std::vector<core::KeyPart> views;
  views.reserve(parts.size());
  for (const Part& part : parts) {
    views.push_back({.attribute = part.attribute, .type = part.type, .value = part.value});
  }
  return views;
}

void AppendHoldToken(const signing::Keyring& keys, const service::RuleDecision& item,
                     std::string& out) {
  std::string bytes;
  PutText(item.rule->id, bytes);
  PutKey(item.parts, bytes);
  PutNumber(item.hold, 8, bytes);
  PutNumber(item.receipt.store_id, 8, bytes);
  keys.Seal(signing::TokenKind::kHold, bytes, out);
}

bool AppendChargeToken(const signing::Keyring& keys, ChargeKind kind,
                       const service::Verdict& verdict, std::string& out) {
  std::string bytes;
  for (const service::RuleDecision& item : verdict.decisions) {
    if (item.receipt.nonce == 0) {
      continue;
    }
    PutText(item.rule->id, bytes);
    PutKey(item.parts, bytes);
    PutNumber(item.receipt.store_id, 8, bytes);
    PutNumber(static_cast<std::uint64_t>(item.receipt.charged_at_ns), 8, bytes);
    PutNumber(item.receipt.nonce, 8, bytes);
    PutNumber(static_cast<std::uint64_t>(item.cost.units), 8, bytes);
    PutNumber(static_cast<std::uint64_t>(item.quota.limit), 8, bytes);
    PutNumber(static_cast<std::uint64_t>(item.quota.rate), 8, bytes);
    PutNumber(core::ShapeDigest(item.quota), 8, bytes);
  }
  if (bytes.empty()) {
    return false;
  }
  keys.Seal(KindOf(kind), bytes, out);
  return true;
}

signing::Opened ReadHoldToken(const signing::Keyring* keys, std::string_view text,
                              HoldToken& token) {
  std::string bytes;
  const signing::Opened opened = Open(keys, signing::TokenKind::kHold, text, bytes);
  if (opened != signing::Opened::kGood) {
    return opened;
  }
  Reader reader(bytes);
  token.rule = reader.Text();
  token.key = reader.Key();
  token.hold = reader.Number(8);
  token.store_id = reader.Number(8);
  return reader.whole() && token.hold != 0 ? opened : signing::Opened::kForged;
}

signing::Opened ReadChargeToken(const signing::Keyring* keys, ChargeKind kind,
                                std::string_view text, std::vector<ChargeToken>& charges) {
  std::string bytes;
  const signing::Opened opened = Open(keys, KindOf(kind), text, bytes);
  if (opened != signing::Opened::kGood) {
    return opened;
  }
  Reader reader(bytes);
  while (reader.good() && !reader.whole() && charges.size() < store::kMaxChecksPerCall) {
    ChargeToken& charge = charges.emplace_back();
    charge.rule = reader.Text();
    charge.key = reader.Key();
    charge.receipt.store_id = reader.Number(8);
    charge.receipt.charged_at_ns = static_cast<std::int64_t>(reader.Number(8));
    charge.receipt.nonce = reader.Number(8);
    charge.units = reader.Count();
    charge.limit = reader.Count();
    charge.rate = reader.Count();
    charge.shape = reader.Number(8);
  }
  return reader.whole() && !charges.empty() ? opened : signing::Opened::kForged;
}

}  // namespace sluice::frontend
