#include <algorithm>
#include <cstdio>
#include <functional>
#include <memory>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "command.h"
#include "command_line.h"

namespace sluice::app {

namespace {

void ForEach(const CLI::App& app, const std::function<void(const CLI::App&)>& visit) {
  visit(app);
  for (const Command* command : CommandsOf(app)) {
    ForEach(*command, visit);
  }
}

std::vector<std::string> NamesBelow(const CLI::App& app) {
  std::vector<std::string> names;
  for (const Command* command : CommandsOf(app)) {
    names.push_back(command->get_name());
  }
  return names;
}

// The completion of a value.
std::string BashValues(const OptionFacts& facts) {
  if (!facts.choices.empty()) {
    return fmt::format("compgen -W \"{}\" -- \"$current\"", fmt::join(facts.choices, " "));
  }
  return facts.is_file() ? "compgen -f -- \"$current\"" : "true";
}

std::string BashCompletion(const CLI::App& app) {
  std::string paths;
  std::string words;
  std::string values;
  ForEach(app, [&](const CLI::App& command) {
    const std::string path = FullName(command);
    if (command.get_parent() != nullptr) {
      paths += fmt::format("{}\"{}\"", paths.empty() ? "" : " | ", path);
    }
    std::vector<std::string> options;
    std::vector<std::string> others = NamesBelow(command);
    bool files = false;
    for (const OptionFacts& facts : FactsOf(command)) {
      options.insert(options.end(), facts.names.begin(), facts.names.end());
      if (facts.is_positional()) {
        others.insert(others.end(), facts.choices.begin(), facts.choices.end());
        files = files || facts.is_file();
      } else if (!facts.is_flag()) {
        for (const std::string& name : facts.names) {
          values += fmt::format("    \"{} {}\") replies=$({}) ;;\n", path, name, BashValues(facts));
        }
      }
    }
    words += fmt::format("    \"{}\") options=\"{}\" others=\"{}\" files={} ;;\n", path,
                         fmt::join(options, " "), fmt::join(others, " "), files ? 1 : 0);
  });
  return fmt::format(R"(# bash completion for sluice, written by: sluice completion bash
_sluice() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD - 1]}}
  local path=sluice options="" others="" files=0 replies="" i
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$path ${{COMP_WORDS[i]}}" in
      {}) path="$path ${{COMP_WORDS[i]}}" ;;
    esac
  done
  case "$path" in
{}  esac
  case "$path $previous" in
{}    *)
      if [[ $current == -* ]]; then
        replies=$(compgen -W "$options" -- "$current")
      else
        replies=$(compgen -W "$others" -- "$current")
        [[ $files -eq 0 ]] || replies+=$'\n'$(compgen -f -- "$current")
      fi
      ;;
  esac
  COMPREPLY=()
  while IFS= read -r i; do
    [[ -z $i ]] || COMPREPLY+=("$i")
  done <<<"$replies"
}}
complete -o filenames -F _sluice sluice
)",
                     paths, words, values);
}

// `text` within [...] of _arguments and within '...'.
std::string ZshText(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    if (c == '\'') {
      safe += "'\\''";
    } else {
      safe +=
          c == '[' || c == ']' || c == ':' || c == '\\' ? std::string("\\") + c : std::string(1, c);
    }
  }
  return safe;
}

std::string ZshAction(const OptionFacts& facts) {
  if (!facts.choices.empty()) {
    return fmt::format("({})", fmt::join(facts.choices, " "));
  }
  return facts.is_file() ? "_files" : " ";
}

std::string ZshCompletion(const CLI::App& app) {
  std::string functions;
  ForEach(app, [&](const CLI::App& command) {
    std::string body;
    for (const OptionFacts& facts : FactsOf(command)) {
      for (const std::string& name : facts.names) {
        body += fmt::format(
            " \\\n    '{}{}[{}]{}'", facts.repeats ? "*" : "", name, ZshText(facts.what),
            facts.is_flag() ? ""
                            : fmt::format(":{}:{}", ZshText(facts.argument), ZshAction(facts)));
      }
      if (facts.is_positional()) {
        body += fmt::format(" \\\n    '{}:{}:{}'", facts.repeats ? "*" : "",
                            ZshText(facts.argument), ZshAction(facts));
      }
    }
    std::string name = FullName(command);
    std::ranges::replace(name, ' ', '_');
    const std::vector<const Command*> below = CommandsOf(command);
    if (below.empty()) {
      functions += fmt::format("_{}() {{\n  _arguments{}\n}}\n\n", name, body);
      return;
    }
    std::string list;
    for (const Command* each : below) {
      list += fmt::format("\n        '{}:{}'", each->get_name(), ZshText(each->get_description()));
    }
    functions += fmt::format(R"(_{0}() {{
  local curcontext=$curcontext state
  local -a commands
  _arguments -C{1} \
    '1: :->command' '*:: :->rest'
  case $state in
    command)
      commands=({2})
      _describe command commands
      ;;
    rest)
      (( $+functions[_{0}_$words[1]] )) && _{0}_$words[1]
      ;;
  esac
}}

)",
                             name, body, list);
  });
  return "#compdef sluice\n# zsh completion for sluice, written by: sluice completion zsh\n\n" +
         functions + "_sluice \"$@\"\n";
}

