#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "sluice/result.h"

namespace sluice::logs {

// The bytes of one log: a file or standard input, plain or gzip, told by its first bytes and
// not by its name. One thread.
class ByteSource {
 public:
  // `path` "-" is standard input. Errors: it cannot be opened; it is compressed in a way that we
  // do not read.
  [[nodiscard]] static Result<std::unique_ptr<ByteSource>> Open(const std::string& path);
  virtual ~ByteSource() = default;

  // Up to room.size() bytes; 0 at the end, and from then on. Errors: it cannot be read, or its
  // gzip stream is damaged or cut off; what came before is good.
  [[nodiscard]] virtual Result<std::size_t> Read(std::span<char> room) = 0;

  // Whether it is a file, which gives the same bytes when it is opened again.
  [[nodiscard]] virtual bool is_file() const = 0;

  // How far it has been read, and how much there is, in bytes of the file; 0: nobody knows.
  [[nodiscard]] virtual std::uint64_t position() const = 0;
  [[nodiscard]] virtual std::uint64_t size() const = 0;
};

}  // namespace sluice::logs
