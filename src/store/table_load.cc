#include "store/table_load.h"

#include <cstring>
#include <memory>
#include <utility>

#include <unistd.h>

#include "base/fault.h"
#include "store/block.h"
#include "store/block_pool.h"
#include "store/key_copier.h"
#include "store/key_loader.h"
#include "store/monotonic_clock.h"
#include "store/slot_array.h"
#include "store/table_snapshot_reader.h"

namespace sluice::store {

namespace {

using Trouble = KeyLoader::Trouble;

// Reads only holds, because their places are claimed first.
class ClaimSink final : public KeySink {
 public:
  explicit ClaimSink(KeyLoader& loader) : loader_(loader) {}

  bool Take(const KeyImage& image, std::span<const std::byte> items) override {
    for (std::size_t i = 0; BlocksOf(image.kind) == BlockKind::kHolds && i < image.items; ++i) {
      Hold hold;
      std::memcpy(&hold, items.data() + i * sizeof(Hold), sizeof(Hold));
      loader_.Claim(hold.id);
    }
    return true;
  }

 private:
  KeyLoader& loader_;
};

std::string NoRoomFor(Trouble trouble, const TableParts& to) {
  const std::uint64_t keys = to.header->format.geometry.homes * 4 / 5;
  if (trouble == Trouble::kNoSlot) {
    return "has more keys in use than a table of " + std::to_string(keys) +
           " has room for: raise table.keys, or remove the file to start with every key at its "
           "full limit";
  }
  return "has more entries and holds in use than " + std::to_string(to.blocks.size()) +
         " blocks have room for: raise table.blocks, or remove the file to start with every key "
         "at its full limit";
}

void Wipe(const TableParts& to) {
  const TableFormat format = to.header->format;
  std::memset(to.bytes.data(), 0, to.bytes.size());
  to.header->format = format;
}

// Damage is an error whose place is the snapshot; a lack of room is one that says how to get more.
struct Attempt {
  Trouble trouble = Trouble::kNone;
  Error error;
};

Attempt LoadOne(const std::string& path, const TableParts& to, LoadReport& report) {
  const auto damage = [](Error error) {
    return Attempt{.trouble = Trouble::kDamage, .error = std::move(error)};
  };
  auto reader = SnapshotReader::Open(path);
  if (!reader) {
    return damage(reader.error());
  }
  KeyLoader loader(to);
  ClaimSink claims(loader);
  if (auto good = reader->Verify(claims); !good) {
    return damage(good.error());
  }
  const auto rules = reader->Rules();
  if (!rules) {
    return damage(rules.error());
  }
  if (auto loaded = reader->ForEachKey(loader); !loaded) {
    return damage(loaded.error());
  }
  if (loader.trouble() == Trouble::kDamage) {
    return damage({"is a damaged snapshot: remove it to start without it", {.file = path}});
  }
  if (loader.trouble() != Trouble::kNone) {
    return {.trouble = loader.trouble(),
            .error = {NoRoomFor(loader.trouble(), to), {.file = path}}};
  }
  for (const SnapshotRule& rule : *rules) {
    RulePlace& place = to.rules[rule.number - 1U];
    place.id = rule.id;
    place.size.store(rule.size, std::memory_order_relaxed);
  }
  const SnapshotTail& tail = reader->tail();
  to.header->secret = reader->head().secret;
  to.header->clock.boot_id = tail.boot_id;
  to.header->clock.offset_ns = tail.offset_ns;
  to.header->clock.last_monotonic_ns = tail.monotonic_ns;
  to.header->clock.last_wall_clock_ns = tail.wall_clock_ns;
  report.keys = loader.keys();
  report.from = path;
  report.blocks_in_use = loader.blocks_in_use();
  return {};
}

}  // namespace

Result<LoadReport> LoadSnapshot(const SnapshotFiles& files, const TableParts& to) {
  LoadReport report;
  if (files.newest.empty()) {
    return report;
  }
  for (const std::string& path : {files.newest, files.previous()}) {
    if (access(path.c_str(), F_OK) != 0) {
      continue;
    }
    Attempt attempt = LoadOne(path, to, report);
    if (attempt.trouble == Trouble::kNone) {
      return report;
    }
    if (attempt.trouble != Trouble::kDamage) {
      return tl::unexpected(std::move(attempt.error));
    }
    Wipe(to);
    report.warnings.push_back(attempt.error.Text());
  }
  if (report.warnings.empty()) {
    return report;
  }
  std::string all = "no snapshot of the table is valid";
  for (const std::string& warning : report.warnings) {
    all += "\n  " + warning;
  }
  return FileFault(files.newest, std::move(all));
}

bool HasGoodSnapshot(const SnapshotFiles& files) {
  class NullSink final : public KeySink {
   public:
    bool Take(const KeyImage&, std::span<const std::byte>) override { return true; }
  } sink;
  if (files.newest.empty()) {
    return false;
  }
  for (const std::string& path : {files.newest, files.previous()}) {
    auto reader = SnapshotReader::Open(path);
    if (reader && reader->Verify(sink)) {
      return true;
    }
  }
  return false;
}

Result<LoadReport> LoadTable(const TableParts& from, std::vector<bool> blocks_in_use,
                             const base::Clock& clock, const TableParts& to) {
  KeyLoader loader(to);
  for (std::size_t i = 0; i < from.blocks.size(); ++i) {
    const Block& block = from.blocks[i];
    for (std::uint32_t place = 0; place < kHoldsPerBlock; ++place) {
      if (blocks_in_use[i] && block.kind() == BlockKind::kHolds &&
          (block.first() & (1U << place)) != 0) {
        loader.Claim(block.hold(place).id);
      }
    }
  }
  MonotonicClock monotonic_clock(from.header->clock, clock.Read(), CurrentBootId(), false);
  const TableNow now = monotonic_clock.Now(clock.Read());
  BlockPool blocks(from.blocks, blocks_in_use);
  TableCounters counters;
  SlotArray slots(from.slots, from.header->format.geometry.homes, blocks, counters);
  constexpr std::uint32_t kOwner = 1;  // No other process has it open.
  if (!KeyCopier(slots, blocks, kOwner).CopyAll(now.monotonic, loader)) {
    const bool damaged = loader.trouble() == Trouble::kDamage;
    return tl::unexpected(Error{damaged
                                    ? "has invalid keys: remove the file to start with its last "
                                      "snapshot, or with every key at its full limit"
                                    : NoRoomFor(loader.trouble(), to),
                                {}});
  }
  for (std::size_t i = 0; i < from.rules.size(); ++i) {
    to.rules[i].id = from.rules[i].id;
    to.rules[i].size.store(from.rules[i].size.load(std::memory_order_relaxed),
                           std::memory_order_relaxed);
  }
  to.header->secret = from.header->secret;
  to.header->clock.boot_id = from.header->clock.boot_id;
  to.header->clock.offset_ns = from.header->clock.offset_ns.load();
  to.header->clock.last_monotonic_ns = from.header->clock.last_monotonic_ns.load();
  to.header->clock.last_wall_clock_ns = from.header->clock.last_wall_clock_ns.load();
  return LoadReport{
      .keys = loader.keys(), .from = {}, .warnings = {}, .blocks_in_use = loader.blocks_in_use()};
}

}  // namespace sluice::store
