#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

// The scripts that Redis runs, put together at build time from src/redis/lua/. What each takes
// and replies is written at the head of its last fragment: one.lua, request.lua and so on.
namespace sluice::redis {

enum class ScriptId : std::uint8_t {
  kBucket,  // One check of one key, by algorithm.
  kFixedWindow,
  kSlidingWindowCounter,
  kSlidingWindowLog,
  kSlidingWindow,
  kConcurrency,
  kRequest,  // Any request.
  kRefund,
  kRelease,  // And renewal.
  kMember,   // Counts the nodes.
  kSettle,
  kSpan,      // Any request that is part of one over several slots of a cluster.
  kSpanUndo,  // Takes such a part back.
  kGuarded,   // kRequest and kSpan with checks that have bans.
  kGuardedSpan,
  kBan,      // Bans a key, or lifts its ban.
  kBanList,  // A page of all bans of a server.
  kRecord,   // What was answered to a request that may come again.
  kReset,    // Makes a key fresh.
  kSecret,   // What all nodes share.
};
inline constexpr std::size_t kScriptCount = 20;

struct Script {
  std::string_view name;  // Of the first six: also what request.lua and refund.lua call them.
  std::string_view sha1;  // In hex, as EVALSHA wants it.
  std::string_view text;
};

extern const std::array<Script, kScriptCount> kScripts;

[[nodiscard]] inline const Script& ScriptOf(ScriptId id) {
  return kScripts[static_cast<std::size_t>(id)];
}

}  // namespace sluice::redis
