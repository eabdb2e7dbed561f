#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/key.h"
#include "service/verdict.h"
#include "store/key_store.h"

namespace sluice::replay {

// A hold and all that it takes to give it back, kept from the check that was granted it.
class GrantedHold {
 public:
  explicit GrantedHold(const service::RuleDecision& made) : rule_(made.rule->id), id_(made.hold) {
    for (const core::KeyPart& part : made.parts) {
      parts_.push_back({.attribute = std::string(part.attribute),
                        .type = part.type,
                        .value = std::string(part.value)});
    }
  }

  [[nodiscard]] std::string_view rule() const { return rule_; }
  [[nodiscard]] store::HoldId id() const { return id_; }
  // Views into this hold.
  [[nodiscard]] std::vector<core::KeyPart> Parts() const {
    std::vector<core::KeyPart> views;
    views.reserve(parts_.size());
    for (const OwnedPart& part : parts_) {
      views.push_back({.attribute = part.attribute, .type = part.type, .value = part.value});
    }
    return views;
  }

 private:
  struct OwnedPart {
    std::string attribute;
    core::AttributeType type = core::AttributeType::kText;
    std::string value;
  };

  std::string rule_;
  store::HoldId id_;
  std::vector<OwnedPart> parts_;
};

}  // namespace sluice::replay
