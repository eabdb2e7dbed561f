#pragma once

#include "service/verdict.h"
#include "wire/resp_writer.h"

namespace sluice::signing {
class Keyring;
}  // namespace sluice::signing

namespace sluice::frontend::resp {

// `keys` seal what is given out to be handed in later. None: no holds, receipts or reservations.
struct VerdictOptions {
  bool receipt = false;
  bool reservation = false;
  const signing::Keyring* keys = nullptr;
};

// A verdict as a map: the members that its JSON has (frontend/http/answer.h), in that order, under
// those names. Requires no request_error.
void AppendVerdict(const service::Verdict& verdict, const VerdictOptions& options,
                   wire::RespWriter& writer);

}  // namespace sluice::frontend::resp
