#include "wire/resp_writer.h"

#include "base/display_text.h"

namespace sluice::wire {

void RespWriter::Line(char mark, std::string_view code, std::string_view text) {
  out_ += mark;
  out_ += code;
  if (!code.empty()) {
    out_ += ' ';
  }
  base::AppendDisplayText(text, out_);  // It may quote a command, and people read it in terminals.
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
