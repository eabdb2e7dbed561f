#pragma once

// Texts, numbers in texts, header fields.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sluice_client {

using FieldList = std::vector<std::pair<std::string, std::string>>;  // Names and values, in order.

// The longest time that a response can state: 2^53 - 1 ms. Longer ones count as that.
inline constexpr std::int64_t kMostMs = (std::int64_t{1} << 53) - 1;

namespace detail {

inline std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return lower;
}

inline std::string_view Trim(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  text.remove_suffix(text.size() - std::min(text.find_last_not_of(" \t") + 1, text.size()));
  return text;
}

// Header fields by lower-case name; several lines of one name are joined as in RFC 9110, 5.3.
class Fields {
 public:
  explicit Fields(const FieldList& pairs) {
    for (const auto& [name, value] : pairs) {
      const auto [at, is_new] = values_.try_emplace(Lower(name), Trim(value));
      if (!is_new) {
        at->second.append(", ").append(Trim(value));
      }
    }
  }
  [[nodiscard]] bool Has(std::string_view name) const {
    return values_.find(name) != values_.end();
  }
  // "" if absent.
  [[nodiscard]] std::string_view Get(std::string_view name) const {
    const auto at = values_.find(name);
    return at == values_.end() ? std::string_view() : std::string_view(at->second);
  }

 private:
  std::map<std::string, std::string, std::less<>> values_;
};

// Takes texts off the front of a text.
struct Scanner {
  std::string_view rest;

  bool Take(std::string_view literal) {
    if (rest.substr(0, literal.size()) != literal) {
      return false;
    }
    rest.remove_prefix(literal.size());
    return true;
  }
  // As many of `set` as there are, up to `most`.
  std::string_view TakeAll(std::string_view set, std::size_t most = std::string_view::npos) {
    const std::string_view found =
        rest.substr(0, std::min({rest.find_first_not_of(set), rest.size(), most}));
    rest.remove_prefix(found.size());
    return found;
  }
  std::string_view Digits(std::size_t most = std::string_view::npos) {
    return TakeAll("0123456789", most);
  }
  // Exactly `count` digits.
  bool Number(std::size_t count, int& value) {
    const std::string_view digits = Digits(count);
    value = 0;
    for (const char digit : digits) {
      value = value * 10 + (digit - '0');
    }
    return digits.size() == count;
  }
  // One of `words`, which have a space between: which one, from 0.
  bool Word(std::string_view words, int& index) {
    for (index = 0; !words.empty(); ++index) {
      const std::size_t end = std::min(words.find(' '), words.size());
      if (Take(words.substr(0, end))) {
        return true;
      }
      words.remove_prefix(std::min(end + 1, words.size()));
    }
    return false;
  }
};

inline std::int64_t Saturated(std::string_view digits) {
  std::int64_t value = 0;
  for (const char digit : digits) {
    value = std::min(value * 10 + (digit - '0'), kMostMs);
  }
  return value;
}

inline std::int64_t Times(std::int64_t value, std::int64_t factor) {
  return value > kMostMs / factor ? kMostMs : value * factor;
}

}  // namespace detail
}  // namespace sluice_client
