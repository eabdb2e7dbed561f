#pragma once

#include <cstdint>

#include <CLI/CLI.hpp>

namespace sluice::app {

// Exit codes of subcommands, for scripts. A wrong command line gives 2 too.
enum ExitCode : std::uint8_t {
  kExitOk = 0,     // Allowed; valid; done.
  kExitNo = 1,     // Denied; invalid.
  kExitError = 2,  // No result.
};

// Each adds one subcommand. If the user chose it, it runs during parsing and stores the program's
// exit code in `exit_code`, which outlives `app`.
void AddServe(CLI::App& app, int& exit_code);
void AddCheck(CLI::App& app, int& exit_code);
void AddStatus(CLI::App& app, int& exit_code);
void AddWhy(CLI::App& app, int& exit_code);
void AddValidate(CLI::App& app, int& exit_code);
void AddDoctor(CLI::App& app, int& exit_code);
void AddExplain(CLI::App& app, int& exit_code);
void AddKey(CLI::App& app, int& exit_code);
void AddReplay(CLI::App& app, int& exit_code);
void AddSuggest(CLI::App& app, int& exit_code);
void AddTable(CLI::App& app, int& exit_code);
void AddTableRestore(CLI::App& table, int& exit_code);
void AddMode(CLI::App& app, int& exit_code);
void AddKillSwitch(CLI::App& app, int& exit_code);
void AddTop(CLI::App& app, int& exit_code);
void AddShadowReport(CLI::App& app, int& exit_code);
void AddReset(CLI::App& app, int& exit_code);
void AddRefund(CLI::App& app, int& exit_code);
void AddBans(CLI::App& app, int& exit_code);
void AddDecisions(CLI::App& app, int& exit_code);
void AddTrace(CLI::App& app, int& exit_code);
void AddEnvoy(CLI::App& app, int& exit_code);
void AddUnban(CLI::App& app, int& exit_code);
void AddRelease(CLI::App& app, int& exit_code);
void AddInit(CLI::App& app, int& exit_code);
void AddCompletion(CLI::App& app, int& exit_code);
void AddManual(CLI::App& app, int& exit_code);
void AddHealth(CLI::App& app, int& exit_code);

}  // namespace sluice::app
