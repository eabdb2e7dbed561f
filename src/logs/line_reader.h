#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "sluice/result.h"

#include "logs/byte_source.h"

namespace sluice::logs {

// Cuts a source into lines. One buffer, whatever the size of the log: a line longer than
// kMaxLineBytes is cut, and its rest skipped. One thread.
class LineReader {
 public:
  static constexpr std::size_t kMaxLineBytes = std::size_t{64} << 10;

  explicit LineReader(std::unique_ptr<ByteSource> source);

  // The beginning of what Next() will give: whole lines unless the log is shorter or its lines
  // are longer than kMaxLineBytes. Before the first Next().
  [[nodiscard]] std::string_view Head();

  // The next line without its end (\n or \r\n) and without a UTF-8 mark before it, until the next
  // call; nullopt at the end.
  [[nodiscard]] std::optional<std::string_view> Next();

  [[nodiscard]] std::uint64_t line_number() const { return line_number_; }  // From 1.
  [[nodiscard]] bool too_long() const { return too_long_; }  // The last line was cut.
  // What ended the reading early, if anything did.
  [[nodiscard]] const std::optional<Error>& error() const { return error_; }
  [[nodiscard]] const ByteSource& source() const { return *source_; }

 private:
  // Makes room and reads more. False at the end.
  bool Fill();

  std::unique_ptr<ByteSource> source_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0;  // Of what has not been given out.
  std::size_t end_ = 0;
  std::uint64_t line_number_ = 0;
  bool too_long_ = false;
  bool within_line_ = false;  // What comes next is the rest of a line that was cut.
  bool over_ = false;
  std::optional<Error> error_;
};

}  // namespace sluice::logs
