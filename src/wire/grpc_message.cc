#include "wire/grpc_message.h"

#include <cstdint>

#include "wire/gzip.h"

namespace sluice::wire {

namespace {

GrpcMessage MessageProblem(GrpcCode code, std::string_view problem) {
  return {.bytes = {}, .code = code, .problem = problem};
}

std::uint32_t LengthAt(const char* bytes) {
  std::uint32_t length = 0;
  for (int i = 0; i < 4; ++i) {
    length = (length << 8U) | static_cast<unsigned char>(bytes[i]);
  }
  return length;
}

}  // namespace

// The codes are those of "Status codes and their use in gRPC" (statuscodes.md).
GrpcMessage ReadGrpcMessage(std::string_view body, std::string_view encoding, std::size_t most,
                            std::string& inflated) {
  if (body.empty()) {
    return MessageProblem(GrpcCode::kUnimplemented,
                          "a unary call has one message, this call has none");
  }
  if (body.size() < kGrpcPrefixBytes) {
    return MessageProblem(GrpcCode::kInternal, "the message ends within its prefix");
  }
  const char flag = body[0];
  if (flag != 0 && flag != 1) {
    return MessageProblem(GrpcCode::kInternal, "the message's compressed flag is neither 0 nor 1");
  }
  const std::size_t length = LengthAt(body.data() + 1);
  const std::string_view rest = body.substr(kGrpcPrefixBytes);
  if (length > most) {
    return MessageProblem(GrpcCode::kResourceExhausted, "the message is too large");
  }
  if (rest.size() < length) {
    return MessageProblem(GrpcCode::kInternal, "the message is shorter than its prefix says");
  }
  if (rest.size() > length) {
    return MessageProblem(GrpcCode::kUnimplemented,
                          "a unary call has one message, this call has several");
  }
  if (flag == 0) {
    return {.bytes = rest, .code = GrpcCode::kOk, .problem = {}};
  }
  if (encoding.empty() || encoding == "identity") {
    return MessageProblem(GrpcCode::kInternal,
                          "the message is compressed, but grpc-encoding is missing");
  }
  if (encoding != "gzip") {
    return MessageProblem(GrpcCode::kUnimplemented, "unknown grpc-encoding: use identity or gzip");
  }
  switch (Gunzip(rest, most, inflated)) {
    case GunzipResult::kWhole:
      return {.bytes = inflated, .code = GrpcCode::kOk, .problem = {}};
    case GunzipResult::kTooLarge:
      return MessageProblem(GrpcCode::kResourceExhausted,
                            "the message is too large when decompressed");
    case GunzipResult::kBroken:
      break;
  }
  return MessageProblem(GrpcCode::kInternal, "the message cannot be decompressed");
}

std::size_t BeginGrpcMessage(std::string& out) {
  out.append(kGrpcPrefixBytes, '\0');
  return out.size();
}

void EndGrpcMessage(std::string& out, std::size_t begun) {
  const std::size_t length = out.size() - begun;
  for (std::size_t i = 0; i < 4; ++i) {
    out[begun - 1 - i] = static_cast<char>((length >> (8 * i)) & 0xffU);
  }
}

}  // namespace sluice::wire
