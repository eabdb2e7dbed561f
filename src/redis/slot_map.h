#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "net/dial.h"
#include "wire/resp_reply_parser.h"

namespace sluice::redis {

inline constexpr std::size_t kClusterSlots = 16384;

// Which of a Redis Cluster's slots a key lies in, by what stands between its first braces: CRC-16
// (XMODEM) of it, modulo 16384.
[[nodiscard]] std::uint16_t SlotOfTag(std::string_view tag);
// Of any key: by what stands between its first braces, if that is something; else by all of it.
[[nodiscard]] std::uint16_t SlotOfKey(std::string_view key);

// Who serves which slot.
struct SlotMap {
  static constexpr std::uint16_t kNobody = UINT16_MAX;

  std::vector<net::DialTarget> nodes;  // Primaries.
  std::vector<std::uint16_t> owner = std::vector<std::uint16_t>(kClusterSlots, kNobody);
};

// Reads the reply to CLUSTER SLOTS; `asked` is used if a server leaves out its own host. nullopt if
// it is not such a reply.
[[nodiscard]] std::optional<SlotMap> ReadSlotMap(std::span<const wire::RespNode> reply,
                                                 const net::DialTarget& asked);

// "MOVED 3999 127.0.0.1:6381", "ASK 3999 127.0.0.1:6381". The host may be left out, the slot not.
struct Redirection {
  bool ask = false;  // For this one command only.
  std::uint16_t slot = 0;
  net::DialTarget target;
};
[[nodiscard]] std::optional<Redirection> ReadRedirection(std::string_view error,
                                                         const net::DialTarget& asked);

}  // namespace sluice::redis
