#include "core/key_codec.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace sluice::core {

namespace {

constexpr std::size_t kLengthBytes = 2;
constexpr std::string_view kHex = "0123456789abcdef";

constexpr std::array<bool, 256> kPlain = [] {
  std::array<bool, 256> plain{};
  for (const char c : std::string_view("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                       "0123456789._-/@+:")) {
    plain[static_cast<unsigned char>(c)] = true;
  }
  return plain;
}();

bool IsPlain(char c) {
  return kPlain[static_cast<unsigned char>(c)];
}

std::size_t TypeBytes(KeyForm form) {
  return form == KeyForm::kCounted ? 1 : kLengthBytes + 1;
}

class Writer {
 public:
  explicit Writer(char* to) : to_(to) {}

  void Byte(std::size_t byte) { *to_++ = static_cast<char>(byte); }
  void Text(std::string_view text) {
    Byte(text.size() & 255U);  // Names and values are far shorter than 64 KiB.
    Byte(text.size() >> 8U);
    to_ = std::copy(text.begin(), text.end(), to_);
  }
  void Type(KeyForm form, AttributeType type) {
    if (form == KeyForm::kCounted) {
      Byte(static_cast<std::size_t>(type));
    } else {
      Text(type == AttributeType::kIp ? "i" : "t");
    }
  }

 private:
  char* to_;
};

// Takes what a Writer wrote. False if it is not there.
class Reader {
 public:
  explicit Reader(std::string_view& bytes) : bytes_(bytes) {}

  [[nodiscard]] bool at_end() const { return bytes_.empty(); }
  [[nodiscard]] bool Byte(std::size_t& byte) {
    if (bytes_.empty()) {
      return false;
    }
    byte = static_cast<unsigned char>(bytes_.front());
    bytes_.remove_prefix(1);
    return true;
  }
  [[nodiscard]] bool Text(std::string_view& text) {
    std::size_t low = 0;
    std::size_t high = 0;
    if (!Byte(low) || !Byte(high) || bytes_.size() < (low | high << 8U)) {
      return false;
    }
    text = bytes_.substr(0, low | high << 8U);
    bytes_.remove_prefix(text.size());
    return true;
  }
  [[nodiscard]] bool Type(KeyForm form, AttributeType& type) {
    std::size_t number = 0;
    std::string_view word;
    if (form == KeyForm::kCounted ? !Byte(number) || number > 1
                                  : !Text(word) || (word != "t" && word != "i")) {
      return false;
    }
    type = number == 1 || word == "i" ? AttributeType::kIp : AttributeType::kText;
    return true;
  }
  [[nodiscard]] bool Part(KeyForm form, KeyPart& part) {
    return Type(form, part.type) && Text(part.attribute) && Text(part.value) &&
           part.value.size() <= kMaxValueBytes;
  }

 private:
  std::string_view& bytes_;
};

// Takes what AppendEscaped() wrote, up to `end`, and appends what was meant to `out`.
bool TakeEscaped(std::string_view text, std::string& out) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (IsPlain(text[i])) {
      out += text[i];
      continue;
    }
    const std::size_t high = i + 2 < text.size() ? kHex.find(text[i + 1]) : std::string_view::npos;
    const std::size_t low = i + 2 < text.size() ? kHex.find(text[i + 2]) : std::string_view::npos;
    if (text[i] != '%' || high == std::string_view::npos || low == std::string_view::npos) {
      return false;
    }
    const char meant = static_cast<char>(high * 16 + low);
    if (IsPlain(meant)) {
      return false;  // Would have been written as it is.
    }
    out += meant;
    i += 2;
  }
  return true;
}

}  // namespace

std::size_t KeyBytes(KeyForm form, const KeyView& key) {
  std::size_t size = kLengthBytes + key.rule.size() + (form == KeyForm::kCounted ? 1 : 0);
  for (const KeyPart& part : key.parts) {
    size += TypeBytes(form) + 2 * kLengthBytes + part.attribute.size() + part.value.size();
  }
  return size;
}

