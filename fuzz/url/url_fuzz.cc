// Any bytes as a query and as a path segment: what is decoded, encoded and decoded again is
// the same.

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "wire/url.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using sluice::wire::AppendPercentEncoded;
  using sluice::wire::DecodePercent;
  using sluice::wire::ReadQuery;
  using sluice::wire::UrlPart;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto decoded = DecodePercent(text, UrlPart::kPath)) {
    std::string encoded;
    AppendPercentEncoded(encoded, *decoded);
    if (decoded->size() > size || DecodePercent(encoded, UrlPart::kPath) != decoded) {
      std::abort();
    }
  }
  if (const auto pairs = ReadQuery(text)) {
    std::string encoded;
    for (const auto& [name, value] : *pairs) {
      AppendPercentEncoded(encoded, name);
      encoded.push_back('=');
      AppendPercentEncoded(encoded, value);
      encoded.push_back('&');
    }
    if (pairs->size() > 64 || ReadQuery(encoded) != pairs) {
      std::abort();
    }
  }
  return 0;
}
