#include "frontend/grpc/calls.h"

#include <algorithm>
#include <array>

namespace sluice::frontend::grpc {

namespace {

struct Row {
  std::string_view path;
  Method method;
};

constexpr std::array<Row, 8> kRows{{
    {"/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit", Method::kShouldRateLimit},
    {"/grpc.health.v1.Health/Check", Method::kHealthCheck},
    {"/grpc.health.v1.Health/Watch", Method::kHealthWatch},
    {"/sluice.v1.RateLimit/Check", Method::kCheck},
    {"/sluice.v1.RateLimit/Release", Method::kRelease},
    {"/sluice.v1.RateLimit/Renew", Method::kRenew},
    {"/sluice.v1.RateLimit/Settle", Method::kSettle},
    {"/sluice.v1.RateLimit/Refund", Method::kRefund},
}};

}  // namespace

Method MethodAt(std::string_view path) {
  const auto* const row = std::ranges::find(kRows, path, &Row::path);
  return row == kRows.end() ? Method::kUnknown : row->method;
}

bool IsGrpc(std::string_view content_type) {
  constexpr std::string_view kGrpc = "application/grpc";
  if (!content_type.starts_with(kGrpc)) {
    return false;
  }
  content_type.remove_prefix(kGrpc.size());
  return content_type.empty() || content_type == "+proto" || content_type.front() == ';' ||
         content_type.starts_with("+proto;");
}

}  // namespace sluice::frontend::grpc
