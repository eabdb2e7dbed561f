#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

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

  [[nodiscard]] const std::string& socket_path() const { return socket_path_; }
  [[nodiscard]] const std::string& folder() const { return folder_; }

  // Runs one command over a connection of its own and waits for the reply: texts and numbers as
  // their text, an error as "-ERR ...", aggregates as their values with spaces between.
  std::string Run(std::initializer_list<std::string_view> args);
  // The same after this password. "": none.
  void set_password(std::string password) { password_ = std::move(password); }

  void Pause() const;   // SIGSTOP: connections stay and nothing is answered.
  void Resume() const;  // SIGCONT
  void Kill();          // As kill -9 does; forgets everything.
  void Start();         // Again, on the same socket. Waits until it answers.

 private:
  std::string folder_;
  std::string socket_path_;
  std::vector<std::string> options_;
  std::string password_;
  pid_t pid_ = 0;
};

}  // namespace sluice::support
