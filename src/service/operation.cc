#include "service/operation.h"

#include <utility>

namespace sluice::service {

void BanList::OnAnswered() noexcept {
  operation_.Complete();
}

void OperationParts::CloseOne() noexcept {
  if (--open_ == 0) {
    const auto kept = std::move(active_);  // The operation may be gone after its completion.
    operation_.Complete();
  }
}

}  // namespace sluice::service
