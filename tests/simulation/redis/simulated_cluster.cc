#include "simulation/redis/simulated_cluster.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "redis/scripts.h"

namespace sluice::redis {

namespace {

constexpr int kFirstPort = 7000;
constexpr Units kQuotaExceeded = 1;
constexpr std::int64_t kLeftUs = 3'600'000'000;

std::int64_t ServerTimeUs(Network::Time now) {
  constexpr std::int64_t kStartUs = 1'700'000'000'000'000;
  return kStartUs +
         std::chrono::duration_cast<std::chrono::microseconds>(now.time_since_epoch()).count();
}

Units UnitsIn(std::string_view text) {
  return std::stoll(std::string(text));
}

}  // namespace

class SimulatedCluster::Server final : public Host {
 public:
  Server(SimulatedCluster& cluster, std::size_t number) : cluster_(cluster), number_(number) {}

  std::string Execute(const wire::RespCommandParser& command, Session& session) override;

  void Put(const std::string& key, Value value) {
    value.slot = SlotOfKey(key);
    to_replica_.push_back({.at = Due(), .key = key, .gone = false, .value = value});
    keys[key] = value;
  }
  void Erase(const std::string& key) {
    to_replica_.push_back({.at = Due(), .key = key, .gone = true});
    keys.erase(key);
  }
  // What the replica has by now.
  const Keys& CatchUp() {
    while (!to_replica_.empty() && to_replica_.front().at <= cluster_.network_.now()) {
      const Write& write = to_replica_.front();
      if (write.gone) {
        copy_.erase(write.key);
      } else {
        copy_[write.key] = write.value;
      }
      to_replica_.pop_front();
    }
    return copy_;
  }
  // It begins anew with these, and its replica has them.
  void BeginWith(const Keys& all) {
    keys = copy_ = all;
    to_replica_.clear();
  }

  // It hears how things are.
  void Learn() {
    primary_seen_ = cluster_.primary_;
    owner_seen_ = cluster_.owner_;
    slots_.clear();
  }

  Keys keys;
  Keys taken_over;  // What the server that took its place began with.
  std::set<std::string, std::less<>> scripts;

