#include "store/receipt.h"

#include <cstddef>
#include <cstring>

#include "core/key_codec.h"

namespace sluice::store {

namespace {

constexpr std::size_t kNumberBytes = 8;

void AppendNumber(std::uint64_t number, std::string& out) {
  for (std::size_t i = 0; i < kNumberBytes; ++i) {
    out += static_cast<char>((number >> (8 * i)) & 255U);
  }
}

bool TakeNumber(std::string_view& bytes, std::uint64_t& number) {
  if (bytes.size() < kNumberBytes) {
    return false;
  }
  number = 0;
  for (std::size_t i = 0; i < kNumberBytes; ++i) {
    number |= std::uint64_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
  }
  bytes.remove_prefix(kNumberBytes);
  return true;
}

bool TakeUnits(std::string_view& bytes, Units& units) {
  std::uint64_t number = 0;
  if (!TakeNumber(bytes, number) || number > static_cast<std::uint64_t>(kMaxUnits)) {
    return false;
  }
  units = static_cast<Units>(number);
  return true;
}

}  // namespace

void AppendCharge(const core::KeyView& key, const Charge& charge, std::string& out) {
  AppendKey(core::KeyForm::kCounted, key, out);
  AppendNumber(charge.receipt.store_id, out);
  AppendNumber(static_cast<std::uint64_t>(charge.receipt.charged_at_ns), out);
  AppendNumber(charge.receipt.nonce, out);
  AppendNumber(static_cast<std::uint64_t>(charge.units), out);
  AppendNumber(static_cast<std::uint64_t>(charge.limit), out);
  AppendNumber(static_cast<std::uint64_t>(charge.rate), out);
  AppendNumber(charge.shape, out);
}

bool ReadCharge(std::string_view& bytes, core::Key& key, Charge& charge) {
  std::uint64_t charged_at = 0;
  if (!ReadKey(core::KeyForm::kCounted, bytes, key) ||
      !TakeNumber(bytes, charge.receipt.store_id) || !TakeNumber(bytes, charged_at) ||
      !TakeNumber(bytes, charge.receipt.nonce) || !TakeUnits(bytes, charge.units) ||
      !TakeUnits(bytes, charge.limit) || !TakeUnits(bytes, charge.rate) ||
      !TakeNumber(bytes, charge.shape)) {
    return false;
  }
  charge.receipt.charged_at_ns = static_cast<std::int64_t>(charged_at);
  return true;
}

void AppendHold(const core::KeyView& key, const GrantedHold& hold, std::string& out) {
  AppendKey(core::KeyForm::kCounted, key, out);
  AppendNumber(hold.id, out);
  AppendNumber(hold.store_id, out);
}

bool ReadHold(std::string_view& bytes, core::Key& key, GrantedHold& hold) {
  return ReadKey(core::KeyForm::kCounted, bytes, key) && TakeNumber(bytes, hold.id) &&
         TakeNumber(bytes, hold.store_id);
}

std::array<char, 16> IdBytes(const Receipt& receipt) {
  std::array<char, 16> bytes{};
  std::memcpy(bytes.data(), &receipt.nonce, sizeof(receipt.nonce));
  std::memcpy(bytes.data() + sizeof(receipt.nonce), &receipt.charged_at_ns,
              sizeof(receipt.charged_at_ns));
  return bytes;
}

std::string IdText(const Receipt& receipt) {
  return std::to_string(receipt.nonce) + ":" + std::to_string(receipt.charged_at_ns);
}

}  // namespace sluice::store
