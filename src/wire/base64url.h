#pragma once

#include <string>
#include <string_view>

// Base64 with the alphabet that is safe in URLs and file names, without padding (RFC 4648, 5).
namespace sluice::wire {

// Any bytes, as text.
void AppendBase64Url(std::string& out, std::string_view bytes);

// The bytes that `text` stands for. False if it is no such text, padding and needless bits in its
// last letter included, so that no two texts mean the same; then `out` is unchanged.
[[nodiscard]] bool AppendFromBase64Url(std::string& out, std::string_view text);

}  // namespace sluice::wire
