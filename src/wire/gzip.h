#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace sluice::wire {

enum class GunzipResult : std::uint8_t { kWhole, kTooLarge, kBroken };

// Replaces `out` by what `bytes`, one gzip member (RFC 1952), hold. Never makes more than `most`
// bytes and a little, however much they would be.
[[nodiscard]] GunzipResult Gunzip(std::string_view bytes, std::size_t most, std::string& out);

}  // namespace sluice::wire
