#include "wire/grpc_message.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <exception>

#include <protozero/pbf_reader.hpp>
#include <protozero/pbf_writer.hpp>
#include <zlib.h>

#include "base/utf8.h"

namespace sluice::wire {

std::string_view DigitsOf(GrpcCode code) {
  constexpr std::array<std::string_view, 17> kDigits{
      "0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12", "13", "14", "15", "16"};
  return kDigits[static_cast<std::size_t>(code)];
}

void AppendGrpcMessage(std::string& out, std::string_view text) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  for (const char c : text) {
    if (c >= ' ' && c <= '~' && c != '%') {
      out += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      out += '%';
      out += kHex[byte >> 4U];
      out += kHex[byte & 15U];
    }
  }
}

std::optional<Duration> ReadGrpcTimeout(std::string_view text) {
  if (text.size() < 2 || text.size() > 9) {
    return std::nullopt;
  }
  std::int64_t count = 0;
  const char* const last = text.data() + text.size() - 1;
  const auto [end, error] = std::from_chars(text.data(), last, count);
  if (error != std::errc() || end != last || count < 0 || text.front() == '-') {
    return std::nullopt;
  }
  switch (*last) {
    case 'H':
      // A Duration cannot hold eight digits of hours. A century is as good as never.
      return std::chrono::hours(count < 876'000 ? count : 876'000);
    case 'M':
      return std::chrono::minutes(count < 52'560'000 ? count : 52'560'000);
    case 'S':
      return std::chrono::seconds(count);
    case 'm':
      return std::chrono::milliseconds(count);
    case 'u':
      return std::chrono::microseconds(count);
    case 'n':
      return std::chrono::nanoseconds(count);
    default:
      return std::nullopt;
  }
}

namespace {

enum class GunzipResult : std::uint8_t { kWhole, kTooLarge, kBroken };

// Replaces `out` by the content of `bytes`, one gzip member (RFC 1952). Stops after `most` + 1
// bytes, however large the content is.
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

}  // namespace

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

std::optional<std::string_view> ReadHealthCheckRequest(std::string_view bytes) {
  std::string_view service;
  try {
    protozero::pbf_reader message(bytes.data(), bytes.size());
    while (message.next()) {
      if (message.tag() == 1 && message.wire_type() == protozero::pbf_wire_type::length_delimited) {
        service = message.get_view();
      } else {
        message.skip();
      }
    }
  } catch (const std::exception&) {  // protozero throws only these.
    return std::nullopt;
  }
  return base::IsUtf8(service) ? std::optional(service) : std::nullopt;
}

void AppendHealthCheckResponse(std::string& out, ServingStatus status) {
  protozero::pbf_writer writer(out);
  if (status != ServingStatus::kUnknown) {
    writer.add_enum(1, static_cast<int>(status));
  }
}

}  // namespace sluice::wire
