#include "net/connection_limit.h"

namespace sluice::net {

bool ConnectionLimit::TryTake() {
  if (open_.fetch_add(1, std::memory_order_relaxed) >= most_) {
    open_.fetch_sub(1, std::memory_order_relaxed);
    refused_.fetch_add(1, std::memory_order_relaxed);
    return false;
  }
  return true;
}

void ConnectionLimit::Return() {
  open_.fetch_sub(1, std::memory_order_relaxed);
}

}  // namespace sluice::net