 private:
  [[nodiscard]] Time Due() const {
    const Time at =
        cluster_.network_.now() + std::chrono::microseconds(cluster_.network_.Draw(20'000));
    return to_replica_.empty() ? at : std::max(at, to_replica_.back().at);
  }
  [[nodiscard]] const std::string& Slots();
  // Whom else to ask; "": it is for this server.
  [[nodiscard]] std::string Elsewhere(Args keys_asked, bool asking) const;
  std::string Evaluate(Args args);
  std::string Check(Args keys_asked, Args checks, bool peek);
  std::string Span(Args keys_asked, Args checks, bool peek);
  void Undo(Args keys_asked, Args argv);
  void TakeBack(std::string_view key, Units cost);

  SimulatedCluster& cluster_;
  const std::size_t number_;
  Keys copy_;
  std::deque<Write> to_replica_;
  // How it believes things are: the primary of each shard, and the shard of each slot.
  std::array<std::size_t, kShards> primary_seen_{};
  std::vector<std::uint8_t> owner_seen_;
  std::string slots_;  // The reply that says so; "": not made yet.
};

std::string SimulatedCluster::Server::Execute(const wire::RespCommandParser& command,
                                              Session& session) {
  const Args args = command.args();
  const bool asking = std::exchange(session.asking, false);
  if (args[0] == "PING") {
    return "+PONG\r\n";
  }
  if (args[0] == "CLIENT") {
    return "+OK\r\n";
  }
  if (args[0] == "ASKING") {
    session.asking = true;
    return "+OK\r\n";
  }
  if (args[0] == "CLUSTER") {
    return Slots();
  }
  if (args[0] == "SCRIPT") {
    const auto known = std::ranges::find(kScripts, args[2], &Script::text);
    scripts.emplace(known->sha1);
    return fmt::format("${}\r\n{}\r\n", known->sha1.size(), known->sha1);
  }
  const auto count = static_cast<std::size_t>(UnitsIn(args[2]));
  if (std::string away = Elsewhere(args.subspan(3, count), asking); !away.empty()) {
    return away;
  }
  if (!scripts.contains(args[1])) {
    return "-NOSCRIPT No matching script. Please use EVAL.\r\n";
  }
  return Evaluate(args);
}

const std::string& SimulatedCluster::Server::Slots() {
  if (!slots_.empty()) {
    return slots_;
  }
  std::string ranges;
  int count = 0;
  for (std::size_t first = 0; first < kClusterSlots;) {
    std::size_t last = first;
    while (last + 1 < kClusterSlots && owner_seen_[last + 1] == owner_seen_[first]) {
      ++last;
    }
    const net::DialTarget target = TargetOf(primary_seen_[owner_seen_[first]]);
    ranges += fmt::format("*3\r\n:{}\r\n:{}\r\n*2\r\n${}\r\n{}\r\n:{}\r\n", first, last,
                          target.host.size(), target.host, target.port);
    ++count;
    first = last + 1;
  }
  return slots_ = fmt::format("*{}\r\n", count) + ranges;
}

std::string SimulatedCluster::Server::Elsewhere(Args keys_asked, bool asking) const {
  const std::uint16_t slot = SlotOfKey(keys_asked[0]);
  if (cluster_.down_) {
    return cluster_.SendAway("CLUSTERDOWN", "The cluster is down");
  }
  const std::size_t shard = owner_seen_[slot];
  const auto moving = cluster_.moving_.find(slot);
  const auto present = std::ranges::count_if(
      keys_asked, [this](std::string_view key) { return keys.find(key) != keys.end(); });
  const bool all = static_cast<std::size_t>(present) == keys_asked.size();
  if (primary_seen_[shard] != number_) {
    if (asking && moving != cluster_.moving_.end() &&
        cluster_.primary_[moving->second] == number_) {
      return all || keys_asked.size() == 1 ? "" : cluster_.SendAway("TRYAGAIN", "Keys are moving");
    }
    return cluster_.SendAway("MOVED",
                             fmt::format("{} {}", slot, TargetOf(primary_seen_[shard]).Text()));
  }
  if (moving == cluster_.moving_.end() || moving->second == shard || all) {
    return "";
  }
  return present > 0 ? cluster_.SendAway("TRYAGAIN", "Keys are moving")
                     : cluster_.SendAway(
                           "ASK", fmt::format("{} {}", slot,
                                              TargetOf(cluster_.primary_[moving->second]).Text()));
}

// As the scripts do, for windows that do not end.
std::string SimulatedCluster::Server::Evaluate(Args args) {
  const auto count = static_cast<std::size_t>(UnitsIn(args[2]));
  const Args keys_asked = args.subspan(3, count);
  const Args argv = args.subspan(3 + count);
  const auto is = [&](ScriptId script) { return args[1] == ScriptOf(script).sha1; };
  if (is(ScriptFor(core::Algorithm::kFixedWindow))) {
    const std::array<std::string_view, 8> check{"", "", "", argv[2], argv[3], "", "", ""};
    return Check(keys_asked, check, argv[1] == "1");
  }
  if (is(ScriptId::kRequest)) {
    return Check(keys_asked, argv.subspan(2), argv[1] == "peek");
  }
  if (is(ScriptId::kSpan)) {
    return Span(keys_asked, argv.subspan(2), argv[1] == "peek");
  }
  if (is(ScriptId::kSpanUndo)) {
    Undo(keys_asked, argv);
  } else if (is(ScriptId::kRefund)) {
    TakeBack(keys_asked[0], UnitsIn(argv[2]));
  } else {
    return "-ERR no script that is known here\r\n";
  }
  return fmt::format("*1\r\n:{}\r\n", ServerTimeUs(cluster_.network_.now()));
}

std::string SimulatedCluster::Server::Check(Args keys_asked, Args checks, bool peek) {
  constexpr std::size_t kEach = 8;
  std::vector<bool> fits;
  for (std::size_t i = 0; i < keys_asked.size(); ++i) {
    const auto found = keys.find(keys_asked[i]);
    const Units used = found == keys.end() ? 0 : found->second.used;
    fits.push_back(used + UnitsIn(checks[kEach * i + 3]) <= UnitsIn(checks[kEach * i + 4]));
  }
  const bool charge = !peek && std::ranges::find(fits, false) == fits.end();
  std::string reply = fmt::format("*{}\r\n:{}\r\n", 1 + 4 * keys_asked.size(),
                                  ServerTimeUs(cluster_.network_.now()));
  for (std::size_t i = 0; i < keys_asked.size(); ++i) {
    const std::string key(keys_asked[i]);
    const auto found = keys.find(key);
    Units used = found == keys.end() ? 0 : found->second.used;
    const Units cost = UnitsIn(checks[kEach * i + 3]);
    if (charge) {
      used += cost;
      Put(key, {.used = used});
      ++cluster_.charged_[cost];
    }
    reply += fmt::format(":{}\r\n:{}\r\n:{}\r\n:{}\r\n",
                         charge    ? -1
                         : fits[i] ? 0
                                   : kQuotaExceeded,
                         UnitsIn(checks[kEach * i + 4]) - used, used > 0 ? kLeftUs : 0,
                         fits[i] ? 0 : kLeftUs);
  }
  return reply;
}

std::string SimulatedCluster::Server::Span(Args keys_asked, Args checks, bool peek) {
  const std::string record(keys_asked[0]);
  if (keys.contains(record)) {
    return "-UNDONE the request was taken back before it came\r\n";
  }
  const std::string reply = Check(keys_asked.subspan(1), checks, peek);
  if (reply.find("\r\n:-1\r\n") != std::string::npos) {
    Put(record, {.charged = keys_asked.size() - 1});
  }
  return reply;
}

void SimulatedCluster::Server::Undo(Args keys_asked, Args argv) {
  const std::string record(keys_asked[0]);
  const auto found = keys.find(record);
  const std::size_t charged = found == keys.end() ? 0 : found->second.charged;
  Put(record, {});
  for (std::size_t i = 0; i < charged; ++i) {
    TakeBack(keys_asked[1 + i], UnitsIn(argv[6 * i + 2]));
  }
}

void SimulatedCluster::Server::TakeBack(std::string_view key, Units cost) {
  const auto found = keys.find(key);
  if (found == keys.end()) {
    return;
  }
  ++cluster_.taken_back_[cost];
  const Units left = std::max<Units>(0, found->second.used - cost);
  if (left == 0) {
    Erase(std::string(key));
  } else {
    Put(std::string(key), {.used = left});
  }
}

SimulatedCluster::SimulatedCluster(Network& network) : network_(network), owner_(kClusterSlots, 0) {
  primary_ = {0, 1, 2};
  for (std::size_t slot = 0; slot < kClusterSlots; ++slot) {
    owner_[slot] = static_cast<std::uint8_t>(slot * kShards / kClusterSlots);
  }
  for (std::size_t i = 0; i < kServers; ++i) {
    servers_.push_back(std::make_unique<Server>(*this, i));
    servers_[i]->Learn();
  }
}

SimulatedCluster::~SimulatedCluster() = default;

net::DialTarget SimulatedCluster::TargetOf(std::size_t server) {
  return {.host = "10.0.0.1",
          .port = std::to_string(static_cast<std::size_t>(kFirstPort) + server),
          .path = {}};
}

Host& SimulatedCluster::HostAt(const net::DialTarget& target) {
  return *servers_.at(static_cast<std::size_t>(std::stoi(target.port) - kFirstPort));
}

std::string SimulatedCluster::SendAway(const std::string& word, const std::string& rest) {
  ++sent_away_[word];
  return "-" + word + " " + rest + "\r\n";
}

void SimulatedCluster::Spread() {
  for (std::size_t i = 0; i < kServers; ++i) {
    network_.At(network_.now() + std::chrono::microseconds(network_.Draw(100'000)),
                [this, i] { servers_[i]->Learn(); });
  }
}

void SimulatedCluster::FlushScripts(std::size_t server) {
  servers_[server]->scripts.clear();
}

void SimulatedCluster::Stall(std::size_t server, Time until) {
  servers_[server]->stalled_until = std::max(servers_[server]->stalled_until, until);
}

void SimulatedCluster::Kill(std::size_t server) {
  servers_[server]->there = false;
  servers_[server]->scripts.clear();
}

void SimulatedCluster::Start(std::size_t server) {
  servers_[server]->there = true;
}

void SimulatedCluster::Promote(std::size_t shard, bool planned) {
  Server& old = *servers_[primary_[shard]];
  primary_[shard] = OtherOf(primary_[shard]);
  Server& now = *servers_[primary_[shard]];
  Keys kept = planned ? old.keys : old.CatchUp();
  std::erase_if(kept, [&](const auto& entry) { return owner_[entry.second.slot] != shard; });
  now.BeginWith(kept);
  now.scripts.clear();
  now.Learn();
  old.taken_over = now.keys;
  Spread();
  if (planned) {
    Depose(OtherOf(primary_[shard]));
  }
}

void SimulatedCluster::Depose(std::size_t server) {
  Server& old = *servers_[server];
  for (const auto& [key, value] : old.keys) {
    const auto kept = old.taken_over.find(key);
    const Units there = kept == old.taken_over.end() ? 0 : kept->second.used;
    lost_[key] += std::max<Units>(0, value.used - there);
  }
  old.keys.clear();
  old.Learn();
}

void SimulatedCluster::BeginMove(std::uint16_t slot, std::size_t to_shard) {
  moving_[slot] = to_shard;
}

bool SimulatedCluster::MoveKey(std::uint16_t slot) {
  Server& from = *servers_[primary_[owner_[slot]]];
  Server& to = *servers_[primary_[moving_.at(slot)]];
  const auto found =
      std::ranges::find_if(from.keys, [&](const auto& entry) { return entry.second.slot == slot; });
  if (found == from.keys.end()) {
    return false;
  }
  const std::string key = found->first;
  to.Put(key, found->second);
  from.Erase(key);
  return true;
}

void SimulatedCluster::EndMove(std::uint16_t slot) {
  const std::size_t from = primary_[owner_[slot]];
  owner_[slot] = static_cast<std::uint8_t>(moving_.at(slot));
  const std::size_t to = primary_[owner_[slot]];
  moving_.erase(slot);
  for (const std::size_t told : {from, to}) {
    servers_[told]->Learn();
  }
  Spread();
}

Units SimulatedCluster::UsedOf(const std::string& key) const {
  const Keys& keys = servers_[primary_[owner_[SlotOfKey(key)]]]->keys;
  const auto found = keys.find(key);
  return found == keys.end() ? 0 : found->second.used;
}

Units SimulatedCluster::LostOf(const std::string& key) const {
  const auto found = lost_.find(key);
  return found == lost_.end() ? 0 : found->second;
}

}  // namespace sluice::redis
