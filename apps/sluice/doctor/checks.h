#pragma once

#include "doctor/facts.h"
#include "doctor/finding.h"

// The families of checks, each in a file of its own. Each adds what it finds in `facts`, and
// nothing where its facts are missing. docs/doctor.md has a heading for each name of a check.
namespace sluice::app::doctor {

// All families, in this order.
[[nodiscard]] FindingList CheckAll(const Facts& facts);

// Whether it is right, and the rules in it.
void CheckConfiguration(const Facts& facts, FindingList& findings);

void CheckDaemon(const Facts& facts, FindingList& findings);   // Whether it answers; modes, rules.
void CheckTraffic(const Facts& facts, FindingList& findings);  // What requests look like.
void CheckStore(const Facts& facts, FindingList& findings);    // The table, snapshots, Redis.

void CheckRedis(const Facts& facts, FindingList& findings);  // Its servers.
void CheckHost(const Facts& facts, FindingList& findings);   // Clock, ports, files, memory.
void CheckNginx(const Facts& facts, FindingList& findings);  // Whether NGINX asks, and how.

}  // namespace sluice::app::doctor
