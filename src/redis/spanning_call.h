#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "redis/check_request.h"
#include "store/key_store.h"

namespace sluice::redis {

// A request whose keys lie in several slots of a cluster: one part for each, asked at once. If an
// enforced check of one part denies, what the others charged is taken back by the request's id, and
// what is left then is asked for the answer. While parts are under way others may be denied what is
// taken back a moment later; too much is never allowed.
//
// If the node ends in between, what was charged stays so: at most this request's cost, until that
// refills or its window ends. One thread.
class SpanningCall {
 public:
  // What is asked of one slot.
  class Part final : public PartialCheckCall {
   public:
    void OnAnswered() noexcept override { whole->OnPart(); }

    SpanningCall* whole = nullptr;
    std::uint16_t slot = 0;
    std::vector<store::CheckAnswer> decided;  // The first answers, while numbers are asked for.
  };

  // Sends each part to its server.
  class Sender {
   public:
    virtual ~Sender() = default;
    virtual void SendPart(Part& part) = 0;
    // Of a request: no other of any node has it.
    virtual store::RequestId DrawId() = 0;
    // Takes back what the part charged, or may have.
    virtual void SendUndo(const Part& part) = 0;
    // The request was answered; the call may be used again.
    virtual void OnSpanned(SpanningCall& call) = 0;
  };

  explicit SpanningCall(Sender& sender) : sender_(sender) {}
  SpanningCall(const SpanningCall&) = delete;
  SpanningCall& operator=(const SpanningCall&) = delete;

  // Sends `call` in parts, `slots[i]` being that of check i, kNoSlot that of one that is not asked.
  // Calls its OnAnswered() later, or during this. A key that its rule's former id has put into
  // another slot is not looked for there.
  static constexpr std::uint16_t kNoSlot = UINT16_MAX;
  void Begin(store::CheckCall& call, std::span<const std::uint16_t> slots);

 private:
  void OnPart();
  void OnAllParts();
  // Takes back what was charged and asks what is left. False if there is nothing to ask.
  [[nodiscard]] bool TakeBack();
  void Finish();
  [[nodiscard]] Part& PartOf(std::uint16_t slot);

  Sender& sender_;
  store::CheckCall* call_ = nullptr;
  std::vector<std::unique_ptr<Part>> parts_;  // The first used_ are of this request.
  std::size_t used_ = 0;
  std::size_t open_ = 0;
  bool denied_ = false;
};

}  // namespace sluice::redis
