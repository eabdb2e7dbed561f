#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "net/timer_wheel.h"
#include "redis/request.h"
#include "redis/route.h"

namespace sluice::net {
class EventLoop;
}  // namespace sluice::net

namespace sluice::redis {

// Requests the secret that all nodes of one Redis share, and stores the offered one if there is
// none. A secret is text of kDigits hexadecimal digits.
class SecretCall : public store::StoreCall {
 public:
  static constexpr std::string_view kKey = "sl1:{tokens}:secret";  // Kept without an end.
  static constexpr std::size_t kDigits = 64;

  std::string offer;  // In.
  std::string found;  // Out.
};

struct SecretVerb {
  using Call = SecretCall;
  static std::optional<ScriptId> Append(Call& call, const Judged& judged, std::string& out);
  static Outcome Read(Reply reply, Call& call);
  static std::uint16_t Place(Call& call);
};

// Keeps a node in possession of the secret that all nodes of its Redis share. The first node makes
// it. Each asks until it knows it, and then now and then, offering the one that it knows: so a
// Redis that lost its data has the same secret again, and one that has another by now is followed.
// One thread, the loop's.
class SharedSecret final : private SecretCall {
 public:
  // Called on the loop's thread with every secret that is new to this node.
  using OnSecret = std::function<void(std::string_view secret)>;

  // All of these outlive it, but for the route, which may answer what it was asked at its end.
  // `every`: between questions once it is known.
  SharedSecret(net::EventLoop& loop, Route& route, OnSecret on_secret, Duration every);

 private:
  void Ask();
  void OnAnswered() noexcept override;

  net::EventLoop& loop_;
  Route& route_;
  const OnSecret on_secret_;
  const Duration every_;
  bool is_known_ = false;
  net::Timer ask_;
};

}  // namespace sluice::redis
