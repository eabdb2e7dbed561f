#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "wire/grpc_status.h"

namespace sluice::wire {

// The five bytes before each message: whether it is compressed, and its length, big-endian.
inline constexpr std::size_t kGrpcPrefixBytes = 5;

// The one message of a unary call, or why there is none.
struct GrpcMessage {
  std::string_view bytes;
  GrpcCode code = GrpcCode::kOk;
  std::string_view problem;
};

// Reads the whole body of a unary call. `encoding` is its grpc-encoding ("" for none); identity and
// gzip are known. `most` bounds the message, as it is after decompression. The message is a view of
// `body`, or of `inflated`.
[[nodiscard]] GrpcMessage ReadGrpcMessage(std::string_view body, std::string_view encoding,
                                          std::size_t most, std::string& inflated);

// Begins a message in `out`, which is appended to it then; EndGrpcMessage() takes what Begin
// returned and writes the length.
[[nodiscard]] std::size_t BeginGrpcMessage(std::string& out);
void EndGrpcMessage(std::string& out, std::size_t begun);

}  // namespace sluice::wire
