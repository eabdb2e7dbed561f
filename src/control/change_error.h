#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

#include "sluice/result.h"

namespace sluice::control {

// Why a change of rules or modes was refused. Front ends say each in the words of their protocol.
enum class ErrorCode : std::uint8_t {
  kNotFound,        // There is no rule of this id.
  kInvalidId,       // The id cannot name a rule.
  kMalformed,       // The text is not one JSON object.
  kInvalid,         // The rule, or the set with it, does not load.
  kReadOnly,        // The rule comes from a source that cannot be changed from here.
  kConflict,        // Another writer changed the rule first.
  kNotActive,       // Stored, but what else is stored beside it does not load.
  kNotStored,       // Disk or etcd did not store the change.
  kOutcomeUnknown,  // etcd did not answer, and may have stored the change.
};

// Unless the code says otherwise, nothing has changed.
struct ChangeError {
  ErrorCode code = ErrorCode::kInvalid;
  std::string detail;         // For a person, in a sentence.
  std::vector<Error> errors;  // What `sluice validate` would say; places in the body have no file.
};

template <class T>
using ChangeResult = tl::expected<T, ChangeError>;

[[nodiscard]] tl::unexpected<ChangeError> Refused(ErrorCode code, std::string detail,
                                                  std::vector<Error> errors = {});

// kInvalid, for rules with these errors, of which there is at least one. Places in the document
// named `own`, if any, become those in the body that it was made of.
[[nodiscard]] tl::unexpected<ChangeError> RefusedRule(std::string_view own,
                                                      std::vector<Error> errors);

// Each error on a line of its own, after a line feed.
[[nodiscard]] std::string Lines(const std::vector<Error>& errors);

}  // namespace sluice::control
