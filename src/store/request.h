#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <new>
#include <span>
#include <type_traits>

#include "store/draft.h"
#include "store/key_store.h"
#include "store/table_core.h"

namespace sluice::store {

// Budget of every request: no allocation, no lock but the slots', no system call, no log. Held
// by tests/unit/store/allocation_test.cc.

// Judges any request, with draft.h for each of its keys; decide_one.h is the short way for the
// plain ones. `keys` are its checks' fingerprints. In its order:
//   1. find or insert a slot for every key          (no lock held)
//   2. lock them by address, and see that they are still what they were; else again from 1
//   3. judge, each check on what the earlier ones would leave
//   4. write all or nothing, between the journal's Publish and Retire
//   5. unlock, then answer
// Bans, where a check has one, are looked up before 1 and denials counted after 5.
class Request {
 public:
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): What is not yet used; see below.
  Request(TableCore& core, const Turn& turn, CheckCall& call, std::span<const Fingerprint> keys)
      : core_(core), turn_(turn), call_(call), keys_(keys) {}

  void Decide();

 private:
  void MakeDrafts();
  [[nodiscard]] bool Locate();
  [[nodiscard]] bool Place(Draft& draft);
  [[nodiscard]] bool LockAll();
  void UnlockAll();
  void GiveUp();

  void Judge();
  void JudgePeeked();
  void JudgeAll();
  void JudgeEach();
  // Judges check `i` on its draft and, if it passes, takes it into the draft.
  void JudgeInto(std::size_t i);
  void AnswerFull(std::size_t i);
  void AnswerBanned(std::size_t i);
  [[nodiscard]] bool IsBanned(std::size_t i) const { return has_bans_ && banned_until_ns_[i] != 0; }
  void FindBans();
  void CountDenials();
  [[nodiscard]] Decision PeekBase(std::size_t i) const;
  void TakeBack();

  void Commit();

  // The drafts in use.
  [[nodiscard]] std::span<Draft> Drafts() {
    return {std::launder(reinterpret_cast<Draft*>(draft_room_.data())), draft_count_};
  }
  [[nodiscard]] std::span<const Draft> Drafts() const {
    return {std::launder(reinterpret_cast<const Draft*>(draft_room_.data())), draft_count_};
  }
  [[nodiscard]] Draft& DraftOf(std::size_t i) { return Drafts()[draft_of_[i]]; }
  [[nodiscard]] const Draft& DraftOf(std::size_t i) const { return Drafts()[draft_of_[i]]; }

  TableCore& core_;
  const Turn& turn_;
  CheckCall& call_;
  std::span<const Fingerprint> keys_;
  std::uint32_t draft_count_ = 0;
  std::uint32_t locked_count_ = 0;
  bool has_bans_ = false;
  // Only the first draft_count_ and locked_count_ are ever touched. Bytes, so that the rest of
  // the drafts is not made: that would cost more than a request of two checks.
  std::array<std::uint8_t, kMaxChecksPerCall> draft_of_;
  std::array<Slot*, kMaxChecksPerCall> locked_;
  // On the monotonic clock; 0: not banned. Only if has_bans_.
  std::array<std::int64_t, kMaxChecksPerCall> banned_until_ns_;
  static_assert(std::is_trivially_destructible_v<Draft>);  // Their destructors never run.
  alignas(Draft) std::array<std::byte, kMaxChecksPerCall * sizeof(Draft)> draft_room_;
};

}  // namespace sluice::store
