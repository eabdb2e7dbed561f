#include "frontend/resp/exchange.h"

#include <utility>

#include "frontend/resp/connection.h"

namespace sluice::frontend::resp {

void Exchange::OnCompleted(service::Operation& /*operation*/) noexcept {
  ready_ = true;
  if (connection_ == nullptr) {
    Return();
    return;
  }
  // What a verdict points to goes when this returns; all else is written when its turn comes.
  if (operation.verb() == service::Operation::Verb::kRuleCheck) {
    std::exchange(write_, nullptr)(*this, text_);
  }
  connection_->OnExchangeReady();
}

}  // namespace sluice::frontend::resp
