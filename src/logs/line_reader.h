#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/result.h"

namespace sluice::logs {

// The bytes of one log: a file or standard input, plain or gzip, detected by its first bytes and
// not by its name. One thread.
class ByteSource {
 public:
  // `path` "-" is standard input. Errors: it cannot be opened; its compression is not supported.
  [[nodiscard]] static Result<std::unique_ptr<ByteSource>> Open(const std::string& path);
  virtual ~ByteSource() = default;

  // Reads up to room.size() bytes; 0 at the end. Errors: it cannot be read, or its gzip stream is
  // damaged or truncated; the bytes before that are valid.
  [[nodiscard]] virtual Result<std::size_t> Read(std::span<char> room) = 0;

  // Whether it is a file, which has the same bytes when it is opened again.
  [[nodiscard]] virtual bool is_file() const = 0;

  // The position and the size, in bytes of the file; 0 if unknown.
  [[nodiscard]] virtual std::uint64_t position() const = 0;
  [[nodiscard]] virtual std::uint64_t size() const = 0;
};

// Splits a source into lines. One buffer, whatever the size of the log: a line longer than
// kMaxLineBytes is truncated, and its rest skipped. One thread.
class LineReader {
 public:
  static constexpr std::size_t kMaxLineBytes = std::size_t{64} << 10;

  explicit LineReader(std::unique_ptr<ByteSource> source);

  // The first lines that Next() will return: complete lines, unless the log is shorter or its lines
  // are longer than kMaxLineBytes. Call it before the first Next().
  [[nodiscard]] std::string_view Head();

  // The next line without its line break (\n or \r\n) and without a UTF-8 byte order mark, valid
  // until the next call; nullopt at the end.
  [[nodiscard]] std::optional<std::string_view> Next();

  [[nodiscard]] std::uint64_t line_number() const { return line_number_; }  // From 1.
  [[nodiscard]] bool too_long() const { return too_long_; }  // The last line was truncated.
  // The error that ended reading, if any.
  [[nodiscard]] const std::optional<Error>& error() const { return error_; }
  [[nodiscard]] const ByteSource& source() const { return *source_; }

 private:
  // Makes room and reads more bytes. False at the end.
  bool Fill();

  std::unique_ptr<ByteSource> source_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0;  // Of the bytes not yet returned.
  std::size_t end_ = 0;
  std::uint64_t line_number_ = 0;
  bool too_long_ = false;
  bool within_line_ = false;  // The next bytes are the rest of a truncated line.
  bool over_ = false;
  std::optional<Error> error_;
};

}  // namespace sluice::logs
