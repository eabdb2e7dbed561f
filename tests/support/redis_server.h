#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

#include "support/temporary_folder.h"

namespace sluice::support {

// A redis-server of a test's own, on a Unix socket in a folder of its own. What cannot be done
// fails the test's process: a test that needs Redis is never skipped in silence.
class RedisServer {
 public:
  // `options` as on its command line: {"--requirepass", "secret"}.
  explicit RedisServer(std::vector<std::string> options = {});
  ~RedisServer();
  RedisServer(const RedisServer&) = delete;
  RedisServer& operator=(const RedisServer&) = delete;

  // A Sentinel that watches the server on this port as "mymaster", alone to decide, and gives a
  // server half a second. On `port`, without a socket: Run() is not for it. `lines`: more of its
  // configuration, which come last.
  static std::unique_ptr<RedisServer> Sentinel(int port, int primary_port,
                                               const std::string& lines = "");

  [[nodiscard]] const std::string& socket_path() const { return socket_path_; }
  [[nodiscard]] const std::string& folder() const { return folder_; }

  // Runs one command over a connection of its own and waits for the reply: texts and numbers as
  // their text, an error as "-ERR ...", aggregates as their values with spaces between.
  std::string Run(std::initializer_list<std::string_view> args);
  // Nothing where it hung up before it answered, as a Sentinel makes it do to all of its clients
  // when it changes the server's role.
  std::optional<std::string> RunUnlessHungUp(std::initializer_list<std::string_view> args);
  // The same after this password. "": none.
  void set_password(std::string password) { password_ = std::move(password); }

  void Pause() const;   // SIGSTOP: connections stay and nothing is answered.
  void Resume() const;  // SIGCONT
  void Kill();          // As kill -9 does; forgets everything.
  void Start();         // Again, on the same socket. Waits until it answers.

 private:
  struct Bare {};
  explicit RedisServer(Bare /*bare*/) {}
  void Launch(std::vector<std::string> args, const char* ready);

  const TemporaryFolder temporary_;
  const std::string folder_ = temporary_.path().string();
  const std::string socket_path_ = folder_ + "/redis.sock";
  std::vector<std::string> options_;
  std::string password_;
  pid_t pid_ = 0;
};

// A port on 127.0.0.1 that nobody has just now. Servers do not say which one they were given.
[[nodiscard]] int FreePort();

// Looks every few milliseconds whether `done`, as other processes take their time. Fails the test's
// process after 30 s.
void WaitUntil(const std::function<bool()>& done, const char* what);

}  // namespace sluice::support
