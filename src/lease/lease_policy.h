#pragma once

#include "sluice/decision.h"
#include "sluice/time.h"

// How much to borrow, when to borrow again, and when to give back. These are heuristics: a mistake
// here cannot let too much pass, it only wastes calls or units.
//
// The problem: if every request asks the shared store, every request costs a round trip. If a node
// borrows units in chunks instead, which the shared store counts as spent, it decides alone until
// they are used up, and no more than the quota passes. But other nodes are denied the units that a
// node holds and does not use. Chunks of a fixed size lose half of a small quota this way, and
// chunks that are too small cost round trips again.
//
// The idea: a node borrows only what it will use. It measures how fast requests arrive. From the
// rest that the shared store reports and its own use it estimates its share of all arrivals. Of a
// window's rest R it borrows at most its share of three quarters of R. So the chunks shrink as the
// quota runs out, like half-lives, and the last units are requested one by one.
//
//   used here   |####|##|#|·|·|          a chunk, a smaller one, ..., single units
//   held        |  \_|\_|_|  |           refilled before it is empty
//   window      0 ------------------ W
//
// Corner cases:
// - A new key may never be used again: a node borrows no more than twice what has arrived so far.
// - If a node's share is only a few units, it requests each unit: one chunk would be all of them.
// - Unused units are given back after about eight times the usual gap between requests if the quota
//   is short. If there is plenty, the node keeps them for a quarter of the window.
// - A denial is remembered for a quarter of the rest of the window, because other nodes may give
//   units back. Without that, every request for a denied key would ask the shared store.
// - A bucket or a sliding window has no end at which all held units become void. So a node may hold
//   an eighth of the quota, divided by all nodes that borrow. At most that eighth, and as much that
//   is being given back, passes beyond what the algorithm promises for any span of time.
//
// Sources: P. O'Neil, "The escrow transactional method", 1986, and D. Barbara and H. Garcia-Molina,
// "The demarcation protocol", 1992, for units that are debited before they are used; Doorman
// (YouTube, 2016) for leases of capacity. The constants are those with which a simulation of 5 to
// 500 nodes lost the least.
namespace sluice::lease {

// A book's view of one key at the moment of the decision.
struct LeaseView {
  bool is_window = true;    // fixed_window; otherwise a bucket or a sliding window.
  Units limit = 0;          // What a fresh key grants.
  Units remaining = 0;      // In the shared store, as last reported.
  double share = 1;         // This book's part of all arrivals, 0 to 1.
  double rate = 0;          // Units per second that arrive here.
  double usable_s = 0;      // How long a grant could be used.
  double span_s = 0;        // The window, or the time in which a bucket refills.
  double refill = 0;        // Units per second that are refilled; 0 for a window.
  double round_trip_s = 0;  // The round trip to the shared store.
  Units held = 0;           // Borrowed and not yet spent.
  Units seen = 0;           // Requested from this book within about the last window.
};

// The most that a book may hold of a key that has no window. 0 for one that has.
[[nodiscard]] Units MostHeld(const LeaseView& view);

// Whether the share is so small that each unit should be requested from the shared store.
[[nodiscard]] bool IsSmall(const LeaseView& view);

// How many units to borrow; 0: none.
[[nodiscard]] Units GrantOf(const LeaseView& view);

// If no more units than this are left, it is time to borrow: enough for the arrivals during a call,
// and a reserve.
[[nodiscard]] Units RefillPoint(double rate, double round_trip_s);

// After this time without a request, the held units are given back.
[[nodiscard]] Duration IdleTime(const LeaseView& view);

// How long a denial of the shared store is remembered. `retry_after` is the store's; `jitter` is
// drawn from 0.75 to 1.25.
[[nodiscard]] Duration DenialTime(const LeaseView& view, Duration retry_after, double jitter);

// How long a grant can be used if its call was sent this long before the window's end. This is a
// thousandth less than that time, because the clocks of node and store may differ in speed by as
// much.
[[nodiscard]] Duration UsableTime(Duration until_end);

}  // namespace sluice::lease
