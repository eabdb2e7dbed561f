#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "command.h"
#include "command_line.h"
#include "store/block.h"
#include "store/table_inspection.h"
#include "table_keys.h"

// sluice table: inspects a table's file or a snapshot, also of a running daemon.
namespace sluice::app {

namespace {

std::string Percent(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? "-"
                    : fmt::format("{:.1f} %",
                                  100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

std::string Ago(Duration age) {
  return fmt::format("{:.1f} s ago", std::chrono::duration<double>(age).count());
}

class ByRule final : public WholeKeys {
 public:
  struct Line {
    std::uint64_t keys = 0;
    std::uint64_t items = 0;
  };
  [[nodiscard]] const auto& lines() const { return lines_; }

 private:
  void OnKey(const WholeKey& key) override {
    Line& line = lines_[{key.image.rule, key.image.kind}];
    ++line.keys;
    line.items += key.items;
  }

  std::map<std::pair<std::uint16_t, std::uint8_t>, Line> lines_;
};

Result<int> Info(const std::string& path) {
  ByRule by_rule;
  const auto about = store::InspectTable(path, by_rule);
  if (!about) {
    return tl::unexpected(about.error());
  }
  by_rule.End();
  fmt::print("{}  {}, {:.1f} MiB\n", about->is_snapshot ? "snapshot" : "table   ", path,
             static_cast<double>(about->file_bytes) / (1U << 20U));
  if (!about->is_snapshot) {
    fmt::print("open by   {}\n",
               about->held_by == 0 ? "no process" : "process " + std::to_string(about->held_by));
  }
  fmt::print("as of     {}\n", Ago(about->age));
  fmt::print("keys      {} of {} ({})\n", about->keys, about->keys_made_for,
             Percent(about->keys, about->keys_made_for));
  if (about->is_snapshot) {
    fmt::print("blocks    room for {}\n", about->blocks);
  } else {
    fmt::print("blocks    {} of {} ({})\n", about->blocks_in_use, about->blocks,
               Percent(about->blocks_in_use, about->blocks));
  }
  if (!by_rule.lines().empty()) {
    fmt::print("\n{:<32} {:<22} {:>12} {:>16}\n", "rule", "algorithm", "keys", "entries, holds");
  }
  for (const auto& [what, line] : by_rule.lines()) {
    fmt::print("{:<32} {:<22} {:>12} {:>16}\n", RuleName(*about, what.first), KindName(what.second),
               line.keys,
               store::HasList(what.second) && what.second != store::kBanKind
                   ? std::to_string(line.items)
                   : "-");
  }
  return kExitOk;
}

Result<int> Verify(const std::string& path) {
  ByRule by_rule;
  const auto about = store::InspectTable(path, by_rule);
  if (!about) {
    return tl::unexpected(about.error());
  }
  if (about->chains_repaired != 0) {
    fmt::print("{}: {} keys refer to blocks of other keys: some of their entries are lost\n", path,
               about->chains_repaired);
    return kExitNo;
  }
  if (about->requests_undone != 0) {
    fmt::print(
        "{}: {} requests were under way when the process ended; the next start undoes them\n", path,
        about->requests_undone);
  }
  fmt::print("{}: valid, {} keys\n", path, about->keys);
  return kExitOk;
}

Result<int> Dump(const std::string& path) {
  return DumpTable(path).map([] { return kExitOk; });
}

}  // namespace

void AddTable(CLI::App& app, int& exit_code) {
  Command& command =
      AddCommand(app, "table", "Inspect a table file or a snapshot",
                 {.notes = "info, verify and dump only read; a daemon may be using the table.",
                  .exit_codes = "0 valid, 1 not valid"});
  command.require_subcommand(1);
  const auto add = [&](const char* name, const char* what, const char* example,
                       Result<int> (*run)(const std::string&)) {
    auto path = std::make_shared<std::string>();
    Command& verb = AddCommand(
        command, name, what,
        {.exit_codes = "0 valid, 1 not valid",
         .examples = {{example, std::string("sluice table ") + name + " sluice.table"}}});
    verb.add_option("file", *path, "A table (table.path) or a snapshot")
        ->required()
        ->type_name("FILE");
    verb.callback([path, run, &exit_code] {
      const Result<int> done = run(*path);
      if (!done) {
        std::fprintf(stderr, "sluice: %s\n", done.error().Text().c_str());
      }
      exit_code = done.value_or(kExitNo);
    });
  };
  add("info", "Show occupancy, age, and keys by rule", "Show how full the table is", Info);
  add("verify", "Check whether a daemon could use the file", "Check a file before a daemon uses it",
      Verify);
  add("dump", "Print every key in use, one JSON object per line", "Every key", Dump);
  AddTableRestore(command, exit_code);
}

}  // namespace sluice::app
