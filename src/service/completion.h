#pragma once

namespace sluice::service {

// The owner of calls of one kind, which is notified when they complete.
template <class Call>
class CompletionOf {
 public:
  // `call` is complete. Called once for each time that it was sent, on the sending thread, during
  // the sending or later. What its results point to is valid until this returns. The owner may send
  // the call again, or destroy it, in here.
  virtual void OnCompleted(Call& call) noexcept = 0;

 protected:
  ~CompletionOf() = default;
};

// For owners whose calls complete while they are sent and need no notification.
template <class Call>
class NoCompletionOf final : public CompletionOf<Call> {
 public:
  void OnCompleted(Call& /*call*/) noexcept override {}
};

}  // namespace sluice::service
