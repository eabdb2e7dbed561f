#include "wire/structured_field.h"

#include <charconv>

#include "base/assert.h"
#include "wire/ascii.h"

namespace sluice::wire {
namespace {

constexpr std::int64_t kMaxInteger = 999'999'999'999'999;

bool IsLowerAlpha(char c) {
  return c >= 'a' && c <= 'z';
}
bool IsAlpha(char c) {
  return IsLowerAlpha(ToLower(c));
}
bool IsKeyRest(char c) {
  return IsLowerAlpha(c) || IsDigit(c) || c == '_' || c == '-' || c == '.' || c == '*';
}
bool IsTokenRest(char c) {
  return IsAlpha(c) || IsDigit(c) ||
         (c != '\0' && std::string_view("!#$%&'*+-.^_`|~:/").find(c) != std::string_view::npos);
}

int Base64Value(char c) {
  if (c >= 'A' && c <= 'Z') {
    return c - 'A';
  }
  if (IsLowerAlpha(c)) {
    return c - 'a' + 26;
  }
  if (IsDigit(c)) {
    return c - '0' + 52;
  }
  return c == '+' ? 62 : c == '/' ? 63 : -1;
}

// Missing padding, and bits after the last byte, are accepted, as RFC 9651 requires.
std::optional<std::string> DecodeBase64(std::string_view text) {
  while (text.ends_with('=')) {
    text.remove_suffix(1);
  }
  if (text.size() % 4 == 1) {
    return std::nullopt;
  }
  std::string bytes;
  unsigned bits = 0;
  int held = 0;
  for (const char c : text) {
    const int value = Base64Value(c);
    if (value < 0) {
      return std::nullopt;
    }
    bits = (bits << 6 | static_cast<unsigned>(value)) & 0xfffffU;
    held += 6;
    if (held >= 8) {
      held -= 8;
      bytes.push_back(static_cast<char>(bits >> held & 0xffU));
    }
  }
  return bytes;
}

// The parsing algorithm of RFC 9651, section 4.2, member for member.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  std::optional<std::vector<SfItem>> List() {
    SkipSpaces();
    std::vector<SfItem> list;
    while (!AtEnd()) {
      auto item = Item();
      if (!item) {
        return std::nullopt;
      }
      list.push_back(std::move(*item));
      SkipOptionalWhitespace();
      if (AtEnd()) {
        return list;
      }
      if (!Take(',')) {
        return std::nullopt;
      }
      SkipOptionalWhitespace();
      if (AtEnd()) {
        return std::nullopt;  // A comma at the end.
      }
    }
    return list;
  }

 private:
  [[nodiscard]] bool AtEnd() const { return at_ == text_.size(); }
  [[nodiscard]] char Peek() const { return AtEnd() ? '\0' : text_[at_]; }
  bool Take(char c) {
    if (AtEnd() || text_[at_] != c) {
      return false;
    }
    ++at_;
    return true;
  }
  void SkipSpaces() {
    while (Take(' ')) {
    }
  }
  void SkipOptionalWhitespace() {
    while (Take(' ') || Take('\t')) {
    }
  }

  std::optional<SfItem> Item() {
    auto value = BareItem();
    if (!value) {
      return std::nullopt;
    }
    SfItem item{.value = std::move(*value), .params = {}};
    while (Take(';')) {
      SkipSpaces();
      const std::size_t begin = at_;
      if (!IsLowerAlpha(Peek()) && Peek() != '*') {
        return std::nullopt;
      }
      while (!AtEnd() && IsKeyRest(Peek())) {
        ++at_;
      }
      const std::string_view key = text_.substr(begin, at_ - begin);
      SfBareItem param = true;
      if (Take('=')) {
        auto given = BareItem();
        if (!given) {
          return std::nullopt;
        }
        param = std::move(*given);
      }
      SetParam(item, key, std::move(param));
    }
    return item;
  }

  static void SetParam(SfItem& item, std::string_view key, SfBareItem value) {
    for (auto& [name, old] : item.params) {
      if (name == key) {
        old = std::move(value);
        return;
      }
    }
    item.params.emplace_back(key, std::move(value));
  }

