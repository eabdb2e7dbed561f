#include "rules/yaml_text.h"

#include <algorithm>
#include <cstddef>

#include "base/utf8.h"
#include "rules/yaml_node.h"

namespace sluice::rules {

namespace {

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

bool IsControl(char c) {
  return static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\r' && c != '\t';
}

std::string WithPlainLines(std::string_view text) {
  std::string plain;
  plain.reserve(text.size() + 1);
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\r') {
      plain += text[i];
    } else if (i + 1 == text.size() || text[i + 1] != '\n') {
      plain += '\n';
    }
  }
  if (!plain.ends_with('\n')) {
    plain += '\n';
  }
  return plain;
}

}  // namespace

std::optional<std::string> PlainYamlText(std::string_view text, const std::string& file,
                                         std::vector<Error>& problems) {
  if (text.size() > kMaxTextBytes) {
    problems.push_back(
        {"larger than " + std::to_string(kMaxTextBytes >> 20) + " MiB: split it into several files",
         {file, 0, 0}});
    return std::nullopt;
  }
  if (text.starts_with(kByteOrderMark)) {
    text.remove_prefix(kByteOrderMark.size());
  }
  int line = 1;
  std::size_t line_begin = 0;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t size = base::Utf8SequenceSize(text.substr(i, 4));
    if (size == 0 || IsControl(text[i])) {
      const std::string byte =
          "(byte " + std::to_string(static_cast<int>(static_cast<unsigned char>(text[i]))) + ")";
      problems.push_back({size == 0 ? "no UTF-8 " + byte + ": save the file as UTF-8 text"
                                    : "a control character " + byte +
                                          ": rule files are UTF-8 text; write \"\\x..\" in quotes",
                          {file, line, static_cast<int>(i - line_begin) + 1}});
      return std::nullopt;
    }
    if (text[i] == '\n' || (text[i] == '\r' && text.substr(i + 1, 1) != "\n")) {
      ++line;
      line_begin = i + 1;
    }
    i += size;
  }
  return WithPlainLines(text);
}

}  // namespace sluice::rules
