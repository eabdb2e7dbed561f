#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/time.h"

#include "insight/heavy_keys.h"
#include "insight/sample_ring.h"

namespace sluice::insight {

// Which decisions of a rule are counted: one kind, or all of them.
inline constexpr std::size_t kAllKinds = kKinds;
[[nodiscard]] std::string_view NameOf(Kind kind);

enum class Window : std::uint8_t {
  kMinute,  // The last 30 to 60 seconds.
  kStart,   // Since the daemon started.
};

// What of one rule's decisions is known in a window.
struct RuleTop {
  struct Key {
    HeavyKey counted;  // By the kind that was asked for.
    // Of the same key, by kind; 0 where it is not among those that count most.
    std::array<std::uint64_t, kKinds> by_kind{};
  };
  std::string rule;
  std::array<std::uint64_t, kKinds + 1> totals{};  // By kind; the last is of all.
  std::uint64_t error = 0;  // No key that is missing here counts more than this.
  std::vector<Key> keys;    // The highest count first.
};

// How much of one rule's decisions its heaviest keys make, in the last minute.
struct RuleShare {
  struct Key {
    std::string key;  // By WriteKey().
    std::uint64_t count = 0;
    double share = 0;  // By the certain part of the count.
  };
  std::string rule;
  std::uint64_t total = 0;
  double top_share = 0;   // Of the heaviest one.
  std::vector<Key> keys;  // With the share that was asked for, the heaviest first.
};

// The keys that count most, by rule, kind and window, in bounded memory: kMostEntries entries,
// however many rules and keys there are. A rule's keys of one kind have room for capacity()
// entries. While more are needed than there are, the room of all is halved, down to kLeastRoom;
// then the rule that was silent longest is forgotten. It grows again when it is not needed.
//
// Counts of the last minute come from two halves of kHalf each: the one under way, and the one
// before. One thread at a time.
class TopKeys {
 public:
  static constexpr std::size_t kMostRoom = 512;
  static constexpr std::size_t kLeastRoom = 8;
  static constexpr std::size_t kMostEntries = 65'536;
  static constexpr Duration kHalf = std::chrono::seconds(30);

  // `now`: a clock that does not step, here and below.
  explicit TopKeys(Duration now) : half_began_(now), before_began_(now) {}

  void Add(const KeySample& sample);
  // Begins a new half if it is time. True: it did.
  bool Advance(Duration now);
  // Forgets rules for which `keep` is false.
  void KeepRules(const std::function<bool(std::string_view rule)>& keep);

  struct Query {
    std::string_view rule{};  // "": every rule.
    std::size_t kind = kAllKinds;
    Window window = Window::kMinute;
    std::size_t most = 10;  // Keys of each rule.
  };
  // Rules that decided nothing of the kind in the window are left out. In order of their ids.
  [[nodiscard]] std::vector<RuleTop> Top(const Query& query) const;
  // Of each rule that decided at least `least_total` requests in the minute, and the keys of which
  // each made at least `share` of them, above 0. Rules that limit without a key are left out.
  [[nodiscard]] std::vector<RuleShare> Shares(double share, std::uint64_t least_total) const;
  // How much of the minute there is.
  [[nodiscard]] Duration MinuteAt(Duration now) const { return now - before_began_; }

  [[nodiscard]] std::size_t capacity() const { return room_; }
  [[nodiscard]] std::size_t entries() const { return entries_; }

 private:
  struct Counts {
    HeavyKeys before;
    HeavyKeys current;
    HeavyKeys since_start;
  };
  struct OfRule {
    std::array<Counts, kKinds + 1> by_kind;
    std::uint64_t last_used = 0;
  };
  using Rules = std::map<std::string, OfRule, std::less<>>;

  void AddTo(HeavyKeys& keys, const HeavyKeys::Hit& hit, const OfRule& rule);
  void MakeRoom(const OfRule& needed);
  void Recount();
  [[nodiscard]] static std::vector<HeavyKey> KeysOf(const Counts& counts, Window window);

  Rules rules_;
  std::size_t room_ = kMostRoom;
  std::size_t entries_ = 0;
  std::uint64_t uses_ = 0;
  Duration half_began_;
  Duration before_began_;
};

}  // namespace sluice::insight
