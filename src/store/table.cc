#include "store/table.h"

#include <algorithm>
#include <atomic>

#include "base/assert.h"
#include "store/decide_one.h"
#include "store/key_guard.h"
#include "store/request.h"
#include "store/table_open.h"

namespace sluice::store {

Result<std::unique_ptr<Table>> Table::Create(const TableOptions& options,
                                             const base::Clock& clock) {
  auto bytes = OpenTableBytes(options, clock);
  if (!bytes) {
    return tl::unexpected(std::move(bytes.error()));
  }
  TableHeader& header = *bytes->parts.header;
  std::unique_ptr<Table> table(new Table(*std::move(bytes), options, clock));
  std::atomic_signal_fence(std::memory_order_seq_cst);
  header.magic = kTableMagic;
  return table;
}

Table::Table(TableBytes bytes, const TableOptions& options, const base::Clock& clock)
    : mapping_(std::move(bytes.mapping)),
      header_(bytes.parts.header),
      core_{.hash = KeyHash(header_->secret),
            .id = KeyHash(header_->secret).TableId(),
            .rules = RuleDirectory(bytes.parts.rules),
            .blocks = BlockPool(bytes.parts.blocks, bytes.blocks_in_use),
            .counters = {},
            .slots = SlotArray(bytes.parts.slots, header_->format.geometry.homes, core_.blocks,
                               core_.counters),
            .base = bytes.parts.bytes.data(),
            .journal = bytes.parts.journal,
            .when_full = options.when_full},
      clock_(clock),
      monotonic_clock_(header_->clock, clock.Read(), CurrentBootId(), bytes.is_new()),
      leases_(std::make_shared<ThreadNumbers>(kMaxThreads)),
      opening_(std::move(bytes.opening)),
      snapshot_(options.snapshot) {}

Table::~Table() {
  (void)monotonic_clock_.Now(clock_.Read());
  leases_->Close();
}

bool Table::Begin(Turn& turn) {
  const int thread = ThreadNumber(leases_);
  if (thread < 0) {
    return false;
  }
  turn = {.now = monotonic_clock_.Now(clock_.Read()), .thread = static_cast<std::uint32_t>(thread)};
  return true;
}

bool Table::Begin(Turn& turn, StoreCall& call) {
  const bool begun = Begin(turn);
  call.error = begun ? StoreError::kNone : StoreError::kDidNotRun;
  call.now = turn.now.wall_clock;
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
    begun = true;  // The clock was read once, while the first cache lines were being loaded.
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
    if (call.checks.size() > kMaxChecksPerCall) {
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
      keys.Put(count++, key);
    }
  }
  return calls;
}

void Table::DecideSome(const Turn& turn, std::span<CheckCall* const> calls, const KeyRoom& keys) {
  const Fingerprint* key = keys.keys();
  for (CheckCall* call : calls) {
    call->now = turn.now.wall_clock;
    if (call->error != StoreError::kNone) {
      continue;
    }
    for (const Check& check : call->checks) {
      if (!check.key.formerly.empty()) [[unlikely]] {
        AdoptFormer(core_, turn, check.key, check.quota, check.ban);
      }
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
  return core_.slots.Sweep(monotonic_clock_.Now(clock_.Read()).monotonic,
                           static_cast<std::uint32_t>(thread) + 1);
}

TableStats Table::Stats() {
  const auto read = [](const std::atomic<std::uint64_t>& counter) {
    return counter.load(std::memory_order_relaxed);
  };
  const TableCounters& counters = core_.counters;
  return {.slots = core_.slots.size(),
          .live_slots = core_.slots.CountLive(monotonic_clock_.Now(clock_.Read()).monotonic),
          .inserts = read(counters.inserts),
          .reclaimed = read(counters.reclaimed),
          .evictions = read(counters.evictions),
          .block_evictions = read(counters.block_evictions),
          .full_denials = read(counters.full_denials),
          .full_allows = read(counters.full_allows),
          .bans = read(counters.bans),
          .blocks = core_.blocks.total(),
          .blocks_in_use = core_.blocks.in_use(),
          .wall_clock_steps = monotonic_clock_.wall_clock_steps()};
}

}  // namespace sluice::store
