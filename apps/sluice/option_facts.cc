#include "option_facts.h"

#include <algorithm>
#include <sstream>
#include <string_view>

#include "command.h"

namespace sluice::app {

namespace {

// CLI11 puts choices into the type: "TEXT:{enforce,shadow,off}".
std::vector<std::string> ChoicesIn(std::string_view type) {
  std::vector<std::string> choices;
  const std::size_t begin = type.find(":{");
  const std::size_t end = type.find('}', begin == std::string_view::npos ? 0 : begin);
  if (begin == std::string_view::npos || end == std::string_view::npos) {
    return choices;
  }
  std::istringstream list(std::string(type.substr(begin + 2, end - begin - 2)));
  for (std::string choice; std::getline(list, choice, ',');) {
    choices.push_back(choice);
  }
  return choices;
}

}  // namespace

std::vector<OptionFacts> FactsOf(const CLI::App& command) {
  std::vector<OptionFacts> facts;
  for (const CLI::Option* option : command.get_options()) {
    OptionFacts each;
    for (const std::string& name : option->get_snames()) {
      each.names.push_back("-" + name);
    }
    for (const std::string& name : option->get_lnames()) {
      each.names.push_back("--" + name);
    }
    const bool takes_value = option->get_items_expected_max() > 0;
    const std::string type = takes_value ? option->get_type_name() : "";
    each.type = type.substr(0, std::min(type.find(":{"), type.find(":UINT in")));
    each.argument = option->get_positional() ? option->get_name(true) : each.type;
    each.choices = ChoicesIn(type);
    each.what = option->get_description();
    each.default_text = takes_value ? option->get_default_str() : "";
    each.variable = option->get_envname();
    each.required = option->get_required();
    each.repeats = option->get_items_expected_max() > 1;
    facts.push_back(std::move(each));
  }
  return facts;
}

std::string SynopsisOf(const CLI::App& command) {
  std::string text = FullName(command) + " [OPTIONS]";
  for (const OptionFacts& facts : FactsOf(command)) {
    if (facts.is_positional()) {
      const std::string name = facts.argument + (facts.repeats ? "..." : "");
      text += facts.required ? " " + name : " [" + name + "]";
    }
  }
  return text + (CommandsOf(command).empty() ? "" : " COMMAND");
}

}  // namespace sluice::app
