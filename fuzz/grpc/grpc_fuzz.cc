// Any bytes as the body of a gRPC call: the first byte picks an encoding, the rest is the body. A
// message or a status with a text; and a message is read by every reader of messages that there
// is, whatever it was meant for.

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/utf8.h"
#include "wire/grpc_message.h"
#include "wire/native_check.h"
#include "wire/native_redemption.h"
#include "wire/rls_request.h"

namespace {

using namespace sluice::wire;  // NOLINT(google-build-using-namespace)

constexpr std::size_t kMost = 64 * 1024;

void Check(bool condition) {
  if (!condition) {
    std::abort();
  }
}

void ReadRls(std::string_view bytes) {
  static RlsRequest request;  // Reused, as a front end reuses it: nothing may be left over.
  if (!request.Read(bytes)) {
    Check(!request.error().empty());
    return;
  }
  Check(sluice::base::IsUtf8(request.domain()));
  for (const RlsDescriptor& descriptor : request.descriptors()) {
    for (const RlsEntry& entry : descriptor.entries) {
      Check(sluice::base::IsUtf8(entry.key) && sluice::base::IsUtf8(entry.value));
      Check(entry.key.empty() ||
            (entry.key.data() >= bytes.data() &&
             entry.key.data() + entry.key.size() <= bytes.data() + bytes.size()));
    }
  }
}

void ReadRedemptions(std::string_view bytes) {
  static NativeHoldsRequest holds;
  if (holds.Read(bytes)) {
    for (const NativeHold& hold : holds.holds) {
      Check(sluice::base::IsUtf8(hold.rule) && sluice::base::IsUtf8(hold.id));
    }
  }
  static NativeSettleRequest settle;
  if (settle.Read(bytes)) {
    Check(sluice::base::IsUtf8(settle.reservation));
  }
  static NativeRefundRequest refund;
  if (refund.Read(bytes)) {
    Check(sluice::base::IsUtf8(refund.receipt));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::string_view kEncodings[] = {"", "identity", "gzip", "br"};
  if (size == 0) {
    return 0;
  }
  const std::string_view body(reinterpret_cast<const char*>(data) + 1, size - 1);
  static std::string inflated;
  const GrpcMessage message = ReadGrpcMessage(body, kEncodings[data[0] % 4], kMost, inflated);
  Check((message.code == GrpcCode::kOk) == message.problem.empty());
  Check(message.bytes.size() <= kMost);
  std::string text;
  AppendGrpcMessage(text, body.substr(0, 100));
  for (const char c : text) {
    Check(c >= ' ' && c <= '~');
  }
  if (const auto timeout = ReadGrpcTimeout(body)) {
    Check(*timeout >= sluice::Duration::zero());
  }
  for (const std::string_view bytes : {message.bytes, body}) {
    ReadRls(bytes);
    if (const auto service = ReadHealthCheckRequest(bytes)) {
      Check(sluice::base::IsUtf8(*service));
    }
    static NativeCheckRequest check;
    (void)check.Read(bytes);
    ReadRedemptions(bytes);
  }
  return 0;
}
