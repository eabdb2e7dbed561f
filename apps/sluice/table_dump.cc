#include "table_dump.h"

#include <bit>
#include <vector>

#include <boost/json.hpp>
#include <fmt/format.h>

#include "core/bucket.h"
#include "core/fixed_window.h"
#include "core/sliding_window_counter.h"
#include "core/throttle.h"
#include "store/list_kind.h"
#include "table_keys.h"

namespace sluice::app {

namespace {

using core::Algorithm;
using store::KeyImage;

Algorithm AlgorithmOf(const KeyImage& image) {
  return static_cast<Algorithm>(image.kind - 1);
}

// Decimal: what JSON numbers cannot hold.
std::string Decimal(std::uint64_t high, std::uint64_t low) {
  auto number = (static_cast<store::Uint128>(high) << 64U) | low;
  std::string text;
  do {
    text.insert(text.begin(), static_cast<char>('0' + static_cast<int>(number % 10)));
    number /= 10;
  } while (number != 0);
  return text;
}

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
    const auto seconds_to = [now](std::int64_t ns) { return static_cast<double>(ns - now) / 1e9; };
    boost::json::object line{{"rule", RuleName(about, image.rule)},
                             {"algorithm", KindName(image.kind)},
                             {"key", fmt::format("{:016x}{:016x}", image.high, image.low)},
                             {"expires_in_s", std::int64_t{image.expiry} - now / 1'000'000'000},
                             {"heat", image.heat}};
    if (image.kind > store::KindOf(core::Algorithm::kAttemptWindow)) {
      return line;
    }
    switch (AlgorithmOf(image)) {
      case Algorithm::kTokenBucket:
      case Algorithm::kGcra:
      case Algorithm::kLeakyBucket: {
        const auto state = std::bit_cast<core::Bucket<TableTimeline>::State>(image.state);
        line["owed_unit_ns"] = Decimal(state.owed_high, state.owed_low);
        line["touched_s_ago"] = -seconds_to(state.touched_ns);
        break;
      }
      case Algorithm::kThrottle: {
        const auto state = std::bit_cast<core::Throttle<TableTimeline>::State>(image.state);
        line["owed_unit_ns"] = Decimal(state.owed_high, state.owed_low);
        line["window_s"] = state.window_s;
        line["touched_s_ago"] = -seconds_to(state.touched_ns);
        break;
      }
      case Algorithm::kFixedWindow:
      case Algorithm::kAttemptWindow: {
        const auto state = std::bit_cast<core::FixedWindow<TableTimeline>::State>(image.state);
        line["used"] = state.used;
        line["ends_in_s"] = seconds_to(state.end_line_ns);
        line["touched_s_ago"] = -seconds_to(state.touched_ns);
        break;
      }
      case Algorithm::kSlidingWindowCounter: {
        const auto state =
            std::bit_cast<core::SlidingWindowCounter<TableTimeline>::State>(image.state);
        line["previous"] = state.previous;
        line["current"] = state.current;
        line["touched_s_ago"] = -seconds_to(state.touched_ns);
        break;
      }
      case Algorithm::kSlidingWindowLog:
      case Algorithm::kSlidingWindow:
        line["used"] = key.units;
        line["entries"] = key.items;
        break;
      case Algorithm::kConcurrency:
        line["in_flight"] = key.units;
        line["holds"] = key.items;
        break;
    }
    return line;
  }

  std::vector<WholeKey> keys_;
};

}  // namespace

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
