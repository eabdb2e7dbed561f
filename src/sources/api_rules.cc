#include "sources/api_rules.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "base/fault.h"
#include "sources/files.h"
#include "yaml/tree.h"

namespace sluice::sources {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kEnding = ".json";
constexpr std::size_t kMaxIdBytes = 64;

constexpr std::size_t kEscapeBytes = 6;

// The unit of UTF-16 that `text` begins with, as JSON writes it (\ud83d); none.
std::optional<std::uint32_t> EscapedUnit(std::string_view text) {
  std::uint32_t unit = 0;
  if (text.size() < kEscapeBytes || !text.starts_with("\\u")) {
    return std::nullopt;
  }
  const char* const end = text.data() + kEscapeBytes;
  const auto [stop, error] = std::from_chars(text.data() + 2, end, unit, 16);
  return error == std::errc() && stop == end ? std::optional(unit) : std::nullopt;
}

// The JSON text as YAML reads it. Two things differ: JSON allows tabs between its tokens, and it
// escapes a character above U+FFFF as two units, where YAML has \U0001f600.
std::string AsYaml(std::string_view body) {
  std::string text;
  text.reserve(body.size());
  for (std::size_t i = 0; i < body.size(); ++i) {
    if (body[i] != '\\') {
      text += body[i] == '\t' ? ' ' : body[i];
      continue;
    }
    const auto high = EscapedUnit(body.substr(i));
    const auto low = high ? EscapedUnit(body.substr(i + kEscapeBytes)) : std::nullopt;
    if (high && low && *high >= 0xd800 && *high < 0xdc00 && *low >= 0xdc00 && *low < 0xe000) {
      text += fmt::format("\\U{:08x}", 0x10000 + ((*high - 0xd800) << 10U) + (*low - 0xdc00));
      i += 2 * kEscapeBytes - 1;
    } else {
      text.append(body.substr(i++, 2));  // The escaped character may be a backslash itself.
    }
  }
  return text;
}

}  // namespace

bool IsRuleId(std::string_view id) {
  return !id.empty() && id.size() <= kMaxIdBytes && std::all_of(id.begin(), id.end(), [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
  });
}

std::string RuleDocument(std::string_view id, std::string_view body, rules::Findings& findings) {
  rules::Reporter report("", findings);
  const std::string text = AsYaml(body);
  const std::size_t brace = text.find_first_not_of(" \r\n");
  if (brace == std::string::npos || text[brace] != '{') {
    report.Fail(1, 1, "a rule is a JSON object, as in {\"key_pattern\": \"user:{user_id}\", ...}");
    return "";
  }
  // By itself first: only what is one object cannot reach beyond the place it is put in.
  const yaml::Tree tree(text, "", findings.errors);
  if (!findings.errors.empty()) {
    return "";
  }
  const yaml::Node& root = tree.root();
  if (!root.is_map()) {
    report.Fail(root, "a rule is one JSON object");
    return "";
  }
  for (std::size_t i = 0; i < root.pair_count(); ++i) {
    if (root.key(i).text == "id") {
      if (!root.value(i).is_text() || root.value(i).text != id) {
        report.Fail(root.value(i), "id is not the one in the path, " + std::string(id) +
                                       ": make them agree or leave it out");
        return "";
      }
      return "{\"rules\": [\n" + text + "\n]}\n";
    }
  }
  std::string document = "{\"rules\": [{\"id\": \"" + std::string(id) + '"';
  document += root.pair_count() == 0 ? "\n" : ",\n";
  const std::size_t begin = document.size();
  document += text;
  document[begin + brace] = ' ';
  return document + "\n]}\n";
}

std::string ApiRules::PathOf(std::string_view id) const {
  return (fs::path(folder_) / (std::string(id) + std::string(kEnding))).string();
}

Result<void> ApiRules::Load() {
  Documents found;
  if (!is_kept()) {
    return {};
  }
  std::error_code error;
  fs::directory_iterator at(folder_, error);
  if (error) {
    return error == std::errc::no_such_file_or_directory
               ? Result<void>()
               : FileFault(folder_, "cannot be read: " + error.message());
  }
  for (; !error && at != fs::directory_iterator(); at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (name.size() <= kEnding.size() || !name.ends_with(kEnding) ||
        !IsRuleId(std::string_view(name).substr(0, name.size() - kEnding.size()))) {
      continue;
    }
    auto text = ReadFile(at->path().string());
    if (!text) {
      return tl::unexpected(std::move(text.error()));
    }
    found.emplace(name.substr(0, name.size() - kEnding.size()), *std::move(text));
  }
  if (error) {
    return FileFault(folder_, "cannot be read: " + error.message());
  }
  documents_ = std::move(found);
  return {};
}

std::vector<rules::SourceText> ApiRules::Sources(const Documents& documents) const {
  std::vector<rules::SourceText> sources;
  sources.reserve(documents.size());
  for (const auto& [id, text] : documents) {
    sources.push_back({.name = "api:" + (is_kept() ? PathOf(id) : id), .text = text});
  }
  return sources;
}

Result<void> ApiRules::Put(const std::string& id, const std::string& document) {
  if (is_kept()) {
    if (auto written = WriteDurably(PathOf(id), document); !written) {
      return written;
    }
  }
  documents_.insert_or_assign(id, document);
  return {};
}

Result<void> ApiRules::Erase(const std::string& id) {
  if (is_kept()) {
    if (auto removed = RemoveDurably(PathOf(id)); !removed) {
      return removed;
    }
  }
  documents_.erase(id);
  return {};
}

}  // namespace sluice::sources
