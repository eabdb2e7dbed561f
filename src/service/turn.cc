#include "service/turn.h"

namespace sluice::service {

thread_local Turn* Turn::current_ = nullptr;
thread_local std::uint64_t Turn::last_number_ = 0;

}  // namespace sluice::service
