#include "envoy/counter_text.h"

#include <array>

#include <openssl/sha.h>

#include "core/key.h"

namespace sluice::envoy {

namespace {

void AppendEscaped(std::string& out, std::string_view text) {
  for (;;) {
    const std::size_t at = text.find_first_of("|=\\");
    out += text.substr(0, at);
    if (at == std::string_view::npos) {
      return;
    }
    out += '\\';
    out += text[at];
    text.remove_prefix(at + 1);
  }
}

// In place of what stands in `out` from `begin` on. Begins with a `|`, as no name does.
void ReplaceByHash(std::string& out, std::size_t begin) {
  std::array<unsigned char, SHA256_DIGEST_LENGTH> hash{};
  SHA256(reinterpret_cast<const unsigned char*>(out.data()) + begin, out.size() - begin,
         hash.data());
  out.resize(begin);
  out += "|sha256=";
  constexpr std::string_view kHex = "0123456789abcdef";
  for (const unsigned char byte : hash) {
    out += kHex[byte >> 4U];
    out += kHex[byte & 15U];
  }
}

}  // namespace

void AppendCounterText(std::string& out, std::string_view domain,
                       std::span<const wire::RlsEntry> entries,
                       std::span<const std::string_view> shared) {
  const std::size_t begin = out.size();
  AppendEscaped(out, domain);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    out += '|';
    AppendEscaped(out, entries[i].key);
    out += '=';
    AppendEscaped(out, i < shared.size() && !shared[i].empty() ? shared[i] : entries[i].value);
  }
  if (out.size() - begin > core::kMaxValueBytes) {
    ReplaceByHash(out, begin);
  }
}

}  // namespace sluice::envoy
