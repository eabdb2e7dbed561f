#pragma once

#include <string>
#include <string_view>

namespace sluice::app::doctor {

// A text that all usual spellings of one thing share: percent-encoding decoded, letters in lower
// case, an IPv4 address for one that is mapped into IPv6, no port behind an address, no slash and
// no dot at the end. For comparing: two different things may share it.
[[nodiscard]] std::string PlainSpelling(std::string_view text);

// How two texts of one plain spelling differ: "case", "a slash at the end" ...
[[nodiscard]] std::string_view DifferenceOf(std::string_view one, std::string_view other);

}  // namespace sluice::app::doctor
