#include "manual.h"

#include <algorithm>
#include <cctype>
#include <memory>
#include <sstream>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "command.h"
#include "version.h"

namespace sluice::app {

namespace {

// Escapes text for roff: no control lines, no escapes, ASCII hyphens.
std::string Roff(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    const bool starts_line = safe.empty() || safe.back() == '\n';
    if (starts_line && (c == '.' || c == '\'')) {
      safe += "\\&";
    }
    safe += c == '\\' ? "\\e" : c == '-' ? "\\-" : c == '\'' ? "\\(aq" : std::string(1, c);
  }
  return safe;
}

// As a macro's argument.
std::string Quoted(std::string_view text) {
  std::string safe = Roff(text);
  for (std::size_t at = 0; (at = safe.find('"', at)) != std::string::npos; at += 4) {
    safe.replace(at, 1, "\\(dq");
  }
  return '"' + safe + '"';
}

// roff prefers one sentence per line. Wrapped text is not like that, but one line per paragraph
// works.
std::string Paragraphs(const std::string& text) {
  std::string paragraphs;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    paragraphs += line.empty() ? ".PP\n" : Roff(line) + "\n";
  }
  return paragraphs;
}

std::string Sentence(const std::string& text) {
  return text.empty() || text.back() == '.' ? text : text + ".";
}

std::string HeadOf(const OptionFacts& facts) {
  std::string head = facts.is_positional() ? facts.argument + (facts.repeats ? " ..." : "")
                                           : fmt::format("{}", fmt::join(facts.names, ", "));
  if (!facts.is_positional() && !facts.is_flag()) {
    head += " " + facts.argument;
  }
  return head;
}

std::string TextOf(const OptionFacts& facts) {
  std::string text = Sentence(facts.what);
  if (!facts.choices.empty()) {
    text += fmt::format(" One of {}.", fmt::join(facts.choices, ", "));
  }
  if (!facts.default_text.empty()) {
    text += " Default: " + facts.default_text + ".";
  }
  if (!facts.variable.empty()) {
    text += " Environment: " + facts.variable + ".";
  }
  return text + (facts.required ? " Required." : "");
}

void AppendManualOptions(const CLI::App& app, bool positional, std::string& page) {
  for (const OptionFacts& facts : FactsOf(app)) {
    if (facts.is_positional() == positional) {
      page += ".TP\n.B " + Quoted(HeadOf(facts)) + "\n" + Roff(TextOf(facts)) + "\n";
    }
  }
}

bool HasPositional(const CLI::App& app) {
  return std::ranges::any_of(FactsOf(app), &OptionFacts::is_positional);
}

std::string PageName(const CLI::App& app) {
  std::string name = FullName(app);
  std::ranges::replace(name, ' ', '-');
  return name;
}

CommandHelp HelpOf(const CLI::App& app) {
  const auto* const command = dynamic_cast<const Command*>(&app);
  return command == nullptr ? CommandHelp() : command->help();
}

void AppendSynopsis(const CLI::App& app, std::string& page) {
  page += ".B " + Quoted(FullName(app)) + "\n" +
          Roff(SynopsisOf(app).substr(FullName(app).size() + 1)) + "\n";
}

// The commands below a command (table info) are on its own page.
void AppendManualCommands(const CLI::App& app, std::string& page) {
  const std::vector<const Command*> commands = CommandsOf(app);
  if (commands.empty()) {
    return;
  }
  page += ".SH COMMANDS\n";
  for (const Command* command : commands) {
    if (app.get_parent() == nullptr) {
      page += fmt::format(".TP\n.BR {} (1)\n{}\n", Roff(PageName(*command)),
                          Roff(Sentence(command->get_description())));
      continue;
    }
    page += ".SS " + Quoted(FullName(*command)) + "\n" +
            Roff(Sentence(command->get_description())) + "\n.PP\n";
    AppendSynopsis(*command, page);
    AppendManualOptions(*command, true, page);
    AppendManualOptions(*command, false, page);
  }
}

std::vector<Example> ExamplesOf(const CLI::App& app) {
  std::vector<Example> examples = HelpOf(app).examples;
  if (app.get_parent() != nullptr) {
    for (const Command* below : CommandsOf(app)) {
      const auto& more = below->help().examples;
      examples.insert(examples.end(), more.begin(), more.end());
    }
  }
  return examples;
}

