#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <type_traits>

#include <xxhash.h>

#include "sluice/result.h"

#include "core/judging.h"
#include "store/key_hash.h"
#include "store/monotonic_clock.h"
#include "store/rule_directory.h"
#include "store/slot.h"
#include "store/table_layout.h"

// What a snapshot's file is: a SnapshotHead; then every key, a KeyImage with its entries or holds;
// then the rule directory's names, a SnapshotRule each; then a SnapshotTail with an XXH3-128
// checksum of everything before the checksum. docs/table-format.md in code.
namespace sluice::store {

// XXH3-128 over bytes that come piece by piece.
class SnapshotSum {
 public:
  SnapshotSum() : state_(XXH3_createState()) { XXH3_128bits_reset(state_.get()); }

  void Add(std::span<const std::byte> bytes) {
    XXH3_128bits_update(state_.get(), bytes.data(), bytes.size());
  }
  [[nodiscard]] std::array<std::uint64_t, 2> Value() const {
    const XXH128_hash_t hash = XXH3_128bits_digest(state_.get());
    return {hash.low64, hash.high64};
  }

 private:
  struct Free {
    void operator()(XXH3_state_t* state) const { XXH3_freeState(state); }
  };
  std::unique_ptr<XXH3_state_t, Free> state_;
};

inline constexpr std::array<char, 8> kSnapshotMagic{'S', 'L', 'U', 'I', 'C', 'E', 'S', 'N'};
inline constexpr std::array<char, 8> kSnapshotEnd{'S', 'L', 'U', 'I', 'C', 'E', 'N', 'D'};
// 2: a hold keeps its priority. Format 1 has the same records, with none in its holds.
inline constexpr std::uint32_t kSnapshotVersion = 2;
inline constexpr std::uint32_t kOldestSnapshotVersion = 1;

// One key as it travels from table to table: what a snapshot has of it, and what moves when
// a table gets another size. `items` entries or holds, as the kind says, follow it.
//
// A key with many entries comes in parts, one after the other, each with the state as it was when
// the part was copied. A part that is marked first, under the fingerprint of the part before it,
// starts that key again; one with expiry 0 takes it back.
struct KeyImage {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  std::uint32_t expiry = 0;  // See Slot.
  std::uint16_t rule = 0;
  std::uint8_t kind = 0;
  std::uint8_t heat = 0;
  std::uint32_t items = 0;
  std::uint32_t part = 0;  // 0 is the first.
  RawState state;          // The ends of a chain are 0.

  [[nodiscard]] Fingerprint key() const { return {.high = high, .low = low}; }
};
static_assert(sizeof(KeyImage) == 64);

// Takes keys one by one. Not called under a lock.
class KeySink {
 public:
  virtual ~KeySink() = default;
  // `items` are the bytes of image.items core::Entry or Hold. Return false to stop.
  virtual bool Take(const KeyImage& image, std::span<const std::byte> items) = 0;
};

struct SnapshotHead {
  std::array<char, 8> magic = kSnapshotMagic;
  std::uint32_t version = kSnapshotVersion;
  // The sizes of all records, so that a reader with other sizes notices.
  std::uint32_t head_bytes = 0;
  std::uint32_t image_bytes = sizeof(KeyImage);
  std::uint32_t entry_bytes = sizeof(core::Entry);
  std::uint32_t hold_bytes = sizeof(Hold);
  std::uint32_t rule_bytes = 0;
  std::uint32_t tail_bytes = 0;
  std::uint32_t spare = 0;
  Geometry geometry;  // Of the table from which it was made. Any other table can load it.
  HashSecret secret{};
};
static_assert(std::is_trivially_copyable_v<SnapshotHead>);

struct SnapshotRule {
  std::uint16_t number = 0;
  std::uint16_t size = 0;
  std::array<char, kRuleIdBytes> id{};
};
static_assert(sizeof(SnapshotRule) == 68);

struct SnapshotTail {
  std::array<char, 8> magic = kSnapshotEnd;
  std::uint64_t file_bytes = 0;
  std::uint64_t images = 0;  // Parts are counted.
  std::uint64_t rules = 0;
  // The monotonic clock when the last key had been copied: no key was touched later.
  BootId boot_id{};
  std::int64_t offset_ns = 0;
  std::int64_t monotonic_ns = 0;
  std::int64_t wall_clock_ns = 0;
  std::array<std::uint64_t, 2> checksum{};
};
static_assert(std::is_trivially_copyable_v<SnapshotTail> && sizeof(SnapshotTail) == 88);

// A head as this build writes it, without geometry and secret.
[[nodiscard]] inline SnapshotHead NewSnapshotHead() {
  SnapshotHead head;
  head.head_bytes = sizeof(SnapshotHead);
  head.rule_bytes = sizeof(SnapshotRule);
  head.tail_bytes = sizeof(SnapshotTail);
  return head;
}

// The files of one table's snapshots: the newest, the one before it, and the one that is being
// written. All in one folder, so that a finished one takes its place at once.
struct SnapshotFiles {
  std::string newest;  // Empty: the table has no snapshots.

  [[nodiscard]] std::string previous() const { return newest + ".previous"; }
  [[nodiscard]] std::string unfinished() const { return newest + ".new"; }

  // The newest becomes the previous one, the unfinished one the newest. At every moment at least
  // one of them exists. Returns when the names are on the disk too.
  [[nodiscard]] Result<void> Publish() const;
};

}  // namespace sluice::store
