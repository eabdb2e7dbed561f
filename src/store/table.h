#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <new>
#include <span>
#include <string>

#include "sluice/result.h"

#include "base/clock.h"
#include "store/key_store.h"
#include "store/mapping.h"
#include "store/monotonic_clock.h"
#include "store/table_core.h"
#include "store/table_layout.h"
#include "store/table_open.h"
#include "store/thread_numbers.h"

namespace sluice::store {

// Figures about a table, taken at about one moment.
struct TableStats {
  std::uint64_t slots = 0;
  std::uint64_t live_slots = 0;       // Estimated from a sample in a large table.
  std::uint64_t inserts = 0;          // Keys that got a slot.
  std::uint64_t reclaimed = 0;        // Of those, in the slot of a key that had become fresh.
  std::uint64_t evictions = 0;        // Keys evicted before they expired, because slots ran out ...
  std::uint64_t block_evictions = 0;  // ... or of blocks.
  std::uint64_t full_denials = 0;     // Checks denied because the table was full.
  std::uint64_t full_allows = 0;      // Checks allowed uncounted because the table was full.
  std::uint64_t bans = 0;             // Bans that were imposed or prolonged.
  std::uint64_t blocks = 0;
  std::uint64_t blocks_in_use = 0;
  std::uint64_t wall_clock_steps = 0;  // Of the wall clock, by more than half a second.
};

struct SnapshotReport {
  std::uint64_t keys = 0;
  std::uint64_t bytes = 0;
};

// The embedded store: every key of one host in a fixed piece of memory. If that is a file, the next
// process finds it as this one left it, even after a kill.
//
// Answers during the verb. Exact, and serialisable under any number of threads up to kMaxThreads at
// a time (a call from one more is answered kDidNotRun). Calls with too many checks are answered
// kUnsupported. Settled charges and bans are slots like any key's: they survive like keys, and may
// be evicted like keys if the table is full.
//
// Where things are: decide_one.h and request.h decide, judge.h calls the algorithms, slot_array.h
// finds keys, journal.h survives a kill, docs/table-format.md shows the bytes.
class Table final : public KeyStore {
 public:
  // Everything is allocated and touched here, nothing later. `clock` outlives the table.
  // Keys that a file or a snapshot has are there again: table_open.h says which is taken. A
  // file of another number of keys or blocks is made to fit.
  // Errors: no memory; options out of range; a file that is in use, another user's, of another
  // version, damaged, or no table; snapshots of which none is good; more keys in use than there
  // is room for. Each says what to do, and nothing is lost by it.
  static Result<std::unique_ptr<Table>> Create(const TableOptions& options,
                                               const base::Clock& clock);
  ~Table() override;

  void CheckMany(std::span<CheckCall* const> batch) override;
  void Refund(RefundCall& call) override;
  void Reset(ResetCall& call) override;
  void Release(HoldCall& call) override;
  void Renew(HoldCall& call) override;
  void Settle(SettleCall& call) override;
  void Ban(BanCall& call) override;
  void Unban(BanCall& call) override;
  void ListBans(BansCall& call) override;

  // Forgets every fresh key, gives back its blocks, and returns how many keys. Decisions never need
  // this; it makes the counts accurate. Takes as long as reading the whole table.
  std::uint64_t Sweep();

  // Writes a snapshot of the table to the file that the options named. It replaces the previous one
  // once it is complete and on the disk. Other threads decide meanwhile: each key is copied at some
  // moment of the writing, and no two at the same moment, so the snapshot may have a part of a
  // request with several checks. One at a time; a second caller waits. After an error the last good
  // one stays.
  Result<SnapshotReport> WriteSnapshot();

  [[nodiscard]] TableStats Stats();
  // Random bytes of the table, which stay the same through restarts, snapshots and changes of its
  // size. Keys may be derived from them; they are never shown.
  [[nodiscard]] const HashSecret& secret() const { return header_->secret; }
  [[nodiscard]] std::uint64_t bytes() const { return mapping_.bytes().size(); }
  [[nodiscard]] const TableOpening& opening() const { return opening_; }
  [[nodiscard]] bool resumed() const { return opening_.resumed; }
  [[nodiscard]] int requests_undone() const { return opening_.requests_undone; }

 private:
  Table(TableBytes bytes, const TableOptions& options, const base::Clock& clock);

  // The fingerprints of some calls' keys. As bytes, of which only the used ones are ever written:
  // to initialise all of them would take as long as a decision.
  class KeyRoom {
   public:
    KeyRoom() {}  // NOLINT: see above.
    void Put(std::size_t i, const Fingerprint& key) {
      ::new (static_cast<void*>(bytes_ + i * sizeof(Fingerprint))) Fingerprint(key);
    }
    // Set once a ban was put.
    [[nodiscard]] const Fingerprint* keys() const {
      return std::launder(reinterpret_cast<const Fingerprint*>(bytes_));
    }

   private:
    alignas(Fingerprint) std::byte bytes_[kMaxChecksPerCall * sizeof(Fingerprint)];
  };

  // False, with the call's error set, if the calling thread cannot be served.
  [[nodiscard]] bool Begin(Turn& turn, StoreCall& call);
  [[nodiscard]] bool Begin(Turn& turn);
  // The result of `use` on the call's hold, under any id of its rule; kNotFound if it is nowhere.
  template <class Use>
  void UseHold(HoldCall& call, Use use);
  [[nodiscard]] std::size_t HashSome(std::span<CheckCall* const> batch, KeyRoom& keys) const;
  void DecideSome(const Turn& turn, std::span<CheckCall* const> calls, const KeyRoom& keys);

  Mapping mapping_;
  TableHeader* header_;
  TableCore core_;
  const base::Clock& clock_;
  MonotonicClock monotonic_clock_;
  std::shared_ptr<ThreadNumbers> leases_;
  TableOpening opening_;
  std::string snapshot_;
  std::mutex snapshotting_;
};

}  // namespace sluice::store
