#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "sluice/decision.h"
#include "sluice/result.h"

#include "store/table_inspection.h"

namespace sluice::app {

// A complete key of a table or snapshot.
struct WholeKey {
  store::KeyImage image;    // Of the last part.
  std::uint64_t items = 0;  // Entries or holds.
  Units units = 0;          // Of all items.
};

// Joins the parts of each key. A derived class receives each key.
class WholeKeys : public store::KeySink {
 public:
  bool Take(const store::KeyImage& image, std::span<const std::byte> items) override;
  // After the last part of all.
  void End();

 private:
  virtual void OnKey(const WholeKey& key) = 0;

  WholeKey key_;
  bool has_ = false;
};

// The name of a slot's kind: an algorithm, "ban" and so on.
[[nodiscard]] std::string_view KindName(std::uint8_t kind);

// The id of a rule by its number in the table.
[[nodiscard]] std::string RuleName(const store::TableInspection& about, std::uint16_t number);

// Prints every key in use of a table or snapshot, one JSON object per line. A table does not
// contain the text of keys, so a key is identified by its fingerprint, which differs between
// tables. Errors: the file is neither, or cannot be read.
[[nodiscard]] Result<void> DumpTable(const std::string& path);

}  // namespace sluice::app
