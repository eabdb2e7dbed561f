#include "signing/secret.h"

#include "signing/mac.h"

namespace sluice::signing {

static_assert(std::tuple_size_v<Mac::Code> == kSecretBytes);

Secret Derive(std::span<const std::uint8_t> from, std::string_view label) {
  return Mac(from).Of(label);
}

Secret Derive(std::string_view from, std::string_view label) {
  return Derive(std::span(reinterpret_cast<const std::uint8_t*>(from.data()), from.size()), label);
}

}  // namespace sluice::signing
