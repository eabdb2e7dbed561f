#pragma once

#include <functional>

#include "sluice/result.h"

#include "log_options.h"
#include "logs/attribute_plan.h"
#include "logs/log_merge.h"
#include "logs/log_stream.h"

namespace sluice::app {

// Opens the logs and has `read` read them to their end. If files among them turn out to be so
// much out of order that what `read` found is wrong, opens all of them again, with those files
// sorted, and has `read` read them once more: from nothing.
//
// `final`: what `read` does cannot be done again, such as printing; the order of files is looked
// at before. Errors: those of opening and of `read`; standard input or a pipe is out of order, and
// could be read only once.
[[nodiscard]] Result<void> ReadInOrder(const LogArguments& arguments, logs::LogOptions options,
                                       const logs::AttributePlan& plan, bool final,
                                       const std::function<Result<void>(logs::LogMerge&)>& read);

}  // namespace sluice::app
