#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/algorithm.h"

// The scripts that Redis runs, put together at build time from src/redis/lua/. What each takes
// and replies is written at the head of its last fragment: one.lua, request.lua and so on.
namespace sluice::redis {

enum class ScriptId : std::uint8_t {
  kRequest,  // Any request.
  kRefund,
  kRelease,  // And renewal.
  kMember,   // Counts the nodes.
  kSettle,
  kSpan,      // Any request that is part of one over several slots of a cluster.
  kSpanUndo,  // Takes such a part back.
  kGuarded,   // kRequest and kSpan with checks that have bans.
  kGuardedSpan,
  kBan,                // Bans a key, or lifts its ban.
  kBanList,            // A page of all bans of a server.
  kRecord,             // What was answered to a request that may come again.
  kReset,              // Makes a key fresh.
  kSecret,             // What all nodes share.
  kFirstOfAlgorithms,  // From here on one check of one key: ScriptFor().
};

// The steps that have a script, in alphabetical order, as their scripts are.
inline constexpr auto kStepsInRedis = [] {
  std::array<std::string_view, core::kStepsInRules.size()> steps;
  std::ranges::transform(core::kStepsInRules, steps.begin(),
                         [](core::Algorithm algorithm) { return core::TraitsOf(algorithm).steps; });
  std::ranges::sort(steps);
  return steps;
}();
inline constexpr std::size_t kScriptCount =
    static_cast<std::size_t>(ScriptId::kFirstOfAlgorithms) + kStepsInRedis.size();

// One check of one key. `algorithm`: one that a rule may name.
[[nodiscard]] constexpr ScriptId ScriptFor(core::Algorithm algorithm) {
  constexpr auto kScriptOf = [] {
    std::array<ScriptId, core::kAlgorithms.size()> scripts{};
    for (const core::Algorithm each : core::kRuleAlgorithms) {
      const auto place = std::ranges::find(kStepsInRedis, core::TraitsOf(each).steps);
      scripts[static_cast<std::size_t>(each)] =
          static_cast<ScriptId>(static_cast<std::ptrdiff_t>(ScriptId::kFirstOfAlgorithms) +
                                (place - kStepsInRedis.begin()));
    }
    return scripts;
  }();
  return kScriptOf[static_cast<std::size_t>(algorithm)];
}

struct Script {
  std::string_view name;  // Of an algorithm's: also what request.lua and refund.lua call it.
  std::string_view sha1;  // In hex, as EVALSHA requires.
  std::string_view text;
};

extern const std::array<Script, kScriptCount> kScripts;

[[nodiscard]] inline const Script& ScriptOf(ScriptId id) {
  return kScripts[static_cast<std::size_t>(id)];
}

}  // namespace sluice::redis
