#include "envoy/counter_name.h"

#include <array>
#include <chrono>

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

// Replaces the bytes of `out` from `begin` on. The result begins with a `|`, as no name does.
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

void AppendOldCounterText(std::string& out, std::string_view prefix, std::string_view domain,
                          std::span<const wire::RlsEntry> entries, const Match& match) {
  out += prefix;
  out += domain;
  out += '_';
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const wire::RlsEntry& entry = entries[i];
    out += entry.key;
    out += '_';
    if (i < match.shared.size() && !match.shared[i].empty()) {
      // The whole pattern, but for the key where that is no pattern itself.
      const DescriptorNode& node = *match.way[i].node;
      const bool names_key = node.key == entry.key && !node.value.empty();
      out += names_key ? node.value : node.Name();
    } else {
      out += entry.value;
    }
    out += '_';
  }
}

void AppendCounterName(std::string& out, const Settings& settings, std::string_view domain,
                       std::span<const wire::RlsEntry> entries, const Match& match,
                       const Limit& limit) {
  // A limit that each node counts for itself is in no Redis, and of a table's length.
  if (!settings.old_counter_names || limit.quota.algorithm != core::Algorithm::kAttemptWindow ||
      limit.sync == core::Sync::kLocal) {
    AppendCounterText(out, domain, entries, match.shared);
    return;
  }
  AppendOldCounterText(out, settings.cache_key_prefix, domain, entries, match);
  if (match.limits.size() > 1) {
    out += std::to_string(limit.quota.window / std::chrono::seconds(1)) + "s_";
  }
}

}  // namespace sluice::envoy
