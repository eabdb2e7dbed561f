#pragma once

#include <cstdint>
#include <string>

#include "sluice/time.h"

#include "store/key_store.h"

namespace sluice::store {

// One request that may come again, at any node: who answers it, and what it was answered.
class RecordCall : public StoreCall {
 public:
  enum class Verb : std::uint8_t { kClaim, kKeep, kDrop };
  enum class Found : std::uint8_t {
    kOurs,      // Nobody has it: until `lasts` is over, this owner is the one to answer.
    kAnswered,  // `answer` is what it was answered.
    kOther,     // It belongs to another body.
    kPending,   // Another owner is just answering it.
  };

  // In. Both of hexadecimal digits alone.
  std::string name;  // Whose request: a digest of caller and key.
  std::string body;  // A digest of what is asked.
  std::uint64_t owner = 0;
  Duration lasts{};    // Whole milliseconds, at least 1. kClaim: the claim; kKeep: the answer.
  std::string answer;  // Of kKeep. Any bytes.
  Verb verb = Verb::kClaim;  // Set by the verb.
  // Out, of kClaim; then `answer` too.
  Found found = Found::kOurs;
};

// Where nodes share such records. Each verb is one atomic step and as a KeyStore's otherwise.
class AnswerRecords {
 public:
  virtual ~AnswerRecords() = default;

  virtual void Claim(RecordCall& call) = 0;
  // Does nothing where another owner has it.
  virtual void Keep(RecordCall& call) = 0;
  // Gives the claim up. Does nothing where it is answered or another owner's.
  virtual void Drop(RecordCall& call) = 0;
};

}  // namespace sluice::store
