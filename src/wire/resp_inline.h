#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::wire {

enum class InlineFault : std::uint8_t { kNone, kQuotes, kTooMany };

// Splits a line as typed: words between white space, "..." with \n \r \t \b \a \\ \" and \xHH in
// it, '...' with \' in it; a quote must close, and white space must follow it. `args` are set to
// views of `room`, which is overwritten. On a fault they say nothing. Never more than `most`.
[[nodiscard]] InlineFault SplitInline(std::string_view line, std::size_t most, std::string& room,
                                      std::vector<std::string_view>& args);

}  // namespace sluice::wire
