#include "frontend/key_token.h"

#include <cstring>

#include "rules/rule.h"
#include "wire/base64url.h"

namespace sluice::frontend {

namespace {

// The first byte says what it is, and by which version of this file.
constexpr char kHoldMark = 'h';
constexpr char kReceiptMark = 'r';
constexpr char kReservationMark = 's';

char MarkOf(ChargeKind kind) {
  return kind == ChargeKind::kReceipt ? kReceiptMark : kReservationMark;
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

// Reads what was put. After the first thing that is not there, everything is empty.
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

// The bytes behind the mark; nullopt if `text` has none or another.
std::optional<std::string> BytesOf(char mark, std::string_view text) {
  std::string bytes;
  if (!wire::AppendFromBase64Url(bytes, text) || bytes.empty() || bytes.front() != mark) {
    return std::nullopt;
  }
  return bytes;
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

void AppendHoldToken(store::HoldId hold, std::span<const core::KeyPart> parts, std::string& out) {
  std::string bytes;
  bytes += kHoldMark;
  PutNumber(hold, 8, bytes);
  PutKey(parts, bytes);
  wire::AppendBase64Url(out, bytes);
}

bool AppendChargeToken(ChargeKind kind, const service::Verdict& verdict, std::string& out) {
  std::string bytes;
  bytes += MarkOf(kind);
  for (const service::RuleDecision& item : verdict.decisions) {
    if (item.receipt.nonce == 0) {
      continue;
    }
    PutText(item.rule->id, bytes);
    PutKey(item.parts, bytes);
    PutNumber(static_cast<std::uint64_t>(item.receipt.charged_at_ns), 8, bytes);
    PutNumber(item.receipt.nonce, 8, bytes);
    PutNumber(static_cast<std::uint64_t>(item.cost.units), 8, bytes);
    PutNumber(static_cast<std::uint64_t>(item.quota.limit), 8, bytes);
    PutNumber(static_cast<std::uint64_t>(item.quota.rate), 8, bytes);
  }
  if (bytes.size() == 1) {
    return false;
  }
  wire::AppendBase64Url(out, bytes);
  return true;
}

std::optional<HoldToken> ReadHoldToken(std::string_view text) {
  const auto bytes = BytesOf(kHoldMark, text);
  if (!bytes) {
    return std::nullopt;
  }
  Reader reader(std::string_view(*bytes).substr(1));
  HoldToken token;
  token.hold = reader.Number(8);
  token.key = reader.Key();
  return reader.whole() && token.hold != 0 ? std::optional(std::move(token)) : std::nullopt;
}

std::optional<std::vector<ChargeToken>> ReadChargeToken(ChargeKind kind, std::string_view text) {
  const auto bytes = BytesOf(MarkOf(kind), text);
  if (!bytes) {
    return std::nullopt;
  }
  Reader reader(std::string_view(*bytes).substr(1));
  std::vector<ChargeToken> charges;
  while (reader.good() && !reader.whole()) {
    if (charges.size() == store::kMaxChecksPerCall) {
      return std::nullopt;
    }
    ChargeToken charge;
    charge.rule = reader.Text();
    charge.key = reader.Key();
    charge.receipt.charged_at_ns = static_cast<std::int64_t>(reader.Number(8));
    charge.receipt.nonce = reader.Number(8);
    charge.units = reader.Count();
    charge.limit = reader.Count();
    charge.rate = reader.Count();
    charges.push_back(std::move(charge));
  }
  return reader.whole() && !charges.empty() ? std::optional(std::move(charges)) : std::nullopt;
}

}  // namespace sluice::frontend
