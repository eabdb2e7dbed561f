#include "store/table.h"

#include <algorithm>
#include <atomic>

#include <sys/random.h>

#include "base/assert.h"
#include "store/decide_one.h"
#include "store/recovery.h"
#include "store/request.h"

namespace sluice::store {

namespace {

// Why the header's table cannot be taken over; "" if it can.
std::string Misfit(const TableHeader& header, const TableFormat& expected) {
  constexpr const char* kFresh = ", or remove the file to start with every key fresh";
  const TableFormat& found = header.format;
  if (header.magic != kTableMagic) {
    return "is no table of Sluice: give table.path another name, or remove the file";
  }
  if (found.version != expected.version) {
    return "is a table of format " + std::to_string(found.version) + ", and this Sluice writes " +
           std::to_string(expected.version) + ": start the Sluice that made it" + kFresh;
  }
  if (found.geometry != expected.geometry) {
    return "is a table of " + std::to_string(found.geometry.homes * 4 / 5) + " keys and " +
           std::to_string(found.geometry.blocks) +
           " blocks: set table.keys and table.blocks to that" + kFresh;
  }
  if (found != expected) {
    return std::string("is a table of another build of Sluice: start the one that made it") +
           kFresh;
  }
  return "";
}

Result<void> StartHeader(TableHeader& header, const TableFormat& format) {
  header.format = format;
  if (getrandom(header.secret.data(), header.secret.size(), 0) !=
      static_cast<ssize_t>(header.secret.size())) {
    return tl::unexpected(Error{"the kernel gives no random bytes for the table's secret", {}});
  }
  return {};
}

Geometry GeometryOf(const TableOptions& options) {
  return {.homes = options.keys + (options.keys + 3) / 4,
          .blocks = options.blocks != 0 ? options.blocks : (options.keys + 3) / 4};
}

}  // namespace

std::uint64_t NextNonce() {
  // SplitMix64 over a counter of the thread's own, which starts at random.
  thread_local std::uint64_t state = [] {
    std::uint64_t seed = 0;
    if (getrandom(&seed, sizeof(seed), 0) != static_cast<ssize_t>(sizeof(seed))) {
      seed = reinterpret_cast<std::uintptr_t>(&state);  // Another for each thread.
    }
    return seed;
  }();
  std::uint64_t z = (state += 0x9E3779B97F4A7C15ULL);
  z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27U)) * 0x94D049BB133111EBULL;
  z ^= z >> 31U;
  return z == 0 ? 1 : z;
}

Result<std::unique_ptr<Table>> Table::Create(const TableOptions& options,
                                             const base::Clock& clock) {
  const Geometry geometry = GeometryOf(options);
  if (options.keys < 1 || options.keys > kMostKeys) {
    return tl::unexpected(Error{"table.keys must be 1 to " + std::to_string(kMostKeys)});
  }
  if (geometry.blocks > kMaxBlocks) {
    return tl::unexpected(Error{"table.blocks must be at most " + std::to_string(kMaxBlocks)});
  }
  const TableLayout layout = TableLayout::Of(geometry);
  auto mapping = options.path.empty()
                     ? Mapping::Anonymous(layout.bytes, options.huge_pages)
                     : Mapping::File(options.path, layout.bytes, options.huge_pages);
  if (!mapping) {
    return tl::unexpected(mapping.error());
  }
  const TableParts parts = TableParts::Of(mapping->bytes(), layout);
  const auto refuse = [&options](Error error) {
    error.place.file = options.path;
    return tl::unexpected(std::move(error));
  };
  RecoveryReport report;
  // A file whose first process was killed before it wrote the magic is begun again.
  const bool resumed = parts.header->magic != std::array<char, 8>{};
  if (resumed) {
    if (std::string misfit = Misfit(*parts.header, layout.format()); !misfit.empty()) {
      return refuse({std::move(misfit)});
    }
    auto recovered = Recover(parts);
    if (!recovered) {
      return refuse(recovered.error());
    }
    report = std::move(*recovered);
  } else if (auto started = StartHeader(*parts.header, layout.format()); !started) {
    return refuse(started.error());
  }
  std::unique_ptr<Table> table(
      new Table(std::move(*mapping), parts, options, report.blocks_in_use, clock, resumed));
  table->requests_undone_ = report.requests_undone;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  parts.header->magic = kTableMagic;
  return table;
}

