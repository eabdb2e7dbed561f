#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "net/dial.h"
#include "net/timer_wheel.h"
#include "net/transport.h"
#include "redis/opening.h"
#include "wire/resp_reply_parser.h"

namespace sluice::net {
class EventLoop;
}  // namespace sluice::net

namespace sluice::redis {

struct SentinelSettings {
  std::vector<net::DialTarget> sentinels;  // Empty: none are asked.
  std::string primary{};                   // As they call it.
  std::string username{};
  std::string password_file{};  // Read at every dial; "": none.
  std::string password{};       // Where there is no file.
};

// Asks Redis's Sentinels which server is the primary, and hears from one of them when that changes
// (`+switch-master`). A Sentinel that does not answer, or does not know, is left for the next; when
// all have been asked there is a pause, drawn from a quarter to half a second. One thread, the
// loop's.
class SentinelWatch {
 public:
  // Where the primary is, as far as somebody knows: again and again, also the same.
  using OnPrimary = std::function<void(const net::DialTarget& primary)>;
  using OnTrouble = std::function<void(const std::string& text)>;

  // Begins at once. All outlive it.
  SentinelWatch(net::EventLoop& loop, const SentinelSettings& settings,
                const OpeningSettings& opening, OnPrimary on_primary, OnTrouble on_trouble);
  ~SentinelWatch();
  SentinelWatch(const SentinelWatch&) = delete;
  SentinelWatch& operator=(const SentinelWatch&) = delete;

  // The reported primary does not serve: asks another Sentinel. May be called in vain.
  void AskAnew();

 private:
  class Connection;

  void AskNext(std::string_view why);
  void Open();
  void Begin(std::unique_ptr<net::Transport> transport);
  // False: this Sentinel is of no use.
  [[nodiscard]] bool OnReply(std::span<const wire::RespNode> reply);
  void OnInput(std::string_view bytes);
  void Leave();
  void OnTick();

  net::EventLoop& loop_;
  const SentinelSettings& settings_;
  const OpeningSettings& opening_settings_;
  const OnPrimary on_primary_;
  const OnTrouble on_trouble_;
  std::size_t next_ = 0;     // Whom to ask.
  std::size_t in_vain_ = 0;  // How many in a row were of no use.
  bool answered_ = false;    // The Sentinel that is connected has answered.
  std::size_t awaited_ = 0;  // Of the greeting's replies, how many come before the address.
  net::SteadyTime heard_at_{};
  std::unique_ptr<Opening> opening_;
  std::shared_ptr<Connection> connection_;
  wire::RespReplyParser parser_;
  net::Timer pause_;  // Until the next is asked.
  net::Timer tick_;   // Whether the Sentinel is still there.
};

}  // namespace sluice::redis
