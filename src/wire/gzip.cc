#include "wire/gzip.h"

#include <algorithm>

#include <zlib.h>

namespace sluice::wire {

GunzipResult Gunzip(std::string_view bytes, std::size_t most, std::string& out) {
  constexpr int kGzipOnly = 16 + MAX_WBITS;
  constexpr std::size_t kPiece = 16 * 1024;
  out.clear();
  z_stream stream{};
  if (inflateInit2(&stream, kGzipOnly) != Z_OK) {
    return GunzipResult::kBroken;
  }
  // zlib's interface is older than const; it only reads.
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  int status = Z_OK;
  while (status == Z_OK && out.size() <= most) {
    const std::size_t had = out.size();
    const std::size_t room = std::min(kPiece, most + 1 - had);
    out.resize(had + room);
    stream.next_out = reinterpret_cast<Bytef*>(out.data() + had);
    stream.avail_out = static_cast<uInt>(room);
    status = inflate(&stream, Z_NO_FLUSH);
    out.resize(had + room - stream.avail_out);
    if (status == Z_OK && out.size() == had && stream.avail_in == 0) {
      break;  // It ends in the middle.
    }
  }
  const bool whole = status == Z_STREAM_END && stream.avail_in == 0;
  inflateEnd(&stream);
  if (out.size() > most) {
    return GunzipResult::kTooLarge;
  }
  return whole ? GunzipResult::kWhole : GunzipResult::kBroken;
}

}  // namespace sluice::wire