void AppendSeeAlso(const CLI::App& app, std::string& page) {
  page += ".SH SEE ALSO\n";
  std::string also;
  const CLI::App& root = app.get_parent() == nullptr ? app : *app.get_parent();
  if (&root != &app) {
    also = ".BR sluice (1)";
  }
  for (const Command* command : CommandsOf(root)) {
    if (command != &app) {
      also += fmt::format("{}.BR {} (1)", also.empty() ? "" : ",\n", Roff(PageName(*command)));
    }
  }
  page += also + "\n";
}

void AppendMarkdown(const CLI::App& app, std::string& page) {
  const CommandHelp help = HelpOf(app);
  page += fmt::format("## {}\n\n{}\n\n```sh\n{}\n```\n\n", FullName(app),
                      Sentence(app.get_description()), SynopsisOf(app));
  if (!help.notes.empty()) {
    page += Wrapped(help.notes, "", 120) + "\n";
  }
  const std::vector<OptionFacts> all = FactsOf(app);
  page += "| option | meaning |\n| --- | --- |\n";
  for (const OptionFacts& facts : all) {
    std::string text = TextOf(facts);
    for (std::size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += 2) {
      text.insert(at, "\\");
    }
    page += fmt::format("| `{}` | {} |\n", HeadOf(facts), text);
  }
  page += '\n';
  if (!help.variables.empty()) {
    page += "| environment variable | meaning |\n| --- | --- |\n";
    for (const Variable& variable : help.variables) {
      page += fmt::format("| `{}` | {} |\n", variable.name, Sentence(variable.what));
    }
    page += '\n';
  }
  page += "Exit codes: " + help.exit_codes + ".\n\n";
  for (const Example& example : help.examples) {
    page += fmt::format("```sh\n# {}\n{}\n```\n\n", example.what, example.line);
  }
  for (const Command* below : CommandsOf(app)) {
    AppendMarkdown(*below, page);
  }
}

}  // namespace

std::string ManualPage(const CLI::App& app) {
  const CommandHelp help = HelpOf(app);
  std::string name = PageName(app);
  std::string title = name;
  std::ranges::transform(title, title.begin(), [](unsigned char c) { return std::toupper(c); });
  std::string what = app.get_description();
  what.front() = static_cast<char>(std::tolower(static_cast<unsigned char>(what.front())));
  std::string page =
      fmt::format(".TH {} 1 {} \"sluice {}\" \"Sluice Manual\"\n.SH NAME\n{} \\- {}\n",
                  Quoted(title), kReleaseDate, kVersion, Roff(name), Roff(what));
  page += ".SH SYNOPSIS\n";
  AppendSynopsis(app, page);
  page += ".SH DESCRIPTION\n" + Roff(Sentence(app.get_description())) + "\n";
  page += help.notes.empty() ? "" : ".PP\n" + Paragraphs(help.notes);
  AppendManualCommands(app, page);
  if (HasPositional(app)) {
    page += ".SH ARGUMENTS\n";
    AppendManualOptions(app, true, page);
  }
  page += ".SH OPTIONS\n";
  AppendManualOptions(app, false, page);
  if (!help.variables.empty()) {
    page += ".SH ENVIRONMENT\n";
    for (const Variable& variable : help.variables) {
      page += ".TP\n.B " + Quoted(variable.name) + "\n" + Roff(Sentence(variable.what)) + "\n";
    }
  }
  page += ".SH EXIT STATUS\n" + Roff(Sentence(help.exit_codes)) + "\n";
  const std::vector<Example> examples = ExamplesOf(app);
  page += examples.empty() ? "" : ".SH EXAMPLES\n";
  for (const Example& example : examples) {
    page += fmt::format("{}{}:\n.PP\n.nf\n.RS\n{}\n.RE\n.fi\n",
                        &example == examples.data() ? "" : ".PP\n", Roff(example.what),
                        Roff(example.line));
  }
  AppendSeeAlso(app, page);
  return page;
}

std::string MarkdownReference(const CLI::App& app) {
  std::string page =
      "# Command line\n\n"
      "`sluice manual --markdown` writes this page from the texts of `sluice COMMAND --help`. The "
      "examples run in a test.\n\n";
  AppendMarkdown(app, page);
  while (page.ends_with("\n\n")) {
    page.pop_back();
  }
  return page;
}

}  // namespace sluice::app
