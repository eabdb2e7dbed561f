#include "store/table_inspection.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fault.h"
#include "store/block_pool.h"
#include "store/key_copier.h"
#include "store/locked_file.h"
#include "store/mapping.h"
#include "store/monotonic_clock.h"
#include "store/slot_array.h"
#include "store/table_load.h"
#include "store/table_snapshot_reader.h"

namespace sluice::store {

namespace {

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (number_ >= 0) {
      close(number_);
    }
  }
  [[nodiscard]] int number() const { return number_; }

 private:
  int number_;
};

// Drops expired holds, and counts the rest.
class LiveKeys final : public KeySink {
 public:
  LiveKeys(KeySink& sink, TableInstant now) : sink_(sink), now_(NowSecond(now)) {}

  bool Take(const KeyImage& image, std::span<const std::byte> items) override {
    if (image.expiry != 0 && image.expiry <= now_) {
      return true;
    }
    if (image.expiry == 0) {
      --keys_;
    } else if (image.part == 0 && image.key() != last_) {
      ++keys_;
    }
    last_ = image.key();
    return sink_.Take(image, items);
  }
  [[nodiscard]] std::uint64_t keys() const { return keys_; }

 private:
  KeySink& sink_;
  std::uint32_t now_;
  Fingerprint last_;
  std::uint64_t keys_ = 0;
};

// The process that holds the lock on a file, from /proc/locks: "1: FLOCK ADVISORY WRITE 123
// 00:1a:42 ...". Asking for the lock ourselves could turn away a daemon that is just starting.
int HolderOf(const struct stat& status) {
  std::FILE* locks = std::fopen("/proc/locks", "re");
  if (locks == nullptr) {
    return 0;
  }
  int holder = 0;
  std::array<char, 256> line{};
  while (holder == 0 && std::fgets(line.data(), static_cast<int>(line.size()), locks) != nullptr) {
    int pid = 0;
    unsigned major = 0;
    unsigned minor = 0;
    unsigned long inode = 0;
    if (std::sscanf(line.data(), "%*d: FLOCK %*s %*s %d %x:%x:%lu", &pid, &major, &minor, &inode) ==
            4 &&
        inode == status.st_ino && major == gnu_dev_major(status.st_dev) &&
        minor == gnu_dev_minor(status.st_dev)) {
      holder = pid;
    }
  }
  std::fclose(locks);
  return holder;
}

// Reads the table's clock without changing its record.
void SetTime(const ClockRecord& record, TableInspection& about) {
  const base::ClockReading now = base::SystemClock().Read();
  ClockRecord copy;
  copy.boot_id = record.boot_id;
  copy.offset_ns = record.offset_ns.load();
  copy.last_monotonic_ns = record.last_monotonic_ns.load();
  copy.last_wall_clock_ns = record.last_wall_clock_ns.load();
  about.age = now.wall_clock - WallInstant(Duration(copy.last_wall_clock_ns.load()));
  about.now = MonotonicClock(copy, now, CurrentBootId(), false).Now(now).monotonic;
}

bool ReadAll(int file, std::span<std::byte> into) {
  for (std::size_t at = 0; at < into.size();) {
    const ssize_t got = pread(file, into.data() + at, into.size() - at, static_cast<off_t>(at));
    if (got == 0 || (got < 0 && errno != EINTR)) {
      return false;
    }
    at += static_cast<std::size_t>(std::max<ssize_t>(got, 0));
  }
  return true;
}

Result<TableInspection> InspectCopy(const std::string& path, int file, TableInspection about,
                                    KeySink& sink) {
  TableHeader header;
  const bool whole =
      pread(file, &header, sizeof(header), 0) == static_cast<ssize_t>(sizeof(header));
  if (std::string misfit =
          whole ? MisfitOf(header, about.file_bytes) : MisfitOf({}, about.file_bytes);
      !misfit.empty()) {
    return FileFault(path, std::move(misfit));
  }
  auto copy = Mapping::Anonymous(about.file_bytes, false);
  if (!copy) {
    return FileFault(path, "is " + std::to_string(about.file_bytes) +
                               " bytes, and there is no memory to read it into");
  }
  if (!ReadAll(file, copy->bytes())) {
    return FileFault(path, "was truncated while it was read");
  }
  const TableParts parts = TableParts::Of(copy->bytes(), TableLayout::Of(header.format.geometry));
  SetTime(parts.header->clock, about);
  auto recovered = Recover(parts);
  if (!recovered) {
    return FileFault(path, recovered.error().message);
  }
  if (about.held_by == 0) {
    about.requests_undone = recovered->requests_undone;
    about.chains_repaired = recovered->chains_repaired;
  }
  about.keys_made_for = header.format.geometry.homes * 4 / 5;
  about.slots = parts.slots.size();
  about.blocks = parts.blocks.size();
  about.rules.resize(kRulePlaces + 1);
  const RuleDirectory rules(parts.rules);
  for (std::size_t i = 1; i < about.rules.size(); ++i) {
    about.rules[i] = rules.IdOf(static_cast<std::uint16_t>(i));
  }
  BlockPool blocks(parts.blocks, recovered->blocks_in_use);
  about.blocks_in_use = blocks.in_use();
  TableCounters counters;
  SlotArray slots(parts.slots, header.format.geometry.homes, blocks, counters);
  LiveKeys live(sink, about.now);
  constexpr std::uint32_t kOwner = 1;
  (void)KeyCopier(slots, blocks, kOwner).CopyAll(about.now, live);
  about.keys = live.keys();
  return about;
}

Result<TableInspection> InspectSnapshot(const std::string& path, TableInspection about,
                                        KeySink& sink) {
  auto reader = SnapshotReader::Open(path);
  if (!reader) {
    return tl::unexpected(reader.error());
  }
  const SnapshotTail& tail = reader->tail();
  ClockRecord record;
  record.boot_id = tail.boot_id;
  record.offset_ns = tail.offset_ns;
  record.last_monotonic_ns = tail.monotonic_ns;
  record.last_wall_clock_ns = tail.wall_clock_ns;
  SetTime(record, about);
  const auto rules = reader->Rules();
  if (!rules) {
    return tl::unexpected(rules.error());
  }
  about.rules.resize(kRulePlaces + 1);
  for (const SnapshotRule& rule : *rules) {
    about.rules[rule.number] = std::string(rule.id.data(), rule.size);
  }
  about.is_snapshot = true;
  about.keys_made_for = reader->head().geometry.homes * 4 / 5;
  about.slots = reader->head().geometry.homes + kProbeBound;
  about.blocks = reader->head().geometry.blocks;
  LiveKeys live(sink, about.now);
  if (auto good = reader->Verify(live); !good) {
    return tl::unexpected(good.error());
  }
  about.keys = live.keys();
  return about;
}

}  // namespace

Result<TableInspection> InspectTable(const std::string& path, KeySink& sink) {
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat status{};
  if (file.number() < 0 || fstat(file.number(), &status) != 0) {
    return FileFault(path, "cannot be read (" + SystemWords(errno) + ")");
  }
  if (!S_ISREG(status.st_mode)) {
    return FileFault(path, "is not a regular file");
  }
  TableInspection about;
  about.file_bytes = static_cast<std::uint64_t>(status.st_size);
  std::array<char, 8> magic{};
  (void)pread(file.number(), magic.data(), magic.size(), 0);
  if (magic == kSnapshotMagic) {
    return InspectSnapshot(path, std::move(about), sink);
  }
  about.held_by = HolderOf(status);
  return InspectCopy(path, file.number(), std::move(about), sink);
}

}  // namespace sluice::store
