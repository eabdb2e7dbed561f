#include "command.h"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <sstream>
#include <string_view>
#include <utility>

#include "base/display_text.h"
#include "wire/url_encoding.h"

namespace sluice::app {

namespace {

std::string FooterOf(const CommandHelp& help) {
  std::string text = help.notes.empty() ? "" : Wrapped(help.notes) + "\n";
  if (!help.variables.empty()) {
    text += "Environment:\n";
    for (const Variable& variable : help.variables) {
      text += "  " + variable.name + "\n" + Wrapped(variable.what, "      ");
    }
    text += '\n';
  }
  text += "Exit codes: " + help.exit_codes + ".\n";
  text += help.examples.empty() ? "" : "\nExamples:\n";
  for (const Example& example : help.examples) {
    text += "  # " + example.what + "\n  " + example.line + "\n";
  }
  text.pop_back();  // The formatter ends the line.
  return text;
}

void AddServer(CLI::App& command, std::string& server, const char* url, const char* what,
               const char* variable) {
  server = url;
  command.add_option("--server", server, what)
      ->capture_default_str()
      ->type_name("URL")
      ->envname(variable);
}

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

Command::Command(const std::string& name, const std::string& title, CommandHelp help)
    : CLI::App(title, name), help_(std::move(help)) {
  footer(FooterOf(help_));
}

Command& AddCommand(CLI::App& parent, const std::string& name, const std::string& title,
                    CommandHelp help) {
  auto command = std::make_shared<Command>(name, title, std::move(help));
  Command& added = *command;
  parent.add_subcommand(std::move(command));
  return added;
}

std::vector<const Command*> CommandsOf(const CLI::App& app) {
  std::vector<const Command*> commands;
  for (const CLI::App* below : app.get_subcommands({})) {
    const auto* const command = dynamic_cast<const Command*>(below);
    if (command != nullptr && !command->get_group().empty()) {
      commands.push_back(command);
    }
  }
  return commands;
}

std::string FullName(const CLI::App& app) {
  const CLI::App* const parent = app.get_parent();
  return parent == nullptr ? app.get_name() : FullName(*parent) + " " + app.get_name();
}

std::string Wrapped(const std::string& text, const std::string& indent, std::size_t width) {
  std::string wrapped;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string filled;
    for (std::string word; words >> word;) {
      if (!filled.empty() && indent.size() + filled.size() + 1 + word.size() > width) {
        wrapped += indent + filled + '\n';
        filled.clear();
      }
      filled += (filled.empty() ? "" : " ") + word;
    }
    wrapped += filled.empty() ? "\n" : indent + filled + '\n';
  }
  return wrapped;
}

void AddServerOption(CLI::App& command, std::string& server) {
  AddServer(command, server, "http://127.0.0.1:8080", "The daemon's HTTP listener",
            "SLUICE_SERVER");
}

void AddAdminOption(CLI::App& command, std::string& server) {
  AddServer(command, server, "http://127.0.0.1:6070", "The daemon's admin listener",
            "SLUICE_ADMIN");
}

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

bool ReadAttributes(const std::vector<std::string>& words, std::vector<Attribute>& attributes) {
  for (const std::string& word : words) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos || equals == 0) {
      std::fprintf(stderr,
                   "sluice: %s is not an attribute: write key=value, such as user_id=u_42\n",
                   base::DisplayText(word).c_str());
      return false;
    }
    const std::string_view text = word;
    attributes.push_back({.name = text.substr(0, equals), .value = text.substr(equals + 1)});
  }
  return true;
}

std::string RequestTarget(std::string_view path, std::int64_t cost,
                          const std::vector<Attribute>& attributes) {
  std::string target(path);
  target += "?cost=" + std::to_string(cost);
  for (const Attribute& attribute : attributes) {
    target += '&';
    wire::AppendPercentEncoded(target, attribute.name);
    target += '=';
    wire::AppendPercentEncoded(target, attribute.value);
  }
  return target;
}

}  // namespace sluice::app
