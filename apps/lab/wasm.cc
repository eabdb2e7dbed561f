// The lab's core for WebAssembly: what tools/lab.sh compiles, and docs/lab/core.js calls.
//
// Numbers go in as arguments, and a decision comes out as eight 64-bit words at lab_answer().
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <vector>

#include "base/assert.h"
#include "core/algorithm.h"
#include "core/calendar.h"
#include "core/lab_key.h"

// Those of the library write a message before they end the program, and a page has nowhere to write
// it.
void* operator new(std::size_t size) {
  void* const room = std::malloc(size);
  if (room == nullptr) {
    __builtin_trap();
  }
  return room;
}
void operator delete(void* room) noexcept {
  std::free(room);
}
void operator delete(void* room, std::size_t /*size*/) noexcept {
  std::free(room);
}

namespace sluice::base {

void AssertFailed(const char* /*condition*/, const char* /*file*/, int /*line*/) noexcept {
  __builtin_trap();
}

}  // namespace sluice::base

namespace sluice::core {

// The lab offers no civil periods, so that no time zones are needed.
Period Calendar::At(WallInstant /*at*/) const {
  __builtin_unreachable();
}

}  // namespace sluice::core

namespace {

using sluice::Cost;
using sluice::Decision;
using sluice::Duration;
using sluice::WallInstant;
using sluice::core::LabKey;
using sluice::core::Quota;

std::vector<std::unique_ptr<LabKey>> keys;
// allowed, reason, limit, remaining, retry_after, reset_after, wait, 0. Times in nanoseconds.
std::array<std::int64_t, 8> answer;

void Answer(const Decision& decision) {
  answer = {decision.allowed ? 1 : 0,
            static_cast<std::int64_t>(decision.reason),
            decision.limit,
            decision.remaining,
            decision.retry_after.count(),
            decision.reset_after.count(),
            decision.wait.count(),
            0};
}

}  // namespace

#define EXPORT(name) extern "C" __attribute__((export_name(#name)))

EXPORT(lab_answer) const std::int64_t* lab_answer() {
  return answer.data();
}

// The numbers of a quota; `limit` is the burst of a bucket. Returns the key's number, or -1: no
// such algorithm.
EXPORT(lab_new)
int lab_new(int algorithm, std::int64_t limit, std::int64_t rate, std::int64_t window_ns,
            int segments, int flags) {
  if (algorithm < 0 ||
      static_cast<std::size_t>(algorithm) >= sluice::core::kRuleAlgorithms.size()) {
    return -1;
  }
  Quota quota;
  quota.algorithm = sluice::core::kRuleAlgorithms[static_cast<std::size_t>(algorithm)];
  quota.limit = limit;
  quota.rate = rate;
  quota.window = Duration(window_ns);
  quota.segments = static_cast<decltype(quota.segments)>(segments);
  quota.strict = (flags & 1) != 0;
  quota.shape = (flags & 2) != 0;
  quota.unlimited = (flags & 4) != 0;
  keys.push_back(std::make_unique<LabKey>(quota));
  return static_cast<int>(keys.size() - 1);
}

// Requires a number from lab_new(), and a time that is not before that of the call before. All
// times in nanoseconds since 1970.
EXPORT(lab_check) void lab_check(int key, std::int64_t at, std::int64_t cost, std::int64_t held) {
  Answer(keys[static_cast<std::size_t>(key)]->Check(WallInstant(Duration(at)), Cost{cost},
                                                    Duration(held)));
}
EXPORT(lab_peek) void lab_peek(int key, std::int64_t at, std::int64_t cost) {
  Answer(keys[static_cast<std::size_t>(key)]->Peek(WallInstant(Duration(at)), Cost{cost}));
}
EXPORT(lab_clear) void lab_clear() {
  keys.clear();
}
