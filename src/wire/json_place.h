#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace sluice::wire {

enum class MemberPart : std::uint8_t { kName, kValue };

// Where the name or value of the `ordinal`-th member (from 0, inner ones counted) begins in
// `json`, whose text is sound up to there and holds objects and scalars only. Parsing does
// not keep places: this walks the text again, for a message's sake.
[[nodiscard]] std::size_t PlaceOfMember(std::string_view json, std::size_t ordinal,
                                        MemberPart part);

}  // namespace sluice::wire
