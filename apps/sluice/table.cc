#include <array>
#include <bit>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <boost/json.hpp>
#include <fmt/format.h>

#include "command_line.h"
#include "core/bucket.h"
#include "core/fixed_window.h"
#include "core/sliding_window_counter.h"
#include "core/tally.h"
#include "core/throttle.h"
#include "exit_code.h"
#include "store/list_kind.h"
#include "store/table_inspection.h"

// sluice table: what operators see of a table's file, or of a snapshot, running or not.
namespace sluice::app {

namespace {

using core::Algorithm;
using store::KeyImage;

// A key of which all parts have come.
struct WholeKey {
  KeyImage image;  // Of the last part.
  std::uint64_t items = 0;
  Units units = 0;  // Of all items.
};

Units UnitsOf(const KeyImage& image, std::span<const std::byte> items) {
  Units units = 0;
  if (store::BlocksOf(image.kind) == store::BlockKind::kText) {
    return units;
  }
  const bool holds = store::BlocksOf(image.kind) == store::BlockKind::kHolds;
  const std::size_t size = holds ? sizeof(store::Hold) : sizeof(core::Entry);
  const std::size_t at = holds ? offsetof(store::Hold, units) : offsetof(core::Entry, units);
  for (std::size_t i = 0; i < image.items; ++i) {
    Units one = 0;
    std::memcpy(&one, items.data() + i * size + at, sizeof(one));
    units += one;
  }
  return units;
}

// Joins the parts of each key.
class WholeKeys : public store::KeySink {
 public:
  bool Take(const KeyImage& image, std::span<const std::byte> items) override {
    const bool more = has_ && image.key() == key_.image.key();
    if (!more) {
      End();
    }
    if (!more || image.part == 0) {
      key_ = {};
    }
    key_.image = image;
    key_.items += image.items;
    key_.units += UnitsOf(image, items);
    has_ = image.expiry != 0;
    return true;
  }
  // After the last part of all.
  void End() {
    if (std::exchange(has_, false)) {
      OnKey(key_);
    }
  }

 private:
  virtual void OnKey(const WholeKey& key) = 0;

