#include "command_words.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "base/display_text.h"
#include "command.h"
#include "option_facts.h"
#include "rules/spelling.h"

namespace sluice::app {

namespace {

std::vector<std::string_view> Views(const std::vector<std::string>& words) {
  return {words.begin(), words.end()};
}

std::string UnknownCommand(const CLI::App& app, std::string_view word) {
  std::vector<std::string> names;
  for (const Command* command : CommandsOf(app)) {
    names.push_back(command->get_name());
  }
  const std::string guess = rules::DidYouMean(word, Views(names));
  return FullName(app) + " has no command " + base::DisplayText(word) + guess +
         (guess.empty() ? "\n  the commands are " + rules::OneOf(Views(names)) : "") + "\n  " +
         FullName(app) + " --help describes them";
}

std::string UnknownOption(const CLI::App& app, std::string_view word) {
  std::vector<std::string> names;
  for (const OptionFacts& facts : FactsOf(app)) {
    names.insert(names.end(), facts.names.begin(), facts.names.end());
  }
  return FullName(app) + " has no option " + base::DisplayText(word) +
         rules::DidYouMean(word, Views(names)) + "\n  " + FullName(app) +
         " --help lists the options";
}

}  // namespace

std::string FindUnknownWord(const CLI::App& app, std::span<char* const> words) {
  const CLI::App* at = &app;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i];
    if (word == "--") {
      break;
    }
    if (word.starts_with("-") && word.size() > 1) {
      const std::string_view name = word.substr(0, word.find('='));
      const auto options = FactsOf(*at);
      const auto found = std::ranges::find_if(options, [name](const OptionFacts& facts) {
        return std::ranges::find(facts.names, name) != facts.names.end();
      });
      if (found == options.end()) {
        // CLI11 splits -ab and -n5; all options here are long, except -h.
        return word.starts_with("--") ? UnknownOption(*at, name) : "";
      }
      i += !found->is_flag() && name.size() == word.size() ? 1 : 0;
    } else if (const auto below = CommandsOf(*at); !below.empty()) {
      const auto found = std::ranges::find(below, word, &CLI::App::get_name);
      if (found == below.end()) {
        return UnknownCommand(*at, word);
      }
      at = *found;
    }
  }
  return "";
}

}  // namespace sluice::app