std::string FishText(std::string_view text) {
  std::string safe = "'";
  for (const char c : text) {
    safe += c == '\'' || c == '\\' ? std::string("\\") + c : std::string(1, c);
  }
  return safe + "'";
}

// The condition that fish is at this command, and at no subcommand yet.
std::string FishCondition(const CLI::App& command) {
  const std::string below =
      CommandsOf(command).empty()
          ? ""
          : fmt::format("not __fish_seen_subcommand_from {}", fmt::join(NamesBelow(command), " "));
  std::string condition;
  for (const CLI::App* at = &command; at->get_parent() != nullptr; at = at->get_parent()) {
    condition = fmt::format("__fish_seen_subcommand_from {}{}", at->get_name(),
                            condition.empty() ? "" : "; and " + condition);
  }
  return condition.empty() ? below : condition + (below.empty() ? "" : "; and " + below);
}

std::string FishCompletion(const CLI::App& app) {
  std::string text =
      "# fish completion for sluice, written by: sluice completion fish\ncomplete -c sluice -f\n";
  ForEach(app, [&](const CLI::App& command) {
    const std::string begin = "complete -c sluice -n " + FishText(FishCondition(command)) + " ";
    for (const Command* below : CommandsOf(command)) {
      text += fmt::format("{}-a {} -d {}\n", begin, below->get_name(),
                          FishText(below->get_description()));
    }
    for (const OptionFacts& facts : FactsOf(command)) {
      if (facts.is_positional()) {
        if (!facts.choices.empty()) {
          text += fmt::format("{}-a {}\n", begin,
                              FishText(fmt::format("{}", fmt::join(facts.choices, " "))));
        } else if (facts.is_file()) {
          text += begin + "-F\n";
        }
        continue;
      }
      std::string line = begin;
      for (const std::string& name : facts.names) {
        line +=
            name.starts_with("--") ? "-l " + name.substr(2) + " " : "-s " + name.substr(1) + " ";
      }
      if (!facts.choices.empty()) {
        line += "-x -a " + FishText(fmt::format("{}", fmt::join(facts.choices, " "))) + " ";
      } else if (!facts.is_flag()) {
        line += facts.is_file() ? "-r -F " : "-x ";
      }
      text += line + "-d " + FishText(facts.what) + "\n";
    }
  });
  return text;
}

// A shell's completion script for commands, options, choices and files, derived from `app`, the
// root command. `shell`: bash, zsh or fish; "" for any other.
std::string CompletionScript(const CLI::App& app, std::string_view shell) {
  if (shell == "bash") {
    return BashCompletion(app);
  }
  if (shell == "zsh") {
    return ZshCompletion(app);
  }
  return shell == "fish" ? FishCompletion(app) : "";
}

}  // namespace

void AddCompletion(CLI::App& app, int& exit_code) {
  auto shell = std::make_shared<std::string>();
  Command& command =
      AddCommand(app, "completion", "Print a shell's completion script",
                 {.notes = "The script completes commands, options, their choices and file names. "
                           "Packages and cmake --install install it where shells look for it.",
                  .examples = {{"Complete sluice in this bash", "source <(sluice completion bash)"},
                               {"Install the script for fish",
                                "mkdir -p ~/.config/fish/completions && sluice completion fish "
                                "> ~/.config/fish/completions/sluice.fish"}}});
  command.add_option("shell", *shell, "The shell")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  command.callback([shell, &app, &exit_code] {
    std::fputs(CompletionScript(app, *shell).c_str(), stdout);
    exit_code = kExitOk;
  });
}

}  // namespace sluice::app
