// Drawn keys in every form of core/key_codec.h: what is written is read as it was, and two keys
// never share their bytes.

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "core/algorithm.h"
#include "core/key_codec.h"
#include "core/shape.h"

namespace sluice::core {
namespace {

constexpr std::array kForms{KeyForm::kCounted, KeyForm::kWhole};

// Of the bytes that a form must not mistake: separators, escapes, lengths, types, and NUL.
std::string DrawText(std::size_t most) {
  using namespace std::string_view_literals;
  static constexpr std::string_view kBytes = "\0\1\2ti,=~%:\\/a4c\xff"sv;
  const auto size = *rc::gen::inRange<std::size_t>(0, most);
  std::string text;
  for (std::size_t i = 0; i < size; ++i) {
    text += kBytes[*rc::gen::inRange<std::size_t>(0, kBytes.size())];
  }
  return text;
}

// Short texts, so that two drawn keys are often alike but for where one text ends; some long ones.
Key DrawKey() {
  const std::string rule = DrawText(3);
  std::array<std::pair<std::string, std::string>, kMaxKeyParts> texts;
  std::array<KeyPart, kMaxKeyParts> parts;
  const auto count = *rc::gen::inRange<std::size_t>(0, kMaxKeyParts + 1);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t most = *rc::gen::inRange(0, 20) == 0 ? kMaxValueBytes + 1 : 3;
    texts[i] = {DrawText(3), DrawText(most)};
    parts[i] = {.attribute = texts[i].first,
                .type = *rc::gen::arbitrary<bool>() ? AttributeType::kIp : AttributeType::kText,
                .value = texts[i].second};
  }
  return Key({.rule = rule, .formerly = {}, .parts = std::span(parts).first(count)});
}

// A key of the same texts, one behind the other, that are cut elsewhere.
Key CutElsewhere(const Key& key) {
  std::string all(key.rule());
  for (const KeyPart& part : key.parts()) {
    all.append(part.attribute).append(part.value);
  }
  std::string_view rest = all;
  const auto cut = [&rest] {
    const std::string_view text =
        rest.substr(0, *rc::gen::inRange<std::size_t>(0, rest.size() + 1));
    rest.remove_prefix(text.size());
    return text;
  };
  const std::string_view rule = cut();
  std::array<KeyPart, kMaxKeyParts> parts;
  std::size_t count = 0;
  while (count < parts.size() && !rest.empty()) {
    parts[count].attribute = cut();
    parts[count++].value = cut();
  }
  return Key({.rule = rule, .formerly = {}, .parts = std::span(parts).first(count)});
}

std::string Written(KeyForm form, const Key& key) {
  std::string bytes;
  AppendKey(form, key.view(), bytes);
  return bytes;
}

std::string TextOf(const Key& key) {
  std::string text;
  AppendKeyText(key.parts(), text);
  return text;
}

struct StringSink {
  std::string bytes;
  void Put(const void* from, std::size_t size) {
    bytes.append(static_cast<const char*>(from), size);
  }
};

std::string DigestInputOf(const Key& key, const Shape& shape) {
  StringSink sink;
  digest::Write(sink, key.rule(), key.parts(), shape);
  RC_ASSERT(sink.bytes.size() == digest::Bytes(key.rule(), key.parts(), shape));
  return sink.bytes;
}

// Whose digest input it is, read back by nothing but its bytes.
struct Digested {
  Key key;
  Shape shape;  // But for the calendar.
  std::string calendar;
};

class DigestReader {
 public:
  explicit DigestReader(std::string_view bytes) : rest_(bytes) {}
  template <class Number>
  Number Take() {
    Number number{};
    std::memcpy(&number, TakeText(sizeof(number)).data(), sizeof(number));
    return number;
  }
  std::string_view TakeText(std::size_t size) {
    RC_ASSERT(size <= rest_.size());
    const std::string_view text = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return text;
  }
  [[nodiscard]] bool at_end() const { return rest_.empty(); }

