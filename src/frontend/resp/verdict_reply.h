#pragma once

#include "service/verdict.h"
#include "wire/resp_writer.h"

namespace sluice::frontend::resp {

// A verdict as a map: the members that its JSON has (frontend/http/answer.h), in that order, under
// those names. Requires no request_error.
void AppendVerdict(const service::Verdict& verdict, wire::RespWriter& writer);

}  // namespace sluice::frontend::resp
