#include "yaml/tree.h"

#include <algorithm>
#include <cstddef>
#include <unordered_map>

#include "base/utf8.h"
#include "yaml/parser.h"

namespace sluice::yaml {

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

std::optional<std::string> PlainText(std::string_view text, const std::string& file,
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
      problems.push_back({size == 0 ? "not UTF-8 " + byte + ": save the file as UTF-8 text"
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

namespace {

void AddFault(const Parser& parser, const std::string& file, std::vector<Error>& problems) {
  if (const auto& fault = parser.fault()) {
    problems.push_back({fault->message, {file, fault->line, fault->column + 1}});
  }
}

void CheckKeys(const Node& map, const std::string& file, std::vector<Error>& problems) {
  std::unordered_map<std::string_view, int> seen;
  for (std::size_t i = 0; i < map.pair_count(); ++i) {
    const Node& key = map.key(i);
    const auto fail = [&](std::string message) {
      problems.push_back({std::move(message), {file, key.line, key.column}});
    };
    if (key.is_null()) {
      fail("a key is empty or null: write it in quotes");
    } else if (!key.is_text()) {
      fail(
          "a key must be a plain word, not a list or a map: put a text that begins with { or [ in "
          "quotes");
    } else if (key.text == "<<" && !key.quoted) {
      fail("merge keys (<<) are not supported: write the fields out");
    } else if (const auto [first, fresh] = seen.try_emplace(key.text, key.line); !fresh) {
      fail("key " + key.text + " is given twice (first in line " + std::to_string(first->second) +
           "): remove one of them");
    }
  }
}

}  // namespace

Tree::Tree(std::string_view text, const std::string& file, std::vector<Error>& problems) {
  root_ = &nodes_.emplace_back();
  const auto plain = PlainText(text, file, problems);
  if (!plain) {
    return;
  }
  Parser parser(*plain, {}, nodes_);
  const Node* const root = parser.ReadDocument();
  if (root == nullptr) {
    AddFault(parser, file, problems);
    return;
  }
  root_ = root;
  for (const Node& node : nodes_) {
    if (node.is_map()) {
      CheckKeys(node, file, problems);
    }
  }
  if (parser.ReadDocument() != nullptr) {
    problems.push_back({"a second YAML document begins (---): a source holds one",
                        {file, parser.document_line(), 1}});
  }
  AddFault(parser, file, problems);
}

ForeignTree::ForeignTree(std::string_view text, const std::string& file,
                         std::vector<Error>& problems) {
  root_ = &nodes_.emplace_back();
  const auto plain = PlainText(text, file, problems);
  if (!plain) {
    return;
  }
  Parser parser(*plain, {.any_flow_indent = true, .any_tag = true}, nodes_);
  if (const Node* const root = parser.ReadDocument()) {
    root_ = root;
  }
  AddFault(parser, file, problems);
}

}  // namespace sluice::yaml
