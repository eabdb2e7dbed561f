#include "signing/mac.h"

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/params.h>

#include "base/assert.h"

namespace sluice::signing {

void Mac::Free::operator()(EVP_MAC_CTX* context) const noexcept {
  EVP_MAC_CTX_free(context);
}

// OpenSSL's calls fail here only without memory.
Mac::Mac(std::span<const std::uint8_t> key) {
  SLUICE_ASSERT(!key.empty());
  EVP_MAC* const algorithm = EVP_MAC_fetch(nullptr, OSSL_MAC_NAME_HMAC, nullptr);
  keyed_.reset(EVP_MAC_CTX_new(algorithm));
  EVP_MAC_free(algorithm);  // The context keeps a reference.
  char digest[] = OSSL_DIGEST_NAME_SHA2_256;
  const OSSL_PARAM parameters[] = {
      OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest, 0),
      OSSL_PARAM_construct_end()};
  SLUICE_ASSERT(keyed_ != nullptr &&
                EVP_MAC_init(keyed_.get(), key.data(), key.size(), parameters) == 1);
}

Mac::Code Mac::Of(std::string_view bytes) const {
  const std::unique_ptr<EVP_MAC_CTX, Free> context(EVP_MAC_CTX_dup(keyed_.get()));
  Code code{};
  std::size_t size = 0;
  const bool made =
      context != nullptr &&
      EVP_MAC_update(context.get(), reinterpret_cast<const unsigned char*>(bytes.data()),
                     bytes.size()) == 1 &&
      EVP_MAC_final(context.get(), code.data(), &size, code.size()) == 1;
  SLUICE_ASSERT(made && size == code.size());
  return code;
}

bool SameBytes(std::string_view a, std::string_view b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

static_assert(std::tuple_size_v<Mac::Code> == kSecretBytes);

Secret Derive(std::span<const std::uint8_t> from, std::string_view label) {
  return Mac(from).Of(label);
}

Secret Derive(std::string_view from, std::string_view label) {
  return Derive(std::span(reinterpret_cast<const std::uint8_t*>(from.data()), from.size()), label);
}

}  // namespace sluice::signing
