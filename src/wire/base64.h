#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace sluice::wire {

// Base64 with the alphabet that is safe in URLs and file names, without padding (RFC 4648, 5).

// Appends `bytes` as base64url text.
void AppendBase64Url(std::string& out, std::string_view bytes);

// Appends the bytes that `text` encodes. False, with `out` unchanged, if it is not valid. Padding
// and unused bits in the last letter are invalid too, so no two texts mean the same bytes.
[[nodiscard]] bool AppendFromBase64Url(std::string& out, std::string_view text);

// Base64 with padding (RFC 4648, section 4): how bytes travel in etcd's JSON.
[[nodiscard]] std::string ToBase64(std::string_view bytes);
// nullopt if `text` is not valid.
[[nodiscard]] std::optional<std::string> FromBase64(std::string_view text);

}  // namespace sluice::wire
