#pragma once

#include <memory>
#include <string>
#include <utility>

#include "sluice/result.h"

namespace sluice::net {

// A Unix socket that is listened on: bound once, with a listener for each loop. Its file exists as
// long as it does. One thread.
class UnixSocket {
 public:
  // Replaces a socket that no process listens on any more. Errors: somebody does; something else
  // stands at `path`; it cannot be made there, or is too long.
  [[nodiscard]] static Result<std::unique_ptr<UnixSocket>> Bind(const std::string& path);
  ~UnixSocket();
  UnixSocket(const UnixSocket&) = delete;
  UnixSocket& operator=(const UnixSocket&) = delete;

 private:
  friend class Listener;
  UnixSocket(std::string path, int fd) : path_(std::move(path)), fd_(fd) {}

  const std::string path_;
  const int fd_;
};

}  // namespace sluice::net