  std::optional<SfBareItem> BareItem() {
    const char c = Peek();
    if (c == '"') {
      return String();
    }
    if (c == '-' || IsDigit(c)) {
      return Number();
    }
    if (c == '*' || IsAlpha(c)) {
      const std::size_t begin = at_;
      while (!AtEnd() && IsTokenRest(Peek())) {
        ++at_;
      }
      return SfToken{std::string(text_.substr(begin, at_ - begin))};
    }
    if (Take('?')) {
      if (Take('1')) {
        return true;
      }
      return Take('0') ? std::optional<SfBareItem>(false) : std::nullopt;
    }
    if (Take(':')) {
      const std::size_t end = text_.find(':', at_);
      if (end == std::string_view::npos) {
        return std::nullopt;
      }
      auto bytes = DecodeBase64(text_.substr(at_, end - at_));
      at_ = end + 1;
      if (!bytes) {
        return std::nullopt;
      }
      return SfBytes{std::move(*bytes)};
    }
    return std::nullopt;
  }

  std::optional<SfBareItem> String() {
    ++at_;
    std::string value;
    while (!AtEnd()) {
      char c = text_[at_++];
      if (c == '"') {
        return value;
      }
      if (c == '\\') {
        if (Peek() != '"' && Peek() != '\\') {
          return std::nullopt;
        }
        c = text_[at_++];
      } else if (c < 0x20 || c >= 0x7f) {
        return std::nullopt;
      }
      value.push_back(c);
    }
    return std::nullopt;
  }

  std::string_view Digits() {
    const std::size_t begin = at_;
    while (IsDigit(Peek())) {
      ++at_;
    }
    return text_.substr(begin, at_ - begin);
  }

  std::optional<SfBareItem> Number() {
    const std::int64_t sign = Take('-') ? -1 : 1;
    const std::string_view whole = Digits();
    if (whole.empty() || whole.size() > 15) {
      return std::nullopt;
    }
    std::int64_t number = 0;
    std::from_chars(whole.data(), whole.data() + whole.size(), number);
    if (!Take('.')) {
      return sign * number;
    }
    std::string_view fraction = Digits();
    if (whole.size() > 12 || fraction.empty() || fraction.size() > 3) {
      return std::nullopt;
    }
    for (std::size_t i = 0; i < 3; ++i) {
      number = number * 10 + (i < fraction.size() ? fraction[i] - '0' : 0);
    }
    return SfDecimal{sign * number};
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

SfListWriter& SfListWriter::Member(std::string_view text) {
  if (!first_) {
    out_.append(", ");
  }
  first_ = false;
  AppendString(text);
  return *this;
}

SfListWriter& SfListWriter::Param(std::string_view key, std::int64_t number) {
  SLUICE_ASSERT(number <= kMaxInteger && number >= -kMaxInteger);
  out_.push_back(';');
  out_.append(key);
  out_.push_back('=');
  char digits[20];
  const auto [end, error] = std::to_chars(digits, digits + sizeof digits, number);
  out_.append(digits, end);
  return *this;
}

SfListWriter& SfListWriter::Param(std::string_view key, std::string_view text) {
  out_.push_back(';');
  out_.append(key);
  out_.push_back('=');
  AppendString(text);
  return *this;
}

void SfListWriter::AppendString(std::string_view text) {
  out_.push_back('"');
  for (const char c : text) {
    SLUICE_ASSERT(c >= 0x20 && c < 0x7f);
    if (c == '"' || c == '\\') {
      out_.push_back('\\');
    }
    out_.push_back(c);
  }
  out_.push_back('"');
}

const SfBareItem* SfItem::Param(std::string_view key) const {
  for (const auto& [name, param] : params) {
    if (name == key) {
      return &param;
    }
  }
  return nullptr;
}

std::optional<std::vector<SfItem>> ParseSfList(std::string_view text) {
  return Reader(text).List();
}

}  // namespace sluice::wire
