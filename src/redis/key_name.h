#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/key.h"
#include "core/quota.h"

namespace sluice::redis {

// Appends the name of a key in Redis: "sl1:{3f9a0c12}:api_rate:gcra,60000:user_id=u_42", that is
// version, tag, rule, shape, and the key's attributes.
//
// The tag is what Redis Cluster places keys by: a hash of the first attribute's type and value, so
// that all rules' keys of one user share a slot; of the rule where there is no attribute. The shape
// is what must stay the same for state to mean the same, windows in milliseconds. In attributes,
// "=" precedes a text and "~" an address; what could be mistaken, or not typed in redis-cli, is
// %XX. Where they take more than kLongestPlainText bytes, "#" and the first 32 hex digits of their
// SHA-256 stand instead.
//
// Every node must make the same name of the same key: any change is a new version.
void AppendKeyName(std::string_view rule, const core::KeyView& key, const core::Quota& quota,
                   std::string& out);

// The tag alone, without its braces, and the slot of Redis Cluster that it means.
void AppendTag(std::string_view rule, const core::KeyView& key, std::string& out);
[[nodiscard]] std::uint16_t SlotOf(std::string_view rule, const core::KeyView& key);

inline constexpr std::size_t kLongestPlainText = 128;

// Beside a key, in the same slot, and without a shape: what goes by rule and attributes alone.
enum class BesideKey : std::uint8_t {
  kBan,      // "sl1:{3f9a0c12}:login:ban:ip~192.0.2.7"
  kDenials,  // "sl1:{3f9a0c12}:login:denials:ip~192.0.2.7"
};
void AppendBesideKeyName(std::string_view rule, const core::KeyView& key, BesideKey what,
                         std::string& out);

// Appends the attributes as the name of a ban's key has them, if that has only their digest and
// they take at most 2048 bytes; else nothing. ReadBanKeyName() takes them with the name.
void AppendAttributesOfBan(const core::KeyView& key, std::string& out);

// Which key a ban is of, by the name of the ban's key and what AppendAttributesOfBan() gave. Where
// that was nothing and the name has a digest: the rule alone. nullopt: it is no ban's key.
[[nodiscard]] std::optional<core::Key> ReadBanKeyName(std::string_view name,
                                                      std::string_view attributes);

}  // namespace sluice::redis
