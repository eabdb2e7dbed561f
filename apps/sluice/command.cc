#include "command.h"

#include <memory>
#include <sstream>
#include <utility>

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

}  // namespace sluice::app