 private:
  std::string_view rest_;
};

Digested ReadDigestInput(std::string_view bytes) {
  DigestReader reader(bytes);
  Digested read;
  read.shape.window = Duration(reader.Take<std::int64_t>());
  read.shape.algorithm = static_cast<Algorithm>(reader.Take<std::uint8_t>());
  read.shape.segments = reader.Take<std::uint8_t>();
  const auto count = reader.Take<std::uint16_t>();
  const auto rule_bytes = reader.Take<std::uint16_t>();
  const auto calendar_bytes = reader.Take<std::uint16_t>();
  const std::string_view rule = reader.TakeText(rule_bytes);
  read.calendar = reader.TakeText(calendar_bytes);
  std::vector<KeyPart> parts(count);
  for (KeyPart& part : parts) {
    const auto attribute_bytes = reader.Take<std::uint16_t>();
    const auto value_bytes = reader.Take<std::uint16_t>();
    part.attribute = reader.TakeText(attribute_bytes);
    part.type = (value_bytes & 0x8000U) != 0 ? AttributeType::kIp : AttributeType::kText;
    part.value = reader.TakeText(value_bytes & 0x7fffU);
  }
  RC_ASSERT(reader.at_end());
  read.key.Assign({.rule = rule, .formerly = {}, .parts = parts});
  return read;
}

RC_GTEST_PROP(KeyCodecProperty, WhatIsWrittenIsReadAsItWas, ()) {
  const Key key = DrawKey();
  for (const KeyForm form : kForms) {
    const std::string bytes = Written(form, key);
    RC_ASSERT(bytes.size() == KeyBytes(form, key.view()));
    std::string_view rest = bytes;
    Key read;
    RC_ASSERT(ReadKey(form, rest, read));
    RC_ASSERT(rest.empty());
    RC_ASSERT(read == key);
  }
  RC_ASSERT(ReadKeyText(key.rule(), TextOf(key)) == key);
}

RC_GTEST_PROP(KeyCodecProperty, AmongOtherFieldsAKeyEndsWhereItEnded, ()) {
  const Key key = DrawKey();
  const std::string behind = DrawText(5);
  const std::string bytes = Written(KeyForm::kCounted, key) + behind;
  std::string_view rest = bytes;
  Key read;
  RC_ASSERT(ReadKey(KeyForm::kCounted, rest, read));
  RC_ASSERT(read == key);
  RC_ASSERT(rest == behind);
}

RC_GTEST_PROP(KeyCodecProperty, TwoKeysNeverShareTheirBytes, ()) {
  const Key one = DrawKey();
  const Key other = *rc::gen::arbitrary<bool>() ? DrawKey() : CutElsewhere(one);
  for (const KeyForm form : kForms) {
    RC_ASSERT((Written(form, one) == Written(form, other)) == (one == other));
  }
  const bool same_parts = std::ranges::equal(one.parts(), other.parts());
  RC_ASSERT((TextOf(one) == TextOf(other)) == same_parts);
}

// A reader finds all of it by its bytes alone: so no two keys or shapes share them.
RC_GTEST_PROP(KeyCodecProperty, WhatIsDigestedSaysWholeKeyAndShape, ()) {
  const Key key = DrawKey();
  const std::string calendar = DrawText(3);
  const Shape shape{.algorithm = *rc::gen::elementOf(kAllAlgorithms),
                    .segments = *rc::gen::arbitrary<std::uint8_t>(),
                    .window = Duration(*rc::gen::arbitrary<std::int64_t>()),
                    .calendar = calendar};
  Digested read = ReadDigestInput(DigestInputOf(key, shape));
  read.shape.calendar = read.calendar;
  RC_ASSERT(read.key == key);
  RC_ASSERT(read.shape == shape);
}

// Whoever hands in bytes gets no key that nobody wrote.
RC_GTEST_PROP(KeyCodecProperty, OtherBytesAreRefusedOrWrittenTheSameAgain, ()) {
  for (const KeyForm form : kForms) {
    std::string bytes = Written(form, DrawKey());
    const auto at = *rc::gen::inRange<std::size_t>(0, bytes.size());
    bytes[at] = *rc::gen::arbitrary<char>();
    bytes.resize(*rc::gen::inRange<std::size_t>(at, bytes.size() + 1));
    std::string_view rest = bytes;
    Key read;
    if (ReadKey(form, rest, read)) {
      RC_ASSERT(Written(form, read) + std::string(rest) == bytes);
    }
  }
  const std::string text = DrawText(30);
  if (const auto read = ReadKeyText("r", text)) {
    RC_ASSERT(TextOf(*read) == text);
  }
}

RC_GTEST_PROP(KeyCodecProperty, ValuesAreSplitAsTheyWereJoined, ()) {
  const auto count = *rc::gen::inRange<std::size_t>(2, kMaxKeyParts + 1);
  std::vector<std::string> values;
  std::string text;
  for (std::size_t i = 0; i < count; ++i) {
    values.push_back(DrawText(4));
    AppendKeyValue(text, values.back(), i == 0);
  }
  RC_ASSERT(SplitKeyValues(text) == values);
}

}  // namespace
}  // namespace sluice::core
