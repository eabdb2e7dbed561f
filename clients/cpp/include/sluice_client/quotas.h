#pragma once

// What header fields say about quotas. The rules are those of clients/vectors/README.md.

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "times.h"

namespace sluice_client::detail {

// One quota as a response shows it.
struct Quota {
  std::int64_t remaining = 0;
  std::int64_t reset_ms = 0;  // Until more is available; 0: unknown, or already.
};

// Remaining units: whole ones, and none if the number is negative. Nothing if unreadable.
inline std::optional<std::int64_t> Units(std::string_view text) {
  Scanner scanner{text};
  const bool negative = scanner.Take("-");
  const std::optional<Decimal> decimal = TakeDecimal(scanner);
  if (!decimal || !scanner.rest.empty()) {
    return std::nullopt;
  }
  return negative ? 0 : Saturated(decimal->whole);
}

// A member of a structured field's list (RFC 9651), as far as RateLimit and RateLimit-Policy need
// it. Values are kept as they are written.
struct Item {
  std::string_view name;
  std::vector<std::pair<std::string_view, std::string_view>> parameters;

  // A parameter that is a whole number.
  [[nodiscard]] std::optional<std::int64_t> Whole(std::string_view name_of) const {
    std::optional<std::int64_t> value;
    for (const auto& [name_here, text] : parameters) {
      if (name_here == name_of) {
        Scanner scanner{text};
        const std::string_view digits = scanner.Digits(15);
        value = !digits.empty() && scanner.rest.empty()
                    ? std::optional<std::int64_t>(Saturated(digits))
                    : std::nullopt;
      }
    }
    return value;
  }
};

class ItemReader {
 public:
  // `"burst";r=0;t=2, "daily";r=900`. Empty if it is malformed.
  [[nodiscard]] static std::vector<Item> Read(std::string_view text) {
    std::vector<Item> items;
    ItemReader reader{text};
    while (true) {
      Item item;
      if (!reader.Name(item.name)) {
        return {};
      }
      while (reader.Parameter(item)) {
      }
      items.push_back(std::move(item));
      reader.scanner_.TakeAll(" \t");
      if (reader.scanner_.rest.empty()) {
        return items;
      }
      if (!reader.scanner_.Take(",")) {
        return {};
      }
      reader.scanner_.TakeAll(" \t");
    }
  }

 private:
  static constexpr std::string_view kLower = "abcdefghijklmnopqrstuvwxyz";
  static constexpr std::string_view kTokenStart =
      "*ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  static constexpr std::string_view kToken =
      "!#$%&'*+.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz:/-";

  explicit ItemReader(std::string_view text) : scanner_{text} {}

  [[nodiscard]] bool StartsWithOneOf(std::string_view set) const {
    return !scanner_.rest.empty() && set.find(scanner_.rest.front()) != std::string_view::npos;
  }
  // In quotation marks; `out` is what stands between them.
  bool Quoted(std::string_view& out) {
    for (std::size_t i = 1; i < scanner_.rest.size(); ++i) {
      const char c = scanner_.rest[i];
      if (c == '"') {
        out = scanner_.rest.substr(1, i - 1);
        scanner_.rest.remove_prefix(i + 1);
        return true;
      }
      if (c == '\\') {
        ++i;
        if (i == scanner_.rest.size() || (scanner_.rest[i] != '"' && scanner_.rest[i] != '\\')) {
          return false;
        }
      } else if (c < ' ' || c > '~') {
        return false;
      }
    }
    return false;
  }
  bool Name(std::string_view& name) {
    if (StartsWithOneOf("\"")) {
      return Quoted(name);
    }
    if (StartsWithOneOf(kTokenStart)) {
      name = scanner_.TakeAll(kToken);
      return true;
    }
    Scanner number = scanner_;
    number.Take("-");
    if (number.Digits(15).empty()) {
      return false;
    }
    name = scanner_.rest.substr(0, scanner_.rest.size() - number.rest.size());
    scanner_ = number;
    return true;
  }
  bool Parameter(Item& item) {
    const Scanner before = scanner_;
    scanner_.TakeAll(" ");
    if (!scanner_.Take(";")) {
      scanner_ = before;
      return false;
    }
    scanner_.TakeAll(" ");
    if (!StartsWithOneOf(kLower) && !StartsWithOneOf("*")) {
      scanner_ = before;
      return false;
    }
    const std::string_view key = scanner_.TakeAll("abcdefghijklmnopqrstuvwxyz0123456789_.*-");
    std::string_view value = "?1";
    if (const Scanner behind_key = scanner_; scanner_.Take("=") && !Value(value)) {
      scanner_ = behind_key;
      return false;
    }
    item.parameters.emplace_back(key, value);
    return true;
  }
  bool Value(std::string_view& value) {
    const std::string_view from = scanner_.rest;
    const auto done = [&] {
      value = from.substr(0, from.size() - scanner_.rest.size());
      return true;
    };
    if (StartsWithOneOf("\"")) {
      std::string_view text;
      return Quoted(text) && done();
    }
    if (scanner_.Take(":")) {
      scanner_.TakeAll("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=");
      return scanner_.Take(":") && done();
    }
    if (scanner_.Take("?")) {
      return (scanner_.Take("0") || scanner_.Take("1")) && done();
    }
    if (StartsWithOneOf(kTokenStart)) {
      scanner_.TakeAll(kToken);
      return done();
    }
    scanner_.Take("-");
    const std::size_t whole = scanner_.Digits().size();
    if (whole == 0 || whole > 15) {
      return false;
    }
    if (scanner_.Take(".")) {
      const std::size_t fraction = scanner_.Digits().size();
      return whole <= 12 && fraction >= 1 && fraction <= 3 && !StartsWithOneOf(".") && done();
    }
    return done();
  }

