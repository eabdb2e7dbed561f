#include "simulation/redis/simulated_server.h"

#include <algorithm>
#include <string>

#include <fmt/format.h>

namespace sluice::redis {

namespace {

constexpr std::int64_t kStartUs = 1'700'000'000'000'000;

std::int64_t InUs(Channel::Time now) {
  return kStartUs +
         std::chrono::duration_cast<std::chrono::microseconds>(now.time_since_epoch()).count();
}

}  // namespace

void SimulatedServer::Replicate(Time now, Duration lag) {
  const Time at = to_replica_.empty() ? now + lag : std::max(to_replica_.back().at, now + lag);
  to_replica_.push_back({.at = at, .used = used_});
}

void SimulatedServer::Promote(Time now) {
  while (!to_replica_.empty() && to_replica_.front().at <= now) {
    replica_used_ = to_replica_.front().used;
    to_replica_.pop_front();
  }
  to_replica_.clear();
  lost_ += std::max<Units>(0, used_ - replica_used_);
  used_ = replica_used_;
  scripts_.clear();
}

std::string SimulatedServer::Run(const wire::RespCommandParser& command, Time now, Duration lag) {
  const std::string_view name = command.args()[0];
  if (name == "PING") {
    return "+PONG\r\n";
  }
  if (name == "CLIENT") {
    return "+OK\r\n";
  }
  if (name == "SCRIPT") {
    if (refusal_ == "LOADING") {
      return "-LOADING Redis is loading the dataset in memory\r\n";
    }
    const auto known = std::ranges::find(kScripts, command.args()[2], &Script::text);
    if (known == kScripts.end()) {
      return "-ERR no script of ours\r\n";
    }
    scripts_.emplace(known->sha1);
    return fmt::format("${}\r\n{}\r\n", known->sha1.size(), known->sha1);
  }
  if (name == "EVALSHA") {
    if (refusal_ == "LOADING") {
      return "-LOADING Redis is loading the dataset in memory\r\n";
    }
    if (!scripts_.contains(command.args()[1])) {
      return "-NOSCRIPT No matching script. Please use EVAL.\r\n";
    }
    if (!refusal_.empty()) {
      return "-" + refusal_ + " You can't write against a read only replica.\r\n";
    }
    return Evaluate(command, now, lag);
  }
  return "-ERR unknown command\r\n";
}

// As the scripts do, for a window that does not end: fixed_window.lua and refund.lua.
std::string SimulatedServer::Evaluate(const wire::RespCommandParser& command, Time now,
                                      Duration lag) {
  const std::int64_t now_us = InUs(now);
  const std::int64_t left_us = 3'600'000'000;
  if (command.args()[1] == ScriptOf(ScriptId::kRefund).sha1) {
    used_ = std::max<Units>(0, used_ - std::stoll(std::string(command.args()[6])));
    Replicate(now, lag);
    return fmt::format("*1\r\n:{}\r\n", now_us);
  }
  const Units cost = std::stoll(std::string(command.args()[6]));
  if (used_ + cost > limit_) {
    return fmt::format("*5\r\n:{}\r\n:1\r\n:{}\r\n:{}\r\n:{}\r\n", now_us, limit_ - used_, left_us,
                       left_us);
  }
  used_ += cost;
  charged_ += cost;
  Replicate(now, lag);
  return fmt::format("*5\r\n:{}\r\n:-1\r\n:{}\r\n:{}\r\n:0\r\n", now_us, limit_ - used_, left_us);
}

}  // namespace sluice::redis
