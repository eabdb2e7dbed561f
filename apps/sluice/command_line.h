#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "sluice/attribute.h"

namespace sluice::app {

// Each adds one subcommand. If the user chose it, it runs during parsing and stores the program's
// exit code in `exit_code`, which outlives `app`.
void AddServe(CLI::App& app, int& exit_code);
void AddCheck(CLI::App& app, int& exit_code);
void AddStatus(CLI::App& app, int& exit_code);
void AddValidate(CLI::App& app, int& exit_code);
void AddExplain(CLI::App& app, int& exit_code);
void AddKey(CLI::App& app, int& exit_code);
void AddReplay(CLI::App& app, int& exit_code);
void AddSuggest(CLI::App& app, int& exit_code);
void AddTable(CLI::App& app, int& exit_code);
void AddMode(CLI::App& app, int& exit_code);
void AddKillSwitch(CLI::App& app, int& exit_code);
void AddShadowReport(CLI::App& app, int& exit_code);
void AddReset(CLI::App& app, int& exit_code);
void AddRefund(CLI::App& app, int& exit_code);
void AddBans(CLI::App& app, int& exit_code);
void AddEnvoy(CLI::App& app, int& exit_code);
void AddUnban(CLI::App& app, int& exit_code);
void AddRelease(CLI::App& app, int& exit_code);
void AddInit(CLI::App& app, int& exit_code);
void AddCompletion(CLI::App& app, int& exit_code);
void AddManual(CLI::App& app, int& exit_code);
void AddHealth(CLI::App& app, int& exit_code);

// Parses the key=value words of a command line. False, with a message on stderr, if one has no '='
// or nothing before it. The attributes are views of `words`.
[[nodiscard]] bool ReadAttributes(const std::vector<std::string>& words,
                                  std::vector<Attribute>& attributes);

}  // namespace sluice::app
