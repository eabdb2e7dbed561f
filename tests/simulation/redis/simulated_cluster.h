#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "net/dial.h"
#include "redis/slot_map.h"
#include "simulation/redis/network.h"

namespace sluice::redis {

// A Redis Cluster as its clients see it, without I/O: three primaries, each with a replica that is
// some time behind. Its keys are fixed windows that never end. Servers hear of changes one after
// the other and until then send clients to where things were; slots move key by key; replicas take
// over, with every write or without the last ones.
class SimulatedCluster {
 public:
  using Time = Network::Time;
  static constexpr std::size_t kShards = 3;
  static constexpr std::size_t kServers = 2 * kShards;

  explicit SimulatedCluster(Network& network);
  ~SimulatedCluster();

  [[nodiscard]] static net::DialTarget TargetOf(std::size_t server);
  [[nodiscard]] Host& HostAt(const net::DialTarget& target);

  // What goes wrong.

  void FlushScripts(std::size_t server);
  void Stall(std::size_t server, Time until);
  // The server ends, with or without being asked for its word: nobody reaches it.
  void Kill(std::size_t server);
  // And comes back: as it was, or as a replica if another took its place.
  void Start(std::size_t server);
  // The replica takes over: with every write if `planned`, else with what it got by now. The old
  // primary takes writes until Depose(), which nobody will know of.
  void Promote(std::size_t shard, bool planned);
  void Depose(std::size_t server);
  // Everybody refuses until it is over, as a cluster does that needs all slots served.
  void SetDown(bool down) { down_ = down; }
  // A slot moves: it begins, a key moves (false: none is left), and the new owner is told of.
  void BeginMove(std::uint16_t slot, std::size_t to_shard);
  bool MoveKey(std::uint16_t slot);
  void EndMove(std::uint16_t slot);

  // What came out of it.

  [[nodiscard]] std::size_t PrimaryOf(std::size_t shard) const { return primary_[shard]; }
  [[nodiscard]] std::size_t ShardOf(std::uint16_t slot) const { return owner_[slot]; }
  [[nodiscard]] Units UsedOf(const std::string& key) const;
  // Used and then forgotten by servers that took over.
  [[nodiscard]] Units LostOf(const std::string& key) const;
  // How often a check of this cost was charged, and how often that was taken back.
  [[nodiscard]] int ChargedOf(Units cost) const { return Read(charged_, cost); }
  [[nodiscard]] int TakenBackOf(Units cost) const { return Read(taken_back_, cost); }
  // How often clients were sent away with this word.
  [[nodiscard]] int SentAway(const std::string& word) const { return Read(sent_away_, word); }

 private:
  struct Value {
    Units used = 0;
    std::size_t charged = 0;  // Of a record: how many checks.
    std::uint16_t slot = 0;
  };
  using Keys = std::map<std::string, Value, std::less<>>;
  struct Write {
    Time at;  // When the replica has it.
    std::string key;
    bool gone = false;
    Value value{};
  };
  class Server;
  using Args = std::span<const std::string_view>;

  template <class Map, class Key>
  static int Read(const Map& map, const Key& key) {
    const auto found = map.find(key);
    return found == map.end() ? 0 : found->second;
  }

  std::string SendAway(const std::string& word, const std::string& rest);
  // Tells all servers of how things are, one after the other.
  void Spread();
  [[nodiscard]] std::size_t OtherOf(std::size_t server) const {
    return (server + kShards) % kServers;
  }

  Network& network_;
  std::vector<std::unique_ptr<Server>> servers_;  // i and i + kShards are of shard i.
  std::array<std::size_t, kShards> primary_{};
  std::vector<std::uint8_t> owner_;              // By slot.
  std::map<std::uint16_t, std::size_t> moving_;  // To which shard.
  bool down_ = false;
  std::map<std::string, Units> lost_;
  std::map<Units, int> charged_;
  std::map<Units, int> taken_back_;
  std::map<std::string, int> sent_away_;
};

}  // namespace sluice::redis
