#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "sluice/result.h"

#include "base/clock.h"
#include "store/key_store.h"
#include "store/mapping.h"
#include "store/table_core.h"
#include "store/table_layout.h"
#include "store/table_stats.h"
#include "store/thread_lease.h"
#include "store/time_line.h"

namespace sluice::store {

struct TableOptions {
  std::string path;                // Empty: plain memory. Else a file, best under /dev/shm.
  std::uint64_t keys = 1'000'000;  // Live keys that the table is made for. 1 to kMostKeys.
  std::uint64_t blocks = 0;        // For logs, sliding windows and holds; 0: a quarter of `keys`.
  WhenFull when_full = WhenFull::kEvict;
  bool huge_pages = true;  // Ask the kernel for them.
};
inline constexpr std::uint64_t kMostKeys = 200'000'000;

// The embedded store: every key of one host in a fixed piece of memory, which, if it is a
// file, the next process finds as this one left it, killed or not.
//
// Answers during the verb. Exact, and serialisable under any number of threads up to
// kMaxThreads at a time (a call from one more is answered kDidNotRun). Calls with an
// idempotency record are answered kUnsupported, and so are those with too many checks. A
// receipt is checked for its time only: that it works once is left to the memory for
// receipts, which is not built yet.
//
// Where things are: decide_one.h and request.h decide, judge.h calls the algorithms, slot_array.h
// finds keys, journal.h survives a kill, docs/table-format.md shows the bytes.
class Table final : public KeyStore {
 public:
  // Everything is allocated and touched here, nothing later. `clock` outlives the table.
  // Errors: no memory; options out of range; a file that is in use, of other geometry or
  // version, damaged, or no table (each says what to do).
  static Result<std::unique_ptr<Table>> Create(const TableOptions& options,
                                               const base::Clock& clock);
  ~Table() override;

  void CheckMany(std::span<CheckCall* const> batch) override;
  void Refund(RefundCall& call) override;
  void Reset(ResetCall& call) override;
  void Release(HoldCall& call) override;

  // Forgets every key that is fresh again, and gives back its blocks: how many. Never needed
  // for what is decided; it makes the counts live. Takes as long as reading the table.
  std::uint64_t Sweep();

  [[nodiscard]] TableStats Stats();
  [[nodiscard]] std::uint64_t bytes() const { return mapping_.bytes().size(); }
  // Whether a file was taken over, and how many requests its last process left half written.
  [[nodiscard]] bool resumed() const { return resumed_; }
  [[nodiscard]] int requests_undone() const { return requests_undone_; }

 private:
  Table(Mapping mapping, const TableParts& parts, const TableOptions& options,
        const std::vector<bool>& blocks_in_use, const base::Clock& clock, bool resumed);

  // The fingerprints of some calls' keys. Only what is used of it is ever written: to fill it
  // first would take as long as a decision.
  union KeyRoom {
    KeyRoom() {}  // NOLINT: see above.
    Fingerprint keys[kMaxChecksPerCall];
  };

  // False, with the call's error set, if the calling thread cannot be served.
  [[nodiscard]] bool Begin(Turn& turn, StoreCall& call);
  [[nodiscard]] bool Begin(Turn& turn);
  [[nodiscard]] std::size_t HashSome(std::span<CheckCall* const> batch, KeyRoom& keys) const;
  void DecideSome(const Turn& turn, std::span<CheckCall* const> calls, const KeyRoom& keys);

  Mapping mapping_;
  TableHeader* header_;
  TableCore core_;
  const base::Clock& clock_;
  TimeLine line_;
  std::shared_ptr<LeaseBook> leases_;
  bool resumed_;
  int requests_undone_ = 0;
};

}  // namespace sluice::store
