#include <algorithm>
#include <array>
#include <cstdint>

#include "wire/ascii.h"
#include "wire/http1_parser.h"

namespace sluice::wire {
namespace {

// The elements that a byte may be part of.
enum ByteClass : std::uint8_t {
  kToken = 1,   // Methods, field names, connection options (RFC 9110, 5.6.2).
  kTarget = 2,  // A target's bytes, as far as this reader checks them: no controls, no white space.
  kValue = 4,   // A field's value: no control but the tab.
};

constexpr std::array<std::uint8_t, 256> ClassesOfBytes() {
  std::array<std::uint8_t, 256> classes{};
  for (std::size_t byte = 0x21; byte < 256; ++byte) {
    classes[byte] = byte == 0x7f ? 0 : kTarget | kValue;
  }
  classes[' '] = classes['\t'] = kValue;
  for (std::size_t letter = 'a'; letter <= 'z'; ++letter) {
    classes[letter] |= kToken;
    classes[letter - 'a' + 'A'] |= kToken;
  }
  for (const char c : std::string_view("0123456789!#$%&'*+-.^_`|~")) {
    classes[static_cast<unsigned char>(c)] |= kToken;
  }
  return classes;
}
constexpr std::array<std::uint8_t, 256> kClasses = ClassesOfBytes();

bool IsOf(char c, ByteClass wanted) {
  return (kClasses[static_cast<unsigned char>(c)] & wanted) != 0;
}

// Returns the bytes of class `wanted` that begin at `at`, and moves `at` past them. No class has
// the line feed, and a line feed ends the block, so no step has to check for the end.
std::string_view Span(const char*& at, ByteClass wanted) {
  const char* const begin = at;
  while (IsOf(*at, wanted)) {
    ++at;
  }
  return {begin, static_cast<std::size_t>(at - begin)};
}

// Steps over CR LF.
bool EndLine(const char*& at) {
  if (at[0] != '\r' || at[1] != '\n') {
    return false;
  }
  at += 2;
  return true;
}

bool IsBlank(char c) {
  return c == ' ' || c == '\t';
}

std::string_view Trim(std::string_view text) {
  while (!text.empty() && IsBlank(text.front())) {
    text.remove_prefix(1);
  }
  while (!text.empty() && IsBlank(text.back())) {
    text.remove_suffix(1);
  }
  return text;
}

}  // namespace

bool Http1HeaderReader::Read(std::string_view block) {
  request_.fields.clear();
  if (!block.ends_with("\r\n\r\n")) {
    return false;
  }
  const char* at = block.data();
  if (!ReadRequestLine(at)) {
    return false;
  }
  while (*at != '\r') {
    if (!ReadField(at)) {
      return false;
    }
  }
  request_.keep_alive = request_.minor_version == 0 ? keep_alive_ : !close_;
  return EndLine(at) && at == block.data() + block.size();
}

bool Http1HeaderReader::ReadRequestLine(const char*& at) {
  request_.method_text = Span(at, kToken);
  if (request_.method_text.empty() || *at != ' ') {
    return false;
  }
  ++at;
  request_.target = Span(at, kTarget);
  if (request_.target.empty()) {
    return false;
  }
  for (const char c : std::string_view(" HTTP/1.")) {
    if (*at != c) {
      return false;
    }
    ++at;
  }
  if (*at != '0' && *at != '1') {
    return false;
  }
  request_.method = MethodOf(request_.method_text);
  request_.minor_version = *at - '0';
  ++at;
  return EndLine(at);
}

bool Http1HeaderReader::ReadField(const char*& at) {
  const std::string_view name = Span(at, kToken);
  if (name.empty() || *at != ':') {
    return false;
  }
  ++at;
  const HttpField field{name, Trim(Span(at, kValue))};
  if (!EndLine(at) || !Note(field)) {
    return false;
  }
  if (request_.fields.size() == max_fields_) {
    too_many_fields_ = true;
    return false;
  }
  request_.fields.push_back(field);
  return true;
}

// Stores the fields that define where the message or the connection ends. False: the field is
// malformed.
bool Http1HeaderReader::Note(const HttpField& field) {
  const auto is = [&](std::string_view name) { return EqualsIgnoreCase(field.name, name); };
  Seen* seen = nullptr;
  switch (field.name.size()) {  // All of these names have different lengths.
    case 4:
      seen = is("host") ? &host_ : nullptr;
      break;
    case 6:
      seen = is("expect") ? &expect_ : nullptr;
      break;
    case 10:
      return !is("connection") || ReadConnection(field.value);
    case 14:
      seen = is("content-length") ? &content_length_ : nullptr;
      break;
    case 16:
      return !is("proxy-connection") || ReadConnection(field.value);
    case 17:
      seen = is("transfer-encoding") ? &transfer_encoding_ : nullptr;
      break;
    default:
      break;
  }
  if (seen != nullptr) {
    ++seen->count;
    seen->value = field.value;
  }
  return true;
}

// A list of tokens. Some may be empty (RFC 9110, 5.6.1).
bool Http1HeaderReader::ReadConnection(std::string_view list) {
  for (;;) {
    const std::size_t comma = std::min(list.find(','), list.size());
    const std::string_view option = Trim(list.substr(0, comma));
    if (!std::ranges::all_of(option, [](char c) { return IsOf(c, kToken); })) {
      return false;
    }
    close_ |= EqualsIgnoreCase(option, "close");
    keep_alive_ |= EqualsIgnoreCase(option, "keep-alive");
    if (comma == list.size()) {
      return true;
    }
    list.remove_prefix(comma + 1);
  }
}

}  // namespace sluice::wire