  WholeKey key_;
  bool has_ = false;
};

Algorithm AlgorithmOf(const KeyImage& image) {
  return static_cast<Algorithm>(image.kind - 1);
}

// What a slot's kind is called.
std::string_view KindName(std::uint8_t kind) {
  if (kind == store::kMarkKind) {
    return "settled charge";
  }
  return kind == store::kBanKind ? "ban" : core::NameOf(static_cast<Algorithm>(kind - 1));
}

int Refuse(const Error& error) {
  std::fprintf(stderr, "sluice: %s\n", error.Text().c_str());
  return kExitNo;
}

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

std::string RuleName(const store::TableInspection& about, std::uint16_t number) {
  const std::string& name = about.rules[number];
  return name.empty() ? "(unknown)" : name;
}

int Info(const std::string& path) {
  ByRule by_rule;
  const auto about = store::InspectTable(path, by_rule);
  if (!about) {
    return Refuse(about.error());
  }
  by_rule.End();
  fmt::print("{}  {}, {:.1f} MiB\n", about->is_snapshot ? "snapshot" : "table   ", path,
             static_cast<double>(about->file_bytes) / (1U << 20U));
  if (!about->is_snapshot) {
    fmt::print("open by   {}\n",
               about->held_by == 0 ? "nobody" : "process " + std::to_string(about->held_by));
  }
  fmt::print("as of     {}\n", Ago(about->age));
  fmt::print("keys      {} of {} ({})\n", about->keys, about->keys_made_for,
             Percent(about->keys, about->keys_made_for));
  if (about->is_snapshot) {
    fmt::print("blocks    of {}\n", about->blocks);
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

int Verify(const std::string& path) {
  ByRule by_rule;
  const auto about = store::InspectTable(path, by_rule);
  if (!about) {
    return Refuse(about.error());
  }
  if (about->chains_repaired != 0) {
    fmt::print("{}: {} keys lead to blocks that are not theirs: some of their entries are lost\n",
               path, about->chains_repaired);
    return kExitNo;
  }
  if (about->requests_undone != 0) {
    fmt::print(
        "{}: {} requests were under way when the process ended; the next start undoes them\n", path,
        about->requests_undone);
  }
  fmt::print("{}: good, {} keys\n", path, about->keys);
  return kExitOk;
}

// Decimal: what JSON numbers cannot hold.
std::string Decimal(std::uint64_t high, std::uint64_t low) {
  auto number = (static_cast<store::Uint128>(high) << 64U) | low;
  std::string text;
  do {
    text.insert(text.begin(), static_cast<char>('0' + static_cast<int>(number % 10)));
    number /= 10;
  } while (number != 0);
  return text;
}

// A JSON object a line. Nothing in a table knows a key's text, so a key is named by its
// fingerprint, which is another one in another table.
class Dump final : public WholeKeys {
 public:
  void Print(const store::TableInspection& about) const {
    const std::int64_t now = about.now.time_since_epoch().count();
    for (const WholeKey& key : keys_) {
      fmt::print("{}\n", boost::json::serialize(Describe(key, now, about)));
    }
  }

 private:
  void OnKey(const WholeKey& key) override { keys_.push_back(key); }

  static boost::json::object Describe(const WholeKey& key, std::int64_t now,
                                      const store::TableInspection& about) {
    const KeyImage& image = key.image;
    const auto seconds_to = [now](std::int64_t ns) { return static_cast<double>(ns - now) / 1e9; };
    boost::json::object line{{"rule", RuleName(about, image.rule)},
                             {"algorithm", KindName(image.kind)},
                             {"key", fmt::format("{:016x}{:016x}", image.high, image.low)},
                             {"expires_in_s", std::int64_t{image.expiry} - now / 1'000'000'000},
                             {"heat", image.heat}};
    if (image.kind > store::KindOf(core::kTally)) {
      return line;
    }
    const bool is_tally = AlgorithmOf(image) == core::kTally;  // Has the state of a fixed window.
    switch (is_tally ? Algorithm::kFixedWindow : AlgorithmOf(image)) {
      case Algorithm::kTokenBucket:
      case Algorithm::kGcra:
      case Algorithm::kLeakyBucket: {
        const auto state = std::bit_cast<core::Bucket<TableTimeline>::State>(image.state);
        line["owed_unit_ns"] = Decimal(state.owed_high, state.owed_low);
        line["touched_s_ago"] = -seconds_to(state.touched_ns);
        break;
      }
      case Algorithm::kThrottle: {
        const auto state = std::bit_cast<core::Throttle<TableTimeline>::State>(image.state);
        line["owed_unit_ns"] = Decimal(state.owed_high, state.owed_low);
        line["window_s"] = state.window_s;
        line["touched_s_ago"] = -seconds_to(state.touched_ns);
        break;
      }
      case Algorithm::kFixedWindow: {
        const auto state = std::bit_cast<core::FixedWindow<TableTimeline>::State>(image.state);
        line["used"] = state.used;
        line["ends_in_s"] = seconds_to(state.end_line_ns);
        line["touched_s_ago"] = -seconds_to(state.touched_ns);
        break;
      }
      case Algorithm::kSlidingWindowCounter: {
        const auto state =
            std::bit_cast<core::SlidingWindowCounter<TableTimeline>::State>(image.state);
        line["previous"] = state.previous;
        line["current"] = state.current;
        line["touched_s_ago"] = -seconds_to(state.touched_ns);
        break;
      }
      case Algorithm::kSlidingWindowLog:
      case Algorithm::kSlidingWindow:
        line["used"] = key.units;
        line["entries"] = key.items;
        break;
      case Algorithm::kConcurrency:
        line["in_flight"] = key.units;
        line["holds"] = key.items;
        break;
    }
    return line;
  }

  std::vector<WholeKey> keys_;
};

int DumpAll(const std::string& path) {
  Dump dump;
  const auto about = store::InspectTable(path, dump);
  if (!about) {
    return Refuse(about.error());
  }
  dump.End();
  dump.Print(*about);
  return kExitOk;
}

}  // namespace

void AddTable(CLI::App& app, int& exit_code) {
  CLI::App* command =
      app.add_subcommand("table", "Look into a table's file, or into a snapshot of it");
  command->footer(
      "Reads only; a daemon may have the table open. Exit codes: 0 good, 1 not.\n"
      "Example: sluice table info /dev/shm/sluice-0-8080.table");
  command->require_subcommand(1);
  const auto add = [&](const char* name, const char* what, int (*run)(const std::string&)) {
    auto path = std::make_shared<std::string>();
    CLI::App* verb = command->add_subcommand(name, what);
    verb->add_option("file", *path, "A table (table.path) or a snapshot")->required();
    verb->callback([path, run, &exit_code] { exit_code = run(*path); });
  };
  add("info", "How full it is, how old, and which rules its keys belong to", Info);
  add("verify", "Whether a daemon could take it over", Verify);
  add("dump", "Every key that is not fresh, a JSON object a line", DumpAll);
}

}  // namespace sluice::app
