#include "wire/resp_writer.h"

namespace sluice::wire {

void RespWriter::Line(char mark, std::string_view code, std::string_view text) {
  out_ += mark;
  out_ += code;
  if (!code.empty()) {
    out_ += ' ';
  }
  for (const char c : text) {
    out_ += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
  }
  out_ += "\r\n";
}

void AppendRespCommand(std::span<const std::string_view> args, std::string& out) {
  RespWriter writer(out, RespVersion::k2);
  writer.Array(args.size());
  for (const std::string_view arg : args) {
    writer.Bulk(arg);
  }
}

}  // namespace sluice::wire
