#include "wire/json_writer.h"

#include <charconv>

#include "base/assert.h"
#include "base/display_text.h"
#include "base/utf8.h"

namespace sluice::wire {

namespace {

constexpr bool NeedsNoEscape(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte >= 0x20 && byte < 0x7f && c != '"' && c != '\\';
}

void AppendUnicodeEscape(std::string& out, unsigned code) {
  static constexpr char kHex[] = "0123456789abcdef";
  out.append("\\u");
  for (int shift = 12; shift >= 0; shift -= 4) {
    out.push_back(kHex[(code >> static_cast<unsigned>(shift)) & 15U]);
  }
}

// A character that is invisible, or that a terminal would interpret.
void AppendHidden(std::string& out, char32_t code) {
  if (code <= 0xffff) {
    AppendUnicodeEscape(out, code);
    return;
  }
  AppendUnicodeEscape(out, 0xd800U + ((code - 0x10000U) >> 10U));
  AppendUnicodeEscape(out, 0xdc00U + ((code - 0x10000U) & 0x3ffU));
}

void AppendEscape(std::string& out, char c) {
  switch (c) {
    case '"':
      out.append("\\\"");
      return;
    case '\\':
      out.append("\\\\");
      return;
    case '\n':
      out.append("\\n");
      return;
    case '\r':
      out.append("\\r");
      return;
    case '\t':
      out.append("\\t");
      return;
    default:
      AppendUnicodeEscape(out, static_cast<unsigned char>(c));
  }
}

}  // namespace

void AppendJsonString(std::string& out, std::string_view text) {
  out.push_back('"');
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && NeedsNoEscape(text[end])) {
      ++end;
    }
    out.append(text.substr(at, end - at));
    if (end == text.size()) {
      break;
    }
    at = end;
    if (static_cast<unsigned char>(text[at]) < 0x80) {
      AppendEscape(out, text[at++]);
    } else if (const std::size_t size = base::Utf8SequenceSize(text.substr(at)); size != 0) {
      const char32_t code = base::Utf8CodePoint(text.substr(at), size);
      if (base::IsDisplayable(code)) {
        out.append(text.substr(at, size));
      } else {
        AppendHidden(out, code);
      }
      at += size;
    } else {
      out.append("\xef\xbf\xbd");
      ++at;
    }
  }
  out.push_back('"');
}

void JsonWriter::Separate() {
  if (after_name_) {
    after_name_ = false;
    return;
  }
  const std::uint64_t bit = std::uint64_t{1} << depth_;
  if ((started_ & bit) != 0) {
    out_.push_back(',');
  }
  started_ |= bit;
}

JsonWriter& JsonWriter::Begin(char bracket) {
  Separate();
  out_.push_back(bracket);
  ++depth_;
  SLUICE_ASSERT(depth_ < 64);
  started_ &= ~(std::uint64_t{1} << depth_);
  return *this;
}

JsonWriter& JsonWriter::End(char bracket) {
  SLUICE_DCHECK(depth_ > 0 && !after_name_);
  --depth_;
  out_.push_back(bracket);
  return *this;
}

JsonWriter& JsonWriter::Name(std::string_view name) {
  Separate();
  out_.push_back('"');
  out_.append(name);
  out_.append("\":");
  after_name_ = true;
  return *this;
}

JsonWriter& JsonWriter::EscapedName(std::string_view name) {
  Separate();
  AppendJsonString(out_, name);
  out_.push_back(':');
  after_name_ = true;
  return *this;
}

JsonWriter& JsonWriter::Text(std::string_view text) {
  Separate();
  AppendJsonString(out_, text);
  return *this;
}

JsonWriter& JsonWriter::Number(std::int64_t number) {
  Separate();
  char digits[20];
  const auto [end, error] = std::to_chars(digits, digits + sizeof digits, number);
  out_.append(digits, end);
  return *this;
}

JsonWriter& JsonWriter::Truth(bool truth) {
  return Raw(truth ? "true" : "false");
}

JsonWriter& JsonWriter::Null() {
  return Raw("null");
}

JsonWriter& JsonWriter::Raw(std::string_view json) {
  Separate();
  out_.append(json);
  return *this;
}

void AppendProblemMembers(JsonWriter& json, const Problem& problem) {
  json.Name("type").Text(problem.type.empty() ? "about:blank" : problem.type);
  if (!problem.title.empty()) {
    json.Name("title").Text(problem.title);
  }
  if (problem.status != 0) {
    json.Name("status").Number(problem.status);
  }
  if (!problem.detail.empty()) {
    json.Name("detail").Text(problem.detail);
  }
  if (!problem.code.empty()) {
    json.Name("code").Text(problem.code);
  }
  if (!problem.violated_policies.empty()) {
    json.Name("violated-policies").BeginArray();
    for (const std::string_view policy : problem.violated_policies) {
      json.Text(policy);
    }
    json.EndArray();
  }
}

void AppendProblem(std::string& out, const Problem& problem) {
  JsonWriter json(out);
  json.BeginObject();
  AppendProblemMembers(json, problem);
  json.EndObject();
}

}  // namespace sluice::wire
