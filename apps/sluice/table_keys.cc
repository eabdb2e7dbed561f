#include "table_keys.h"

#include <cstring>
#include <utility>

#include "core/quota.h"
#include "store/block.h"

namespace sluice::app {

namespace {

Units UnitsOf(const store::KeyImage& image, std::span<const std::byte> items) {
  Units units = 0;
  if (store::BlocksOf(image.kind) == store::BlockKind::kText) {
    return units;
  }
  const bool holds = store::BlocksOf(image.kind) == store::BlockKind::kHolds;
  for (std::size_t i = 0; i < image.items; ++i) {
    if (holds) {
      store::Hold hold;
      std::memcpy(&hold, items.data() + i * sizeof(hold), sizeof(hold));
      units += hold.units();
    } else {
      core::Entry entry;
      std::memcpy(&entry, items.data() + i * sizeof(entry), sizeof(entry));
      units += entry.units;
    }
  }
  return units;
}

}  // namespace

bool WholeKeys::Take(const store::KeyImage& image, std::span<const std::byte> items) {
  const bool more = has_ && image.key() == key_.image.key();
  if (!more) {
    End();
  }
  if (!more || image.part == 0) {
    key_ = {};
  }
  key_.image = image;
  key_.items += image.items;
  key_.units += UnitsOf(image, items);
  has_ = image.expiry != 0;
  return true;
}

void WholeKeys::End() {
  if (std::exchange(has_, false)) {
    OnKey(key_);
  }
}

std::string_view KindName(std::uint8_t kind) {
  const auto algorithm = store::AlgorithmOf(kind);
  return algorithm                  ? core::NameOf(*algorithm)
         : kind == store::kMarkKind ? "settled charge or reset"
                                    : "ban";
}

std::string RuleName(const store::TableInspection& about, std::uint16_t number) {
  const std::string& name = about.rules[number];
  return name.empty() ? "(unknown)" : name;
}

}  // namespace sluice::app
