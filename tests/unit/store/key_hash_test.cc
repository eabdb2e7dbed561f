#include "store/key_hash.h"

#include <array>
#include <string>

#include <gtest/gtest.h>

#include "core/calendar.h"

namespace sluice::store {
namespace {

using core::Algorithm;
using core::AttributeType;
using core::KeyPart;
using core::Quota;

class KeyHashTest : public testing::Test {
 protected:
  KeyHashTest() {
    for (std::size_t i = 0; i < secret_.size(); ++i) {
      secret_[i] = static_cast<std::uint8_t>(i);
    }
  }
  [[nodiscard]] Fingerprint Of(std::span<const KeyPart> parts, const Quota& quota) const {
    const core::KeyView key{.rule = "api", .formerly = {}, .parts = parts};
    return KeyHash(secret_).Of(key.rule, key, quota);
  }
  static Quota Minute(Algorithm algorithm) {
    return {.algorithm = algorithm, .limit = 10, .rate = 10, .window = std::chrono::minutes(1)};
  }

  const std::array<KeyPart, 2> parts_{
      KeyPart{.attribute = "user_id", .type = AttributeType::kText, .value = "u_42"},
      KeyPart{.attribute = "ip", .type = AttributeType::kIp, .value = "2001:db8::"}};

 private:
  HashSecret secret_{};
};

// Tables and snapshots keep fingerprints: what this test says must never change, or an upgrade
// starts every key fresh.
TEST_F(KeyHashTest, FingerprintsStay) {
  const auto is = [](std::uint64_t high, std::uint64_t low) {
    return Fingerprint{.high = high, .low = low};
  };
  EXPECT_EQ(Of(parts_, Minute(Algorithm::kGcra)), is(0x1e5fd4682d672d77U, 0x637ee37cdf3f6119U));
  Quota segments = Minute(Algorithm::kSlidingWindow);
  segments.segments = 8;
  EXPECT_EQ(Of(parts_, segments), is(0x5a80797a8d2b411aU, 0xf5062ca9cf6b0069U));
  EXPECT_EQ(Of(parts_, Minute(Algorithm::kConcurrency)),
            is(0x32bf6851ee799b2aU, 0x8b6feea3b3f8e36aU));
  const auto month = *core::Calendar::Create(core::CalendarUnit::kMonth, "Europe/Berlin", "15");
  Quota calendar = Minute(Algorithm::kFixedWindow);
  calendar.calendar = month.get();
  EXPECT_EQ(Of(parts_, calendar), is(0xf12aebe275288a07U, 0x95a1e3bc0af58259U));
  EXPECT_EQ(Of({}, Minute(Algorithm::kGcra)), is(0xcc08c3ea44aa3320U, 0xafce02912dad7bb1U));
  const std::string text(600, 'x');  // Not on the short path.
  const std::array one{KeyPart{.attribute = "path", .value = text}};
  EXPECT_EQ(Of(one, Minute(Algorithm::kGcra)), is(0xc7ed9a8b746c62c0U, 0xb92460d6aa5c859fU));
}

}  // namespace
}  // namespace sluice::store