  Scanner scanner_;
};

// Draft 7's `limit=100, remaining=0, reset=30`. Nothing if it is not that.
inline std::optional<std::map<std::string_view, std::string_view>> ReadDraft7(
    std::string_view text) {
  std::map<std::string_view, std::string_view> members;
  Scanner scanner{text};
  while (true) {
    const std::string_view name = scanner.TakeAll("abcdefghijklmnopqrstuvwxyz");
    const bool equals = scanner.Take("=");
    const std::string_view digits = scanner.Digits();
    if (name.empty() || !equals || digits.empty() || digits.size() > 15) {
      return std::nullopt;
    }
    members[name] = digits;
    if (scanner.rest.empty()) {
      return members;
    }
    scanner.TakeAll(" \t");
    if (!scanner.Take(",")) {
      return std::nullopt;
    }
    scanner.TakeAll(" \t");
  }
}

inline std::vector<Quota> IetfQuotas(const Fields& fields) {
  const std::string_view text = fields.Get("ratelimit");
  std::vector<Quota> quotas;
  if (auto members = ReadDraft7(text)) {
    if (members->count("remaining") != 0) {
      quotas.push_back(
          {Saturated((*members)["remaining"]), Times(Saturated((*members)["reset"]), 1000)});
    }
    return quotas;
  }
  const std::vector<Item> policies = ItemReader::Read(fields.Get("ratelimit-policy"));
  for (const Item& item : ItemReader::Read(text)) {
    const std::optional<std::int64_t> remaining = item.Whole("r");
    if (!remaining) {
      continue;
    }
    std::optional<std::int64_t> seconds = item.Whole("t");
    if (!seconds) {
      for (const Item& policy : policies) {
        seconds = policy.name == item.name ? policy.Whole("w").value_or(0) : seconds;
      }
    }
    quotas.push_back({*remaining, Times(seconds.value_or(0), 1000)});
  }
  return quotas;
}

// A family of quota fields: a field with what remains, and those with the reset, the first
// readable of which counts.
struct QuotaFields {
  const char* family;
  const char* remaining;
  const char* reset;
  const char* other_reset;
};
inline constexpr QuotaFields kQuotaFields[] = {
    {"ratelimit-fields", "ratelimit-remaining", "ratelimit-reset", ""},
    {"anthropic", "anthropic-ratelimit-requests-remaining", "anthropic-ratelimit-requests-reset",
     ""},
    {"anthropic", "anthropic-ratelimit-tokens-remaining", "anthropic-ratelimit-tokens-reset", ""},
    {"anthropic", "anthropic-ratelimit-input-tokens-remaining",
     "anthropic-ratelimit-input-tokens-reset", ""},
    {"anthropic", "anthropic-ratelimit-output-tokens-remaining",
     "anthropic-ratelimit-output-tokens-reset", ""},
    {"openai", "x-ratelimit-remaining-requests", "x-ratelimit-reset-requests", ""},
    {"openai", "x-ratelimit-remaining-tokens", "x-ratelimit-reset-tokens", ""},
    {"x-ratelimit", "x-ratelimit-remaining", "x-ratelimit-reset-after", "x-ratelimit-reset"},
    {"x-rate-limit", "x-rate-limit-remaining", "x-rate-limit-reset", ""},
};

struct QuotaFamily {
  std::string name;  // "": no family is readable.
  std::vector<Quota> quotas;
};

// `refused`: a limit refused the request, so a reset without a remaining number means that nothing
// remains.
inline QuotaFamily QuotasOf(const Fields& fields, bool refused, std::int64_t server_now_ms,
                            std::int64_t now_ms) {
  if (Units(fields.Get("age")).value_or(0) != 0) {
    return {};  // From a cache.
  }
  QuotaFamily found{"ratelimit", IetfQuotas(fields)};
  if (!found.quotas.empty()) {
    return found;
  }
  for (const QuotaFields& names : kQuotaFields) {
    if (!found.quotas.empty() && found.name != names.family) {
      return found;
    }
    found.name = names.family;
    const std::optional<std::int64_t> remaining = Units(fields.Get(names.remaining));
    if (!remaining && !refused) {
      continue;
    }
    std::int64_t reset = ResetInMs(fields.Get(names.reset), server_now_ms, now_ms);
    if (reset == 0) {
      reset = ResetInMs(fields.Get(names.other_reset), server_now_ms, now_ms);
    }
    if (remaining || reset != 0) {
      found.quotas.push_back({remaining.value_or(0), reset});
    }
  }
  return found.quotas.empty() ? QuotaFamily{} : found;
}

}  // namespace sluice_client::detail
