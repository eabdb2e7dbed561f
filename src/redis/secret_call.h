#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "store/key_store.h"

namespace sluice::redis {

// Asks for the secret that all nodes of one Redis share, and makes it what is offered if there is
// none. A secret is text of kDigits hexadecimal digits.
class SecretCall : public store::StoreCall {
 public:
  // Kept without an end; its tag says where it lies in a cluster.
  static constexpr std::string_view kKey = "sl1:{tokens}:secret";
  static constexpr std::string_view kTag = "tokens";
  static constexpr std::size_t kDigits = 64;

  std::string offer;  // In.
  std::string found;  // Out.
};

}  // namespace sluice::redis