Table::Table(Mapping mapping, const TableParts& parts, const TableOptions& options,
             const std::vector<bool>& blocks_in_use, const base::Clock& clock, bool resumed)
    : mapping_(std::move(mapping)),
      header_(parts.header),
      core_{.hash = KeyHash(parts.header->secret),
            .rules = RuleDirectory(parts.rules),
            .blocks = BlockPool(parts.blocks, blocks_in_use),
            .counters = {},
            .slots = SlotArray(parts.slots, parts.header->format.geometry.homes, core_.blocks,
                               core_.counters),
            .base = parts.bytes.data(),
            .journal = parts.journal,
            .when_full = options.when_full},
      clock_(clock),
      line_(header_->line, clock.Read(), CurrentBootId(), !resumed),
      leases_(std::make_shared<LeaseBook>(kMaxThreads)),
      resumed_(resumed) {}

Table::~Table() {
  (void)line_.Now(clock_.Read());
  leases_->Close();
}

bool Table::Begin(Turn& turn) {
  const int thread = ThreadNumber(leases_);
  if (thread < 0) {
    return false;
  }
  turn = {.now = line_.Now(clock_.Read()), .thread = static_cast<std::uint32_t>(thread)};
  return true;
}

bool Table::Begin(Turn& turn, StoreCall& call) {
  const bool begun = Begin(turn);
  call.error = begun ? StoreError::kNone : StoreError::kDidNotRun;
  call.now = turn.now.wall;
  return begun;
}

void Table::CheckMany(std::span<CheckCall* const> batch) {
  KeyRoom keys;
  Turn turn;
  bool begun = false;
  for (std::span<CheckCall* const> rest = batch; !rest.empty();) {
    const std::span<CheckCall* const> some = rest.first(HashSome(rest, keys));
    if (!begun && !Begin(turn)) {
      for (CheckCall* call : batch) {
        call->error = StoreError::kDidNotRun;
      }
      break;
    }
    begun = true;  // The clock was read once, and while the first cache lines were under way.
    DecideSome(turn, some, keys);
    rest = rest.subspan(some.size());
  }
  for (CheckCall* call : batch) {
    call->OnAnswered();
  }
}

// The first calls of `batch` that have kMaxChecksPerCall checks between them: hashes all
// their keys and asks for their cache lines, so that the batch waits for memory once and not
// each of its calls. Returns how many calls.
std::size_t Table::HashSome(std::span<CheckCall* const> batch, KeyRoom& keys) const {
  std::size_t count = 0;
  std::size_t calls = 0;
  for (; calls < batch.size(); ++calls) {
    CheckCall& call = *batch[calls];
    SLUICE_ASSERT(call.answers.size() == call.checks.size());
    if (call.checks.size() > kMaxChecksPerCall || call.idempotency != nullptr) {
      call.error = StoreError::kUnsupported;
      continue;
    }
    if (count + call.checks.size() > kMaxChecksPerCall) {
      break;
    }
    call.error = StoreError::kNone;
    for (const Check& check : call.checks) {
      const Fingerprint key = core_.hash.Of(check.key.rule, check.key, check.quota);
      core_.slots.Prefetch(key);
      keys.keys[count++] = key;
    }
  }
  return calls;
}

void Table::DecideSome(const Turn& turn, std::span<CheckCall* const> calls, const KeyRoom& keys) {
  const Fingerprint* key = keys.keys;
  for (CheckCall* call : calls) {
    call->now = turn.now.wall;
    if (call->error != StoreError::kNone) {
      continue;
    }
    if (IsPlain(*call)) {
      DecideOne(core_, turn, *call, *key);
    } else if (!call->checks.empty()) {
      Request(core_, turn, *call, {key, call->checks.size()}).Decide();
    }
    key += call->checks.size();
  }
}

std::uint64_t Table::Sweep() {
  const int thread = ThreadNumber(leases_);
  if (thread < 0) {
    return 0;
  }
  return core_.slots.Sweep(line_.Now(clock_.Read()).line, static_cast<std::uint32_t>(thread) + 1);
}

TableStats Table::Stats() {
  const auto read = [](const std::atomic<std::uint64_t>& counter) {
    return counter.load(std::memory_order_relaxed);
  };
  const TableCounters& counters = core_.counters;
  return {.slots = core_.slots.size(),
          .live_slots = core_.slots.CountLive(line_.Now(clock_.Read()).line),
          .inserts = read(counters.inserts),
          .reclaimed = read(counters.reclaimed),
          .evictions = read(counters.evictions),
          .block_evictions = read(counters.block_evictions),
          .full_denials = read(counters.full_denials),
          .full_allows = read(counters.full_allows),
          .blocks = core_.blocks.total(),
          .blocks_in_use = core_.blocks.in_use()};
}

}  // namespace sluice::store