void WriteKey(KeyForm form, const KeyView& key, char* to) {
  Writer writer(to);
  writer.Text(key.rule);
  if (form == KeyForm::kCounted) {
    writer.Byte(key.parts.size());
  }
  for (const KeyPart& part : key.parts) {
    writer.Type(form, part.type);
    writer.Text(part.attribute);
    writer.Text(part.value);
  }
}

void AppendKey(KeyForm form, const KeyView& key, std::string& out) {
  const std::size_t at = out.size();
  out.resize(at + KeyBytes(form, key));
  WriteKey(form, key, out.data() + at);
}

bool ReadKey(KeyForm form, std::string_view& bytes, Key& key) {
  Reader reader(bytes);
  std::string_view rule;
  std::array<KeyPart, kMaxKeyParts> parts;
  std::size_t said = kMaxKeyParts;
  if (!reader.Text(rule) || (form == KeyForm::kCounted && !reader.Byte(said)) ||
      said > parts.size()) {
    return false;
  }
  std::size_t count = 0;
  while (count < said && !(form == KeyForm::kWhole && reader.at_end())) {
    if (!reader.Part(form, parts[count++])) {
      return false;
    }
  }
  key.Assign({.rule = rule, .formerly = {}, .parts = std::span(parts).first(count)});
  return form == KeyForm::kCounted || reader.at_end();
}

void AppendEscaped(std::string_view text, std::string& out) {
  for (const char c : text) {
    if (IsPlain(c)) {
      out += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      out += '%';
      out += kHex[byte >> 4U];
      out += kHex[byte & 15U];
    }
  }
}

void AppendKeyText(std::span<const KeyPart> parts, std::string& out) {
  for (const KeyPart& part : parts) {
    if (&part != parts.data()) {
      out += ',';
    }
    AppendEscaped(part.attribute, out);
    out += part.type == AttributeType::kIp ? '~' : '=';
    AppendEscaped(part.value, out);
  }
}

std::optional<Key> ReadKeyText(std::string_view rule, std::string_view text) {
  std::string texts;  // What is meant is never longer than what is written.
  texts.reserve(text.size());
  const auto take = [&texts](std::string_view escaped) -> std::optional<std::string_view> {
    const std::size_t at = texts.size();
    return TakeEscaped(escaped, texts) ? std::optional(std::string_view(texts).substr(at))
                                       : std::nullopt;
  };
  std::array<KeyPart, kMaxKeyParts> parts;
  std::size_t count = 0;
  for (bool more = !text.empty(); more;) {
    const std::size_t end = text.find(',');
    const std::string_view part = text.substr(0, end);
    const std::size_t mark = part.find_first_of("=~");
    if (count == parts.size() || mark == std::string_view::npos) {
      return std::nullopt;
    }
    const auto attribute = take(part.substr(0, mark));
    const auto value = take(part.substr(mark + 1));
    if (!attribute || !value || value->size() > kMaxValueBytes) {
      return std::nullopt;
    }
    parts[count++] = {.attribute = *attribute,
                      .type = part[mark] == '~' ? AttributeType::kIp : AttributeType::kText,
                      .value = *value};
    more = end != std::string_view::npos;
    text.remove_prefix(more ? end + 1 : text.size());
  }
  return Key({.rule = rule, .formerly = {}, .parts = std::span(parts).first(count)});
}

void AppendKeyValue(std::string& text, std::string_view value, bool first) {
  if (!first) {
    text += ':';
  }
  for (const char c : value) {
    if (c == ':' || c == '\\') {
      text += '\\';
    }
    text += c;
  }
}

std::optional<std::vector<std::string>> SplitKeyValues(std::string_view text) {
  std::vector<std::string> values(1);
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == ':') {
      values.emplace_back();
    } else if (text[i] != '\\') {
      values.back() += text[i];
    } else if (i + 1 < text.size() && (text[i + 1] == ':' || text[i + 1] == '\\')) {
      values.back() += text[++i];
    } else {
      return std::nullopt;
    }
  }
  return values;
}

}  // namespace sluice::core
