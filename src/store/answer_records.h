#pragma once

#include <cstdint>
#include <string>

#include "sluice/time.h"

#include "store/key_store.h"

namespace sluice::store {

// One request that may be repeated at any node: which node answers it, and the answer.
class RecordCall : public StoreCall {
 public:
  enum class Verb : std::uint8_t { kClaim, kKeep, kDrop };
  enum class Found : std::uint8_t {
    kOurs,      // It was free: for `lasts`, this owner is the one to answer it.
    kAnswered,  // `answer` is the first answer.
    kOther,     // The key was used with another body.
    kPending,   // Another owner is answering it now.
  };

  // In. Both of hexadecimal digits alone.
  std::string name;  // A digest of the caller and its key.
  std::string body;  // A digest of the request's body.
  std::uint64_t owner = 0;
  Duration lasts{};    // Whole milliseconds, at least 1. kClaim: the claim; kKeep: the answer.
  std::string answer;  // Of kKeep. Any bytes.
  Verb verb = Verb::kClaim;  // Set by the verb.
  // Out, of kClaim; then `answer` too.
  Found found = Found::kOurs;
};

// Stores such records for all nodes. Each verb is one atomic step; otherwise it works like a
// KeyStore's.
class AnswerRecords {
 public:
  virtual ~AnswerRecords() = default;

  virtual void Claim(RecordCall& call) = 0;
  // Does nothing if another owner has claimed it.
  virtual void Keep(RecordCall& call) = 0;
  // Releases the claim. Does nothing if it is answered or if another owner has claimed it.
  virtual void Drop(RecordCall& call) = 0;
};

}  // namespace sluice::store
