#pragma once

#include <string>
#include <utility>
#include <vector>

#include "net/dial.h"
#include "store/key_store.h"

namespace sluice::redis {

// One question of many, all of which together list the bans that a server has.
struct BanPage : store::StoreCall {
  // In.
  net::DialTarget server;   // Of a cluster: whom to ask.
  std::string begin = "0";  // Where the page begins; out: where the next one does, or "0".
  // Out. With the names of their keys, as one may come twice.
  std::vector<std::pair<std::string, store::BannedKey>> bans;
};

}  // namespace sluice::redis
