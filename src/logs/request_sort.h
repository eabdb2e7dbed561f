#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "sluice/decision.h"
#include "sluice/result.h"
#include "sluice/time.h"

#include "logs/time_order.h"

namespace sluice::logs {

// Sorts all requests of a log by time. Requests that do not fit into memory are written to
// temporary files in $TMPDIR (or /tmp) in sorted pieces, which are then merged: an external merge
// sort (Knuth, The Art of Computer Programming 3, 5.4).
//
// One thread. Memory: `memory_bytes`, and 64 KiB for each piece on disk. Files have no name, so
// they disappear with the process, however it ends.
class RequestSort {
 public:
  static constexpr std::size_t kMemoryBytes = std::size_t{128} << 20;

  // `values`: how many attributes each request has.
  explicit RequestSort(std::size_t values, std::size_t memory_bytes = kMemoryBytes);
  ~RequestSort();

  // One request; AddValue() follows once for each of its attributes. Error: a temporary file
  // cannot be written.
  [[nodiscard]] Result<void> Add(WallInstant at, Units cost, std::uint64_t line);
  void AddValue(std::string_view value) { chunk_.AddValue(value); }
  // After the last request. Errors: as Add().
  [[nodiscard]] Result<void> Finish();

  // The requests of the next non-empty second, sorted; for equal times, in the order in which they
  // were added. nullptr at the end. Valid until the third call after this one. Error: a temporary
  // file cannot be read.
  [[nodiscard]] Result<SecondOfRequests*> Next();

 private:
  class Piece;

  [[nodiscard]] Result<void> Spill();
  // Next() from memory, and from pieces on disk.
  [[nodiscard]] SecondOfRequests* NextFromMemory(SecondOfRequests& room);
  [[nodiscard]] Result<SecondOfRequests*> NextFromPieces(SecondOfRequests& room);

  std::size_t values_;
  std::size_t memory_bytes_;
  SecondOfRequests chunk_;  // Requests not yet written.
  std::size_t next_ = 0;    // The position in chunk_, if all requests fitted into memory.
  std::vector<std::unique_ptr<Piece>> pieces_;
  std::vector<std::size_t> heap_;  // Unfinished pieces, the earliest request first.
  std::array<SecondOfRequests, 3> rooms_;
  std::size_t turn_ = 0;
};

}  // namespace sluice::logs
