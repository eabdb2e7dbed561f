#include "control/rule_text.h"

#include <algorithm>
#include <vector>

#include "wire/json_writer.h"
#include "yaml/tree.h"

namespace sluice::control {

namespace {

// Whether plain text is a JSON number: digits, or digits with a fraction.
bool IsNumber(std::string_view text) {
  if (text.starts_with('-')) {
    text.remove_prefix(1);
  }
  const std::size_t point = text.find('.');
  const auto digits = [](std::string_view part) {
    return !part.empty() &&
           std::all_of(part.begin(), part.end(), [](char c) { return c >= '0' && c <= '9'; });
  };
  const std::string_view whole = text.substr(0, point);
  return digits(whole) && (whole == "0" || !whole.starts_with('0')) &&
         (point == std::string_view::npos || digits(text.substr(point + 1)));
}

// The maximum depth of a yaml::Tree, which is less than a JsonWriter's.
void Write(const yaml::Node& node, wire::JsonWriter& json) {  // NOLINT(misc-no-recursion)
  switch (node.kind) {
    case yaml::Node::Kind::kNull:
      json.Null();
      return;
    case yaml::Node::Kind::kText:
      if (!node.quoted && (IsNumber(node.text) || node.text == "true" || node.text == "false")) {
        json.Raw(node.text);
      } else {
        json.Text(node.text);
      }
      return;
    case yaml::Node::Kind::kList:
      json.BeginArray();
      for (const yaml::Node* item : node.items) {
        Write(*item, json);
      }
      json.EndArray();
      return;
    case yaml::Node::Kind::kMap:
      json.BeginObject();
      for (std::size_t i = 0; i < node.pair_count(); ++i) {
        json.EscapedName(node.key(i).text);
        Write(node.value(i), json);
      }
      json.EndObject();
      return;
  }
}

const yaml::Node* Member(const yaml::Node& map, std::string_view name) {
  for (std::size_t i = 0; map.is_map() && i < map.pair_count(); ++i) {
    if (map.key(i).text == name) {
      return &map.value(i);
    }
  }
  return nullptr;
}

}  // namespace

std::string RuleText(const rules::SourceText& source, std::string_view id) {
  std::vector<Error> problems;
  const yaml::Tree tree(source.text, source.name, problems);
  const yaml::Node* const list = Member(tree.root(), "rules");
  if (list != nullptr && list->is_list()) {
    for (const yaml::Node* rule : list->items) {
      const yaml::Node* const own = Member(*rule, "id");
      if (own != nullptr && own->is_text() && own->text == id) {
        std::string text;
        wire::JsonWriter json(text);
        Write(*rule, json);
        return text;
      }
    }
  }
  return "{}";
}

}  // namespace sluice::control
