#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "redis/request.h"
#include "store/key_store.h"

namespace sluice::redis {

// Whether one check has to be asked of Redis; what is unlimited and cannot be banned has not.
[[nodiscard]] inline bool IsAsked(const store::Check& check) {
  return !check.quota.unlimited || check.ban != nullptr;
}

// The answer to a check that is not asked of Redis.
[[nodiscard]] store::CheckAnswer UnlimitedAnswer(const store::Check& check);

// Some checks of a request, sent as a call of their own. Its memory is reused.
class PartialCheckCall : public store::CheckCall {
 public:
  void Clear() {
    own_checks_.clear();
    places_.clear();
  }
  // Adds the check at `place` of the request.
  store::Check& Add(const store::Check& check, std::size_t place) {
    places_.push_back(place);
    return own_checks_.emplace_back(check);
  }
  // After the last Add(): ready to be sent, with all but the checks as in `whole`.
  void Prepare(const store::CheckCall& whole);
  // The answers, to their places in `whole`. If this call failed, they have its error.
  void CopyAnswers(store::CheckCall& whole) const;

  [[nodiscard]] bool empty() const { return own_checks_.empty(); }
  [[nodiscard]] std::vector<store::CheckAnswer>& own_answers() { return own_answers_; }

 private:
  std::vector<store::Check> own_checks_;
  std::vector<store::CheckAnswer> own_answers_;
  std::vector<std::size_t> places_;
};

// A call with at least one check that IsAsked(). With a request id, all of one slot: then the
// script records what it charged, for UndoOf().
struct CheckVerb {
  using Call = store::CheckCall;

  // Names the holds that it may be granted in its answers; Read() takes those back that were not.
  static std::optional<ScriptId> Append(Call& call, const Judged& judged, std::string& out);
  static Outcome Read(Reply reply, Call& call);
  static void AppendUndos(const Call& call, const Judged& judged, std::vector<Undo>& undos);
};

// What takes back all that a call with a request id charged, once, however often it is sent and
// whether it comes before the call or after.
[[nodiscard]] Undo UndoOf(const store::CheckCall& call, const Judged& judged);

// Of a call that is gone: a check that was charged, by its number among those that were asked,
// when, and by when that stops counting anyway. Microseconds by the server's clock.
struct LateCharge {
  std::size_t check = 0;
  std::int64_t charged_us = 0;
  std::int64_t ends_us = 0;
};
[[nodiscard]] std::vector<LateCharge> ChargedIn(Reply reply);

}  // namespace sluice::redis
