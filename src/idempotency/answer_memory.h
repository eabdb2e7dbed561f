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

#include "store/answer_records.h"
#include "telemetry/registry.h"

namespace sluice::idempotency {

// The answers to checks that came with an Idempotency-Key, so that one that is sent again gets
// the first answer that allowed, byte for byte, and spends nothing.
//
// A key is one caller's: the caller is part of its name. What is remembered is bounded in bytes;
// where there is no room the oldest answer goes before its time, and that is counted. It lives as
// long as the process; where nodes share a store, what is kept is also there, and a check that this
// node does not know must be claimed there first: PrepareClaim() and TakeClaim(). Safe from any
// thread; no lock is held while anything is called.
class AnswerMemory final : public telemetry::Source {
 public:
  struct Settings {
    std::size_t bytes = 64U << 20U;  // Of keys and answers; 0: none are kept.
    Duration keep = std::chrono::hours(24);
    std::string caller_attribute{};  // Of a check, whose value says whose key it is; "": none.
    store::AnswerRecords* shared = nullptr;  // Outlives it.
  };
  // How long another node that has claimed a check and says no more is waited for: longer than any
  // check takes. Then the check is the next copy's.
  static constexpr Duration kClaimLasts = std::chrono::seconds(15);
  explicit AnswerMemory(const Settings& settings);

  // What a check that was allowed was answered, in the front end's own bytes.
  struct Answer {
    std::string metadata;  // HTTP's header fields.
    std::string body;
  };
  enum class Found : std::uint8_t {
    kNothing,  // Ask, and then Keep() or Drop(): until then the key is this check's.
    kAnswer,   // `answer` is what was answered first.
    kOther,    // The key belongs to another body.
    kPending,  // Another copy is just being decided: `again` will be called.
  };
  // `name` is caller and key; `body` what it asks. `now`: of any clock that does not step back.
  // `again` is called once, on the thread that decides the other copy: then begin again.
  Found Begin(const std::string& name, std::string_view body, Duration now, Answer& answer,
              std::function<void()> again);

  // Of a check that began with kNothing, if there is a shared store: makes `claim` ready for
  // shared()->Claim().
  void PrepareClaim(const std::string& name, std::string_view body, store::RecordCall& claim) const;
  [[nodiscard]] store::AnswerRecords* shared() const { return shared_; }
  [[nodiscard]] const std::string& caller_attribute() const { return caller_attribute_; }
  // What the answered claim says. kNothing: ask; so also where the store did not answer: then two
  // nodes may both. Else Release() the check here. kPending: no call follows; claim again later.
  Found TakeClaim(const store::RecordCall& claim, Answer& answer);
  // The check that began with kNothing is not answered by this node, or not by it first.
  void Release(const std::string& name);

  // The check that began with kNothing was answered: what to say if it is sent again.
  void Keep(const std::string& name, Duration now, Answer answer);
  // It was denied, or failed: the next copy is judged again.
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
  // One that is kept. Under the shard's mutex.
  void Forget(Shard& shard, std::unordered_map<std::string, Entry>::iterator at);

  const std::size_t bytes_a_shard_;
  const Duration keep_;
  const std::string caller_attribute_;
  store::AnswerRecords* const shared_;
  const std::uint64_t owner_;  // This process, among those that share the store.
  std::array<Shard, kShards> shards_;
  std::atomic<std::uint64_t> replays_{0};
  std::atomic<std::uint64_t> conflicts_{0};
  std::atomic<std::uint64_t> evictions_{0};
  std::atomic<std::uint64_t> unshared_{0};
  std::atomic<std::uint64_t> kept_{0};
  std::atomic<std::uint64_t> bytes_{0};
};

}  // namespace sluice::idempotency
