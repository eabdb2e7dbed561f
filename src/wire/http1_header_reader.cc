#include "wire/http1_header_reader.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "wire/ascii.h"

namespace sluice::wire {
namespace {

// What a byte may be part of.
enum ByteClass : std::uint8_t {
  kToken = 1,   // Methods, field names, connection options (RFC 9110, 5.6.2).
  kTarget = 2,  // A target's bytes as far as they are read here: no control, no white space.
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

// How many bytes at the front of `text` belong to `wanted`.
std::size_t SpanOf(std::string_view text, ByteClass wanted) {
  std::size_t size = 0;
  while (size < text.size() && (kClasses[static_cast<unsigned char>(text[size])] & wanted) != 0) {
    ++size;
  }
  return size;
}

bool IsSpace(char c) {
  return c == ' ' || c == '\t';
}

std::string_view Trim(std::string_view text) {
  while (!text.empty() && IsSpace(text.front())) {
    text.remove_prefix(1);
  }
  while (!text.empty() && IsSpace(text.back())) {
    text.remove_suffix(1);
  }
  return text;
}

HttpMethod MethodOf(std::string_view text) {
  if (text == "POST") {
    return HttpMethod::kPost;
  }
  if (text == "GET") {
    return HttpMethod::kGet;
  }
  if (text == "HEAD") {
    return HttpMethod::kHead;
  }
  if (text == "PUT") {
    return HttpMethod::kPut;
  }
  if (text == "PATCH") {
    return HttpMethod::kPatch;
  }
  if (text == "DELETE") {
    return HttpMethod::kDelete;
  }
  return text == "OPTIONS" ? HttpMethod::kOptions : HttpMethod::kOther;
}

}  // namespace

bool Http1HeaderReader::Read(std::string_view block) {
  request_.fields.clear();
  for (bool first = true;; first = false) {
    const std::size_t end = block.find('\n');
    if (end == std::string_view::npos || end == 0 || block[end - 1] != '\r') {
      return false;
    }
    const std::string_view line = block.substr(0, end - 1);
    block.remove_prefix(end + 1);
    if (line.empty()) {
      break;
    }
    if (!(first ? ReadRequestLine(line) : ReadField(line))) {
      return false;
    }
  }
  request_.keep_alive = request_.minor_version == 0 ? keep_alive_ : !close_;
  return block.empty();
}

bool Http1HeaderReader::ReadRequestLine(std::string_view line) {
  constexpr std::string_view kVersion = " HTTP/1.x";
  const std::size_t method = SpanOf(line, kToken);
  if (method == 0 || method == line.size() || line[method] != ' ') {
    return false;
  }
  const std::string_view rest = line.substr(method + 1);
  const std::size_t target = SpanOf(rest, kTarget);
  if (target == 0 || rest.size() - target != kVersion.size()) {
    return false;
  }
  const std::string_view version = rest.substr(target);
  if (version != " HTTP/1.1" && version != " HTTP/1.0") {
    return false;
  }
  request_.method_text = line.substr(0, method);
  request_.method = MethodOf(request_.method_text);
  request_.target = rest.substr(0, target);
  request_.minor_version = version.back() - '0';
  return true;
}

bool Http1HeaderReader::ReadField(std::string_view line) {
  const std::size_t name = SpanOf(line, kToken);
  if (name == 0 || name == line.size() || line[name] != ':') {
    return false;
  }
  const std::string_view value = line.substr(name + 1);
  if (SpanOf(value, kValue) != value.size()) {
    return false;
  }
  const HttpField field{line.substr(0, name), Trim(value)};
  if (!Note(field)) {
    return false;
  }
  if (request_.fields.size() == max_fields_) {
    too_many_fields_ = true;
    return false;
  }
  request_.fields.push_back(field);
  return true;
}

// Keeps what says where the message or the connection ends. False: the field is malformed.
bool Http1HeaderReader::Note(const HttpField& field) {
  const auto is = [&](std::string_view name) { return EqualsIgnoreCase(field.name, name); };
  Seen* seen = nullptr;
  switch (field.name.size()) {  // No two of these names are of one length.
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

// A list of tokens, of which some may be empty (RFC 9110, 5.6.1).
bool Http1HeaderReader::ReadConnection(std::string_view list) {
  for (;;) {
    const std::size_t comma = std::min(list.find(','), list.size());
    const std::string_view option = Trim(list.substr(0, comma));
    if (SpanOf(option, kToken) != option.size()) {
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
