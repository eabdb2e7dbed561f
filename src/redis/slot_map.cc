#include "redis/slot_map.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <utility>

namespace sluice::redis {

namespace {

using wire::RespNode;
using wire::RespType;

constexpr std::size_t kMostPrimaries = 1024;

constexpr std::array<std::uint16_t, 256> kCrc = [] {
  std::array<std::uint16_t, 256> table{};
  for (unsigned byte = 0; byte < 256; ++byte) {
    unsigned crc = byte << 8U;
    for (int bit = 0; bit < 8; ++bit) {
      crc = (crc & 0x8000U) != 0 ? (crc << 1U) ^ 0x1021U : crc << 1U;
    }
    table[byte] = static_cast<std::uint16_t>(crc);
  }
  return table;
}();

// Reads a reply from front to back.
class Cursor {
 public:
  explicit Cursor(std::span<const RespNode> nodes) : nodes_(nodes) {}

  // nullptr at the end.
  const RespNode* Next() { return at_ < nodes_.size() ? &nodes_[at_++] : nullptr; }
  void Skip() {
    const RespNode* const node = Next();
    for (std::size_t i = 0; node != nullptr && i < node->size; ++i) {
      Skip();
    }
  }

 private:
  std::span<const RespNode> nodes_;
  std::size_t at_ = 0;
};

bool IsText(const RespNode* node) {
  return node != nullptr && (node->type == RespType::kBulk || node->type == RespType::kSimple);
}

std::optional<std::int64_t> IntegerOf(const RespNode* node) {
  return node != nullptr && node->type == RespType::kInteger ? std::optional(node->integer)
                                                             : std::nullopt;
}

std::uint16_t NumberOf(SlotMap& map, net::DialTarget target) {
  const auto found = std::ranges::find(map.nodes, target);
  if (found != map.nodes.end()) {
    return static_cast<std::uint16_t>(found - map.nodes.begin());
  }
  if (map.nodes.size() >= kMostPrimaries) {
    return SlotMap::kNobody;
  }
  map.nodes.push_back(std::move(target));
  return static_cast<std::uint16_t>(map.nodes.size() - 1);
}

// One range: its first and last slot, then the servers, the primary first.
bool ReadRange(Cursor& cursor, const net::DialTarget& asked, SlotMap& map) {
  const RespNode* const range = cursor.Next();
  if (range == nullptr || range->type != RespType::kArray || range->size < 3) {
    return false;
  }
  const auto first = IntegerOf(cursor.Next());
  const auto last = IntegerOf(cursor.Next());
  if (!first || !last || *first < 0 || *last < *first ||
      *last >= static_cast<std::int64_t>(kClusterSlots)) {
    return false;
  }
  const RespNode* const primary = cursor.Next();
  if (primary == nullptr || primary->type != RespType::kArray || primary->size < 2) {
    return false;
  }
  const RespNode* const host = cursor.Next();
  const auto port = IntegerOf(cursor.Next());
  if (!port || *port < 1 || *port > 65535 || host == nullptr) {
    return false;
  }
  // A server that does not know its own host says nothing, or "?".
  const bool named = IsText(host) && !host->text.empty() && host->text != "?";
  const std::uint16_t number = NumberOf(map, {.host = named ? std::string(host->text) : asked.host,
                                              .port = std::to_string(*port),
                                              .path = {}});
  for (std::size_t i = 2; i < primary->size; ++i) {
    cursor.Skip();
  }
  for (std::size_t i = 3; i < range->size; ++i) {
    cursor.Skip();
  }
  std::fill(map.owner.begin() + *first, map.owner.begin() + *last + 1, number);
  return true;
}

}  // namespace

std::uint16_t SlotOfTag(std::string_view tag) {
  unsigned crc = 0;
  for (const char c : tag) {
    crc = ((crc << 8U) ^ kCrc[((crc >> 8U) ^ static_cast<unsigned char>(c)) & 0xFFU]) & 0xFFFFU;
  }
  return static_cast<std::uint16_t>(crc % kClusterSlots);
}

std::uint16_t SlotOfKey(std::string_view key) {
  const std::size_t open = key.find('{');
  const std::size_t close = open == std::string_view::npos ? open : key.find('}', open);
  const bool has_tag = close != std::string_view::npos && close > open + 1;
  return SlotOfTag(has_tag ? key.substr(open + 1, close - open - 1) : key);
}

std::optional<SlotMap> ReadSlotMap(std::span<const RespNode> reply, const net::DialTarget& asked) {
  Cursor cursor(reply);
  const RespNode* const ranges = cursor.Next();
  if (ranges == nullptr || ranges->type != RespType::kArray) {
    return std::nullopt;
  }
  SlotMap map;
  for (std::size_t i = 0; i < ranges->size; ++i) {
    if (!ReadRange(cursor, asked, map)) {
      return std::nullopt;
    }
  }
  return map;
}

std::optional<Redirection> ReadRedirection(std::string_view error, const net::DialTarget& asked) {
  Redirection to;
  if (error.starts_with("ASK ")) {
    to.ask = true;
    error.remove_prefix(4);
  } else if (error.starts_with("MOVED ")) {
    error.remove_prefix(6);
  } else {
    return std::nullopt;
  }
  const std::size_t space = error.find(' ');
  const std::size_t colon = error.rfind(':');
  if (space == std::string_view::npos || colon == std::string_view::npos || colon < space) {
    return std::nullopt;
  }
  unsigned slot = 0;
  const char* const begin = error.data();
  const auto read = std::from_chars(begin, begin + space, slot);
  if (read.ec != std::errc() || read.ptr != begin + space || slot >= kClusterSlots) {
    return std::nullopt;
  }
  to.slot = static_cast<std::uint16_t>(slot);
  const std::string_view host = error.substr(space + 1, colon - space - 1);
  const std::string_view port = error.substr(colon + 1);
  if (port.empty() || port.size() > 5 ||
      port.find_first_not_of("0123456789") != std::string_view::npos) {
    return std::nullopt;
  }
  to.target = {
      .host = host.empty() ? asked.host : std::string(host), .port = std::string(port), .path = {}};
  return to;
}

}  // namespace sluice::redis
