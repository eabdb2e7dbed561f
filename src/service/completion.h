#pragma once

namespace sluice::service {

// The owner of calls of one kind, which is called back by them.
template <class Call>
class CompletionOf {
 public:
  // `call` is complete: once for each time that it was sent, on the thread that sent it, while it
  // is being sent or later. What its results point to is good until this returns. The owner may
  // send the call again, or destroy it, in here.
  virtual void OnCompleted(Call& call) noexcept = 0;

 protected:
  ~CompletionOf() = default;
};

// For owners whose calls are complete when they were sent: they need no call back.
template <class Call>
class NoCompletionOf final : public CompletionOf<Call> {
 public:
  void OnCompleted(Call& /*call*/) noexcept override {}
};

}  // namespace sluice::service
