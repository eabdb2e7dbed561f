#pragma once

#include <cstdint>
#include <deque>
#include <set>
#include <string>

#include "redis/channel.h"
#include "wire/resp_command_parser.h"

namespace sluice::redis {

// A Redis as a channel sees it, without I/O: one key of a fixed window that never ends, a script
// cache, and a replica that is some time behind.
class SimulatedServer {
 public:
  using Time = Channel::Time;

  explicit SimulatedServer(Units limit) : limit_(limit) {}

  // Runs one command of a connection, and returns the reply. `lag`: when the replica has it.
  std::string Run(const wire::RespCommandParser& command, Time now, Duration lag);

  void FlushScripts() { scripts_.clear(); }
  // The replica takes the server's place, without what it did not get.
  void Promote(Time now);
  // The error with which scripts are refused: "READONLY", "LOADING"; "": they run.
  void RefuseWith(std::string word) { refusal_ = std::move(word); }

  [[nodiscard]] Units used() const { return used_; }
  // Charges that ran, over all promotions.
  [[nodiscard]] Units charged() const { return charged_; }
  // What was used and then lost, over all promotions.
  [[nodiscard]] Units lost() const { return lost_; }

 private:
  struct Write {
    Time at;
    Units used;
  };

  void Replicate(Time now, Duration lag);
  std::string Evaluate(const wire::RespCommandParser& command, Time now, Duration lag);

  const Units limit_;
  std::set<std::string, std::less<>> scripts_;
  std::string refusal_;
  Units used_ = 0;
  Units replica_used_ = 0;
  std::deque<Write> to_replica_;
  Units charged_ = 0;
  Units lost_ = 0;
};

}  // namespace sluice::redis
