#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "sluice/time.h"

#include "store/table_core.h"

// Marks. A mark is a slot beside the slots of keys. It remembers one number until a time: when a
// key was reset, or at what a charge was settled (refund.cc).
//
// A mark is locked last: a thread that holds the lock of a mark waits for no other lock. Where the
// table is full and evicts, a mark may go before its time, as keys may.
namespace sluice::store {

struct Mark {
  Fingerprint fingerprint;
  std::string_view rule;     // Its name in the directory of rules, which lists of keys show.
  std::uint64_t number = 0;  // Below 2^64 - 1.
  TableInstant until;        // From then on the mark is forgotten.
};

// What a write does where the table has the mark already.
enum class ExistingMark : std::uint8_t {
  kStays,  // The first number counts.
  kGrows,  // The larger number and the later `until` count.
};

struct WrittenMark {
  std::uint64_t number = 0;  // The number that the table has now.
  bool is_new = true;        // False: the mark was there and stays as it was.
};

// Writes the mark: whole or, if the process is killed, not at all. nullopt: there is no room.
[[nodiscard]] std::optional<WrittenMark> WriteMark(TableCore& core, const Turn& turn,
                                                   const Mark& mark, ExistingMark existing);

// The number of the mark; nullopt if the table does not have the mark.
[[nodiscard]] std::optional<std::uint64_t> FindMark(const TableCore& core, const Turn& turn,
                                                    const Fingerprint& fingerprint);

}  // namespace sluice::store
