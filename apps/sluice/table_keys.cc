#include "table_keys.h"

#include <bit>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/json.hpp>
#include <fmt/format.h>

#include "core/quota.h"
#include "core/steps.h"
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

using store::KeyImage;

// Decimal text, because JSON numbers cannot hold it.
std::string Decimal(std::uint64_t high, std::uint64_t low) {
  auto number = (static_cast<store::Uint128>(high) << 64U) | low;
  std::string text;
  do {
    text.insert(text.begin(), static_cast<char>('0' + static_cast<int>(number % 10)));
    number /= 10;
  } while (number != 0);
  return text;
}

// Puts the numbers of a state into a line.
class StateWriter {
 public:
  StateWriter(boost::json::object& line, std::int64_t now) : line_(line), now_(now) {}
  void Number(std::string_view name, std::int64_t number) { line_[name] = number; }
  void Wide(std::string_view name, std::uint64_t high, std::uint64_t low) {
    line_[name] = Decimal(high, low);
  }
  void Past(std::string_view name, std::int64_t ns) { line_[name] = -SecondsTo(ns); }
  void Future(std::string_view name, std::int64_t ns) { line_[name] = SecondsTo(ns); }

 private:
  [[nodiscard]] double SecondsTo(std::int64_t ns) const {
    return static_cast<double>(ns - now_) / 1e9;
  }

  boost::json::object& line_;
  std::int64_t now_;
};

class DumpPrinter final : public WholeKeys {
 public:
  void Print(const store::TableInspection& about) const {
    const std::int64_t now = about.now.time_since_epoch().count();
    for (const WholeKey& key : keys_) {
      fmt::print("{}\n", boost::json::serialize(Describe(key, now, about)));
    }
  }

 private:
  void OnKey(const WholeKey& key) override { keys_.push_back(key); }

  static boost::json::object Describe(const WholeKey& key, std::int64_t now,
                                      const store::TableInspection& about) {
    const KeyImage& image = key.image;
    boost::json::object line{{"rule", RuleName(about, image.rule)},
                             {"algorithm", KindName(image.kind)},
                             {"key", fmt::format("{:016x}{:016x}", image.high, image.low)},
                             {"expires_in_s", std::int64_t{image.expiry} - now / 1'000'000'000},
                             {"heat", image.heat}};
    const auto algorithm = store::AlgorithmOf(image.kind);
    switch (store::BlocksOf(image.kind)) {
      case store::BlockKind::kEntries:
        line["used"] = key.units;
        line["entries"] = key.items;
        break;
      case store::BlockKind::kHolds:
        line["in_flight"] = key.units;
        line["holds"] = key.items;
        break;
      case store::BlockKind::kText:
        break;
      case store::BlockKind::kFree:
        if (algorithm) {
          StateWriter writer(line, now);
          core::VisitSteps(*algorithm, [&]<class Steps>() {
            if constexpr (!Steps::kTraits.has_items()) {
              std::bit_cast<typename Steps::State>(image.state).Describe(writer);
            }
          });
        }
        break;
    }
    return line;
  }

  std::vector<WholeKey> keys_;
};

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

Result<void> DumpTable(const std::string& path) {
  DumpPrinter dump;
  const auto about = store::InspectTable(path, dump);
  if (!about) {
    return tl::unexpected(about.error());
  }
  dump.End();
  dump.Print(*about);
  return {};
}

}  // namespace sluice::app
