#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace sluice::sources {

// Base64 with padding (RFC 4648, section 4): how bytes travel in etcd's JSON.
[[nodiscard]] std::string ToBase64(std::string_view bytes);
// nullopt if `text` is not valid.
[[nodiscard]] std::optional<std::string> FromBase64(std::string_view text);

}  // namespace sluice::sources
