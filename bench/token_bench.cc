// What a token costs: where it is given out, and where it is handed in.

#include <string>

#include <benchmark/benchmark.h>

#include "base/clock.h"
#include "signing/keyring.h"

namespace {

using sluice::signing::Keyring;
using sluice::signing::TokenKind;

// A receipt of two rules on one attribute has about so many bytes.
const std::string& Payload() {
  static const std::string payload(170, 'p');
  return payload;
}

void BmSeal(benchmark::State& state) {
  const sluice::base::SystemClock clock;
  const Keyring keys(sluice::signing::Derive("a node", ""), clock);
  std::string token;
  for (auto _ : state) {
    token.clear();
    keys.Seal(TokenKind::kReceipt, Payload(), token);
    benchmark::DoNotOptimize(token.data());
  }
}
BENCHMARK(BmSeal);

void BmOpen(benchmark::State& state) {
  const sluice::base::SystemClock clock;
  const Keyring keys(sluice::signing::Derive("a node", ""), clock);
  std::string token;
  keys.Seal(TokenKind::kReceipt, Payload(), token);
  std::string payload;
  for (auto _ : state) {
    benchmark::DoNotOptimize(keys.Open(TokenKind::kReceipt, token, payload));
  }
}
BENCHMARK(BmOpen);

}  // namespace

BENCHMARK_MAIN();
