#include "envoy/counter_name.h"

#include <array>
#include <chrono>

#include <openssl/sha.h>

#include "core/key.h"
#include "envoy/descriptor_tree.h"
#include "wire/ascii.h"

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

// How many characters of a dotted quad stand at the front of `text`; 0 if none does.
std::size_t QuadSize(std::string_view text) {
  std::size_t at = 0;
  for (int group = 0; group < 4; ++group) {
    if (group > 0) {
      if (at >= text.size() || text[at] != '.') {
        return 0;
      }
      ++at;
    }
    std::size_t digits = 0;
    while (digits < 3 && at < text.size() && wire::IsDigit(text[at])) {
      ++at;
      ++digits;
    }
    if (digits == 0) {
      return 0;
    }
  }
  return at;
}

std::string Joined(std::string_view key, std::string_view value) {
  std::string part = StatPart(key);
  if (!value.empty()) {
    part += '_';
    part += StatPart(value);
  }
  return part;
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

std::string StatPart(std::string_view text) {
  std::string part;
  part.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    const bool begins = wire::IsDigit(text[i]) && (i == 0 || !wire::IsDigit(text[i - 1]));
    const std::size_t quad = begins ? QuadSize(text.substr(i)) : 0;
    if (quad != 0) {
      for (const char c : text.substr(i, quad)) {
        part += c == '.' ? '_' : c;
      }
      i += quad;
      continue;
    }
    part += text[i] == ':' || text[i] == '|' ? '_' : text[i];
    ++i;
  }
  return part;
}

StatName NameWithValues(std::string_view domain, const Match& match,
                        std::span<const wire::RlsEntry> entries) {
  StatName name{StatPart(domain)};
  for (std::size_t i = 0; i < match.way.size(); ++i) {
    const auto [node, by] = match.way[i];
    const bool has_value = match.limits.front()->detailed_metric ||
                           (node->value_to_metric && by != DescriptorLevel::By::kValue);
    if (!match.shared[i].empty() || !has_value) {
      name.push_back(StatPart(node->Name()));
    } else {
      name.push_back(Joined(entries[i].key, entries[i].value));
    }
  }
  return name;
}

StatName NameOfOverride(std::string_view domain, std::span<const wire::RlsEntry> entries) {
  StatName name{StatPart(domain)};
  for (const wire::RlsEntry& entry : entries) {
    name.push_back(Joined(entry.key, entry.value));
  }
  return name;
}

}  // namespace sluice::envoy
