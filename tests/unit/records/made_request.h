#pragma once

#include <string>
#include <vector>

#include "base/request_id.h"
#include "core/quota.h"
#include "insight/kept_request.h"
#include "insight/request_record.h"

namespace sluice::records {

// A decided request as a test wants it, with what its record views.
class MadeRequest final : public insight::DecisionList {
 public:
  struct Check {
    std::string rule;
    std::string user;
    Decision decision;
  };

  MadeRequest(const std::string& rule, const std::string& user, bool allowed) {
    Add(rule, user, allowed);
  }

  Decision& Add(const std::string& rule, const std::string& user, bool allowed) {
    checks_.push_back({.rule = rule, .user = user, .decision = {.allowed = allowed, .limit = 10}});
    if (!allowed) {
      checks_.back().decision.reason = Reason::kQuotaExceeded;
    }
    parts_.clear();
    for (const Check& check : checks_) {
      parts_.push_back({.attribute = "user_id", .value = check.user});
    }
    return checks_.back().decision;
  }
  Decision& decision(std::size_t i) { return checks_[i].decision; }

  [[nodiscard]] std::size_t size() const override { return checks_.size(); }
  [[nodiscard]] insight::DecisionRecord At(std::size_t i) const override {
    const Check& check = checks_[i];
    return {.rule = check.rule,
            .number = check.rule == "other" ? std::size_t{1} : std::size_t{0},
            .parts = {&parts_[i], 1},
            .quota = &quota_,
            .cost = Cost{1},
            .decision = &check.decision,
            .outcome = insight::OutcomeOf(check.decision.allowed, check.decision.shadow),
            .charged = check.decision.allowed};
  }

  [[nodiscard]] insight::RequestRecord Record() {
    bool allowed = true;
    bool any_denied = false;
    for (const Check& check : checks_) {
      any_denied |= !check.decision.allowed;
      allowed &= check.decision.allowed || check.decision.shadow;
    }
    return {.now = now,
            .request_id = &id,
            .listener = "127.0.0.1:8080",
            .judged_by = insight::JudgedBy::kRules,
            .allowed = allowed,
            .any_denied = any_denied,
            .cost = Cost{1},
            .attributes = attributes,
            .decisions = *this};
  }
  // The record as the queue hands it out.
  [[nodiscard]] std::string Bytes(std::uint8_t uses = 0, bool with_attributes = false) {
    std::string room(4096, '\0');
    room.resize(insight::EncodeRequest(Record(), uses, with_attributes, room));
    return room;
  }

  WallInstant now{std::chrono::seconds(1'765'962'181)};
  base::RequestId id;
  std::vector<Attribute> attributes;

 private:
  std::vector<Check> checks_;
  std::vector<core::KeyPart> parts_;
  core::Quota quota_{};
};

}  // namespace sluice::records
