#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "sluice/time.h"

#include "telemetry/registry.h"

namespace sluice::frontend::http {

// The answers to checks that came with an Idempotency-Key, so that one that is sent again gets
// the first answer that allowed, byte for byte, and spends nothing.
//
// A key is one caller's: who asks is part of its name. What is remembered is bounded in bytes;
// where there is no room the oldest answer goes before its time, and that is counted. It lives as
// long as the process. Safe from any thread; no lock is held while anything is called.
class AnswerMemory final : public telemetry::Source {
 public:
  struct Settings {
    std::size_t bytes = 64U << 20U;  // Of keys and answers; 0: none are kept.
    Duration keep = std::chrono::hours(24);
  };
  explicit AnswerMemory(const Settings& settings);
  ~AnswerMemory() override;

  // What a check was answered: it allowed, and its status was 200.
  struct Answer {
    std::string fields;
    std::string body;
  };
  enum class Found : std::uint8_t {
    kNothing,  // Ask, and then Keep() or Drop(): until then the key is this check's.
    kAnswer,   // `answer` is what was answered first.
    kOther,    // The key belongs to another body.
    kPending,  // Another copy is just being decided: `again` will be called.
  };
  // `name` is caller and key; `body` what it asks. `now`: of any clock that does not step back.
  // `again` is called once, on the thread of whoever decides the other copy: then begin again.
  Found Begin(const std::string& name, std::string_view body, Duration now, Answer& answer,
              std::function<void()> again);

  // The check that began with kNothing was answered: what to say if it is sent again.
  void Keep(const std::string& name, Duration now, Answer answer);
  // It was denied, or failed: the next copy is judged anew.
  void Drop(const std::string& name);

  void Write(telemetry::Exposition& out) const override;

 private:
  struct Entry {
    std::array<std::uint64_t, 2> body{};
    bool pending = true;
    Duration until{};
    Answer answer;
    std::size_t bytes = 0;
    std::vector<std::function<void()>> waiting;
    std::list<const std::string*>::iterator age;  // If not pending.
  };
  struct Shard {
    std::mutex mutex;  // Guards all below.
    std::unordered_map<std::string, Entry> entries;
    std::list<const std::string*> oldest;  // Of those that are kept, first what goes first.
    std::size_t bytes = 0;
  };
  static constexpr std::size_t kShards = 16;

  Shard& ShardOf(const std::string& name);
  static void Forget(Shard& shard, std::unordered_map<std::string, Entry>::iterator at);

  const std::size_t bytes_a_shard_;
  const Duration keep_;
  std::array<Shard, kShards> shards_;
  std::atomic<std::uint64_t> replays_{0};
  std::atomic<std::uint64_t> conflicts_{0};
  std::atomic<std::uint64_t> evictions_{0};
  std::atomic<std::uint64_t> kept_{0};
  std::atomic<std::uint64_t> bytes_{0};
};

}  // namespace sluice::frontend::http
