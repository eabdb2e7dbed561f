#pragma once

#include <charconv>
#include <cstdint>
#include <string_view>

namespace sluice::wire {

// A whole number as RESP writes it: an optional '-' and digits, all of `text`. False, with
// `number` as it was, for anything else and for what does not fit 64 bits.
[[nodiscard]] inline bool ReadRespNumber(std::string_view text, std::int64_t& number) {
  std::int64_t read = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), read);
  if (error != std::errc() || stop != text.data() + text.size()) {
    return false;
  }
  number = read;
  return true;
}

}  // namespace sluice::wire
