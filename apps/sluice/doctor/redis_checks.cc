#include <chrono>
#include <cstdlib>
#include <string>

#include <fmt/format.h>

#include "doctor/checks.h"

// The servers of `store: {redis: ...}`, as they say of themselves.
namespace sluice::app::doctor {

namespace {

std::string InfoOf(const RedisFacts& facts, std::string_view name) {
  const auto found = facts.info.find(name);
  return found == facts.info.end() ? "" : found->second;
}

double InfoNumber(const RedisFacts& facts, std::string_view name) {
  return std::strtod(InfoOf(facts, name).c_str(), nullptr);
}

void CheckAnswer(const RedisFacts& redis, FindingList& findings) {
  if (!redis.failure.empty()) {
    findings.push_back({.check = "redis-no-answer",
                        .severity = Severity::kProblem,
                        .seen = fmt::format("Redis at {}: {}", redis.server, redis.failure),
                        .follows = "from here, rules decide by their on_store_error",
                        .remedy = "redis-cli -h HOST -p PORT PING; check the address, the password "
                                  "file and what the ACL user may do (TIME, INFO)"});
  }
}

void CheckClock(const RedisFacts& redis, FindingList& findings) {
  const double ms = std::chrono::duration<double, std::milli>(redis.clock_offset).count();
  const double slack = std::chrono::duration<double, std::milli>(redis.round_trip).count() / 2;
  constexpr double kFar = 500;
  if (std::abs(ms) - slack < kFar) {
    return;
  }
  findings.push_back(
      {.check = "redis-clock",
       .severity = Severity::kWarning,
       .seen = fmt::format("the clock of Redis at {} is {:.1f} s {} this host's", redis.server,
                           std::abs(ms) / 1000, ms > 0 ? "ahead of" : "behind"),
       .follows =
           "Redis judges by its own clock: resets in answers are wrong by as much, and after "
           "a failover windows begin again or last longer",
       .remedy = "run chrony or another NTP client on both hosts: chronyc tracking"});
}

void CheckMemory(const RedisFacts& redis, FindingList& findings) {
  const std::string policy = InfoOf(redis, "maxmemory_policy");
  const double most = InfoNumber(redis, "maxmemory");
  const double used = InfoNumber(redis, "used_memory");
  const double evicted = InfoNumber(redis, "evicted_keys");
  if (!policy.empty() && policy != "noeviction") {
    findings.push_back(
        {.check = "redis-evicts",
         .severity = evicted > 0 ? Severity::kProblem : Severity::kWarning,
         .seen = fmt::format("Redis at {} has maxmemory-policy {}, and has evicted {:.0f} keys",
                             redis.server, policy, evicted),
         .follows =
             "when its memory is full, it removes counters, and those clients have their full "
             "limit again",
         .remedy = "redis-cli CONFIG SET maxmemory-policy noeviction, and in redis.conf"});
  }
  if (most > 0 && used > 0.9 * most) {
    findings.push_back({.check = "redis-full",
                        .severity = Severity::kWarning,
                        .seen = fmt::format("Redis at {} uses {:.0f} of {:.0f} MiB (maxmemory)",
                                            redis.server, used / (1U << 20U), most / (1U << 20U)),
                        .follows = "when it is full, it refuses new keys: rules decide by their "
                                   "on_store_error",
                        .remedy = "raise maxmemory (docs/sizing.md)"});
  }
}

void CheckRole(const RedisFacts& redis, FindingList& findings) {
  if (InfoOf(redis, "role") == "slave") {
    findings.push_back({.check = "redis-replica",
                        .severity = Severity::kProblem,
                        .seen = fmt::format("Redis at {} is a replica", redis.server),
                        .follows = "it refuses to write: rules decide by their on_store_error",
                        .remedy = "name the primary, or its Sentinels (store: {redis: {sentinel: "
                                  "...}})"});
  }
  const std::string version = InfoOf(redis, "redis_version");
  constexpr int kLeast = 7;
  if (!version.empty() && std::atoi(version.c_str()) < kLeast) {
    findings.push_back({.check = "redis-version",
                        .severity = Severity::kProblem,
                        .seen = fmt::format("Redis at {} has version {}", redis.server, version),
                        .follows = "Sluice needs version 7 or later",
                        .remedy = "upgrade Redis"});
  }
  if (redis.expects_cluster && InfoOf(redis, "cluster_enabled") == "0") {
    findings.push_back({.check = "redis-no-cluster",
                        .severity = Severity::kProblem,
                        .seen = fmt::format("Redis at {} is no node of a cluster", redis.server),
                        .follows = "the daemon finds no map of slots, and no key",
                        .remedy = "write store: {redis: {address: ...}} for one server"});
  } else if (!redis.expects_cluster && InfoOf(redis, "cluster_enabled") == "1") {
    findings.push_back({.check = "redis-no-cluster",
                        .severity = Severity::kProblem,
                        .seen = fmt::format("Redis at {} is a node of a cluster", redis.server),
                        .follows = "it refuses keys of other nodes: rules decide by their "
                                   "on_store_error",
                        .remedy = "write store: {redis: {cluster: [...]}}"});
  }
}

void CheckPersistence(const RedisFacts& redis, FindingList& findings) {
  if (InfoOf(redis, "rdb_last_bgsave_status") == "err") {
    findings.push_back(
        {.check = "redis-persistence",
         .severity = Severity::kWarning,
         .seen = fmt::format("the last snapshot of Redis at {} failed", redis.server),
         .follows = "a restart of Redis loses more than it should, and it may refuse "
                    "to write (stop-writes-on-bgsave-error)",
         .remedy = "see Redis's log: most often the disk is full"});
  } else if (InfoOf(redis, "aof_enabled") == "0") {
    findings.push_back({.check = "redis-persistence",
                        .severity = Severity::kNote,
                        .seen = fmt::format("Redis at {} has appendonly no", redis.server),
                        .follows = "a restart of Redis loses what was used since its last snapshot",
                        .remedy = "redis-cli CONFIG SET appendonly yes, and in redis.conf, if that "
                                  "matters"});
  }
}

}  // namespace

void CheckRedis(const Facts& facts, FindingList& findings) {
  for (const RedisFacts& redis : facts.redis) {
    for (const auto check :
         {&CheckAnswer, &CheckClock, &CheckMemory, &CheckRole, &CheckPersistence}) {
      check(redis, findings);
    }
  }
}

}  // namespace sluice::app::doctor
