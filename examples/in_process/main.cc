// Limits in process: three requests a minute for each user, no daemon.
#include <chrono>
#include <cstdio>

#include "sluice/limiter.h"

int main() {
  auto limiter = sluice::Limiter::FromYaml(
      R"({rules: [{id: api, key_pattern: "user:{user_id}", algorithm: gcra, rate: 3, window: 1m}]})");
  if (!limiter) {
    std::fprintf(stderr, "%s\n", limiter.error().Text().c_str());
    return 1;
  }
  for (int i = 0; i < 5; ++i) {
    const auto answer = limiter->Check({{.name = "user_id", .value = "u_42"}});
    if (answer && answer->allowed) {
      std::printf("allowed, %lld left\n", static_cast<long long>(answer->decision.remaining));
    } else if (answer) {
      const auto wait = std::chrono::duration<double>(answer->decision.retry_after);
      std::printf("denied, next in %.1f s\n", wait.count());
    }
  }
}
