#include <cstdio>
#include <exception>

#include <CLI/CLI.hpp>

#include "command_line.h"
#include "exit_code.h"
#include "version.h"

namespace sluice::app {
namespace {

int Main(int argc, char** argv) {
  CLI::App app{"Sluice, a rate limiter: may this request go on?", "sluice"};
  app.set_version_flag("--version", std::string("sluice ") + kVersion);
  app.require_subcommand(1);
  app.fallthrough(false);
  int exit_code = kExitOk;
  AddServe(app, exit_code);
  AddCheck(app, exit_code);
  AddStatus(app, exit_code);
  AddValidate(app, exit_code);
  AddExplain(app, exit_code);
  AddReplay(app, exit_code);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kExitOk : kExitError;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "sluice: %s\n", error.what());
    return kExitError;
  }
  return exit_code;
}

}  // namespace
}  // namespace sluice::app

int main(int argc, char** argv) {
  return sluice::app::Main(argc, argv);
}
