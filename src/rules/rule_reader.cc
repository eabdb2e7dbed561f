#include "rules/rule_reader.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "rules/fields.h"
#include "rules/spelling.h"
#include "rules/value_reader.h"

namespace sluice::rules {

namespace {

constexpr std::array<std::string_view, 29> kFields{
    "id",           "key_pattern", "algorithm", "limit",
    "rate",         "burst",       "window",    "unit",
    "time_zone",    "anchor",      "segments",  "strict",
    "shape",        "hold_ttl",    "reserve",   "cost",
    "plans",        "overrides",   "match",     "mode",
    "on_missing",   "replaces",    "formerly",  "on_store_error",
    "retry_jitter", "ban",         "action",    "reservation_ttl",
    "sync"};
// For a rule that counts nothing, the action is all there is to read.
constexpr std::array<std::string_view, 5> kActionFields{"id", "action", "match", "mode",
                                                        "replaces"};

constexpr std::array kForeignWords{
    ForeignWord{"key", "write key_pattern, as in key_pattern: \"{user_id}\""},
    ForeignWord{"keys", "write key_pattern, as in key_pattern: \"{tenant}:{user_id}\""},
    ForeignWord{"name", "write id"},
    ForeignWord{"type", "write algorithm"},
    ForeignWord{"period", "write window"},
    ForeignWord{"interval", "write window"},
    ForeignWord{"per", "write window, as in window: 1m"},
    ForeignWord{"capacity", "write burst"},
    ForeignWord{"max", "write limit"},
    ForeignWord{"requests", "write limit, or rate for a bucket"},
    ForeignWord{"requests_per_unit", "write limit and window, as in limit: 100, window: 1m"},
};

constexpr std::array<std::string_view, 3> kActions{"limit", "allow", "deny"};
constexpr std::array<std::string_view, 3> kBanFields{"after", "within", "for"};

constexpr std::array<std::string_view, 3> kModes{"enforce", "shadow", "off"};
constexpr std::array<std::string_view, 2> kOnMissing{"skip", "deny"};
constexpr std::array<std::string_view, 3> kOnStoreError{"allow", "deny", "local"};

class RuleReader {
 public:
  RuleReader(const yaml::Node& node, AttributeTable& attributes, QuotaShelf& calendars,
             Reporter& report)
      : fields_(node), attributes_(attributes), report_(report), quotas_(calendars, report) {}

  RuleDraft Read() {
    fields_.RejectUnknown(kFields, "rule", report_, kForeignWords);
    draft_.rule.place = report_.PlaceOf(fields_.map());
    draft_.rule.source = report_.file();
    ReadNames();
    if (const yaml::Node* match = fields_.Get("match"); match != nullptr) {
      draft_.compiled.match = ReadMatch(*match, attributes_, report_);
    }
    ReadMode();
    if (ReadAction()) {
      return std::move(draft_);
    }
    ReadKey();
    ReadPolicies();
    ReadBan();
    if (const auto quota = quotas_.ReadRule(fields_); quota.has_value()) {
      draft_.rule.quota = *quota;
    }
    ReadSync();
    if (draft_.rule.quota.reserves != nullptr) {
      draft_.compiled.priority = attributes_.Intern("priority");
    }
    ReadCost();
    ReadPlans();
    if (const yaml::Node* overrides = fields_.Get("overrides"); overrides != nullptr) {
      ReadOverrides(*overrides, draft_.compiled.key, attributes_, quotas_, report_,
                    draft_.compiled.overrides);
    }
    return std::move(draft_);
  }

 private:
  void ReadNames() {
    if (const yaml::Node* id = fields_.Get("id"); id != nullptr) {
      draft_.rule.id = ReadId(*id, "id", report_).value_or("");
      draft_.rule.place = report_.PlaceOf(*id);
    } else {
      report_.Fail(fields_.map(), "id is missing: write a name for the rule");
    }
    if (const yaml::Node* formerly = fields_.Get("formerly"); formerly != nullptr) {
      ReadFormerly(*formerly);
    }
    if (const yaml::Node* replaces = fields_.Get("replaces"); replaces != nullptr) {
      if (!replaces->is_list()) {
        report_.Fail(*replaces, "replaces must be a list of rule ids, such as [api_rate]");
        return;
      }
      for (const yaml::Node* item : replaces->items) {
        if (auto id = ReadId(*item, "replaces", report_); id.has_value()) {
          draft_.replaces.emplace_back(std::move(*id), report_.PlaceOf(*item));
        }
      }
    }
  }

  // One id, or a list of ids.
  void ReadFormerly(const yaml::Node& node) {
    if (node.is_list() && (node.items.empty() || node.items.size() > core::kMaxFormerIds)) {
      report_.Fail(node, "formerly must be an id that the rule had, or a list of 1 to " +
                             std::to_string(core::kMaxFormerIds) + " of them, the latest first");
      return;
    }
    const auto read = [this](const yaml::Node& item) {
      if (auto id = ReadId(item, "formerly", report_); id.has_value()) {
        draft_.rule.formerly.push_back(*std::move(id));
        draft_.formerly_places.push_back(report_.PlaceOf(item));
      }
    };
    if (node.is_list()) {
      for (const yaml::Node* item : node.items) {
        read(*item);
      }
    } else {
      read(node);
    }
  }

  void ReadKey() {
    const yaml::Node* node = fields_.Get("key_pattern");
    if (node == nullptr && (fields_.Get("key") != nullptr || fields_.Get("keys") != nullptr)) {
      return;  // Reported as unknown, with the remedy.
    }
    if (node == nullptr) {
      report_.Fail(fields_.map(),
                   "key_pattern is missing: write what the limit is counted for, such as "
                   "\"user:{user_id}\", or "
                   "a word without braces for one limit that all requests share");
      return;
    }
    if (node->is_map()) {
      report_.Fail(*node, "key_pattern is a map: write it in quotes, as in \"{user_id}\"");
      return;
    }
    const auto pattern = ReadText(*node, "key_pattern", report_);
    if (!pattern.has_value()) {
      return;
    }
    const auto names = ParseKeyPattern(*pattern);
    if (!names.has_value()) {
      report_.Fail(*node, names.error().message);
      return;
    }
    draft_.rule.key_pattern = *pattern;
    for (const std::string& name : *names) {
      const AttributeId id = attributes_.Intern(name);
      draft_.compiled.key.push_back(id);
      draft_.rule.key.push_back({name, attributes_.kind(id).type()});
    }
  }

  void ReadMode() {
    if (const yaml::Node* node = fields_.Get("mode"); node != nullptr) {
      draft_.rule.mode = static_cast<Mode>(ReadWord(*node, "mode", kModes, report_).value_or(0));
    }
  }

  // True if the rule counts nothing and has therefore been read completely.
  bool ReadAction() {
    const yaml::Node* node = fields_.Get("action");
    if (node == nullptr) {
      return false;
    }
    draft_.rule.action =
        static_cast<Action>(ReadWord(*node, "action", kActions, report_).value_or(0));
    if (draft_.rule.action == Action::kLimit) {
      return false;
    }
    for (const std::string_view field : kFields) {
      if (fields_.Get(field) != nullptr &&
          std::find(kActionFields.begin(), kActionFields.end(), field) == kActionFields.end()) {
        report_.Fail(fields_.KeyOf(field),
                     std::string(field) + " is not a field of a rule with action: " + node->text +
                         ", which counts nothing");
      }
    }
    const yaml::Node* const match = fields_.Get("match");
    if (match == nullptr || (match->is_map() && match->pair_count() == 0)) {
      report_.Fail(match == nullptr ? fields_.map() : *match,
                   std::string(match == nullptr ? "match is missing" : "match is empty") +
                       ": say which requests the rule is to " + node->text +
                       ", as in match: {ip: {cidr: 192.0.2.0/24}}");
    }
    draft_.rule.quota.unlimited = true;
    return true;
  }

  void ReadBan() {
    const yaml::Node* node = fields_.Get("ban");
    if (node == nullptr) {
      return;
    }
    constexpr std::string_view kExample = "as in ban: {after: 20, within: 1m, for: 15m}";
    if (!node->is_map()) {
      report_.Fail(*node, "ban must be a map, " + std::string(kExample));
      return;
    }
    const Fields fields(*node);
    fields.RejectUnknown(kBanFields, "ban", report_);
    core::Ban ban;
    bool good = true;
    if (const yaml::Node* after = fields.Get("after"); after != nullptr) {
      ban.after = ReadUnits(*after, "after", report_).value_or(-1);
      if (ban.after == 0 || ban.after > core::kMostDenials) {
        report_.Fail(*after, "after is " + after->text + ": write 1 to " +
                                 std::to_string(core::kMostDenials) + " denials");
      }
      good = ban.after >= 1 && ban.after <= core::kMostDenials;
    }
    for (const auto& [field, length] :
         {std::pair{"within", &ban.within}, std::pair{"for", &ban.lasts}}) {
      const yaml::Node* value = fields.Get(field);
      if (value == nullptr) {
        continue;
      }
      const auto read = ReadDuration(*value, field, report_);
      *length = read.value_or(Duration(-1));
      if (read.has_value() && (*read == Duration(0) || *read > core::kLongestHorizon)) {
        report_.Fail(*value, std::string(field) + " is " + value->text +
                                 ": write a duration from 1ms to 100 years");
        *length = Duration(-1);
      }
      good = good && length->count() > 0;
    }
    for (const std::string_view field : kBanFields) {
      if (fields.Get(field) == nullptr) {
        report_.Fail(*node, std::string(field) + " is missing, " + std::string(kExample));
        good = false;
      }
    }
    if (good) {
      draft_.rule.ban = ban;
    }
  }

  void ReadPolicies() {
    if (const yaml::Node* node = fields_.Get("reservation_ttl"); node != nullptr) {
      const auto ttl = ReadDuration(*node, "reservation_ttl", report_);
      if (ttl.has_value() && (*ttl == Duration(0) || *ttl > core::kLongestHorizon)) {
        report_.Fail(
            *node, "reservation_ttl is " + node->text + ": write a duration from 1ms to 100 years");
      } else if (ttl.has_value()) {
        draft_.rule.reservation_ttl = *ttl;
      }
    }
    if (const yaml::Node* node = fields_.Get("on_missing"); node != nullptr) {
      draft_.rule.on_missing =
          static_cast<OnMissing>(ReadWord(*node, "on_missing", kOnMissing, report_).value_or(0));
    }
    if (const yaml::Node* node = fields_.Get("on_store_error"); node != nullptr) {
      draft_.rule.on_store_error = static_cast<OnStoreError>(
          ReadWord(*node, "on_store_error", kOnStoreError, report_).value_or(0));
    }
    if (const yaml::Node* node = fields_.Get("retry_jitter"); node != nullptr) {
      draft_.rule.retry_jitter = ReadDuration(*node, "retry_jitter", report_).value_or(Duration(0));
    }
  }

  // After the quota, because not every quota can be leased.
  void ReadSync() {
    const yaml::Node* node = fields_.Get("sync");
    if (node == nullptr) {
      return;
    }
    const auto sync = rules::ReadSync(*node, report_);
    if (!sync.has_value()) {
      return;
    }
    draft_.rule.sync = *sync;
    if (const auto fault = core::FaultOf(*sync, draft_.rule.quota)) {
      report_.Fail(*node, *fault);
    } else if (*sync == core::Sync::kLocal && draft_.rule.ban.has_value()) {
      report_.Fail(*node,
                   "sync: local cannot be combined with ban, because all nodes share a ban: write "
                   "sync: exact, "
                   "or leave ban out");
    }
  }

  void ReadCost() {
    const yaml::Node* node = fields_.Get("cost");
    if (node == nullptr) {
      return;
    }
    draft_.rule.states_cost = true;
    CostRule& cost = draft_.compiled.cost;
    const std::string& text = node->text;
    const bool number =
        node->is_text() && text.find_first_not_of("+-.0123456789eE") == text.npos && !text.empty();
    if (!node->is_text() || number) {
      cost.kind = CostRule::Kind::kFixed;
      const auto units = ReadUnits(*node, "cost", report_);
      cost.units = units.value_or(0);
      if (units == 0) {
        report_.Warn(*node, "rule " + draft_.rule.id +
                                ": cost is 0, so the rule charges nothing and never limits");
      }
      draft_.rule.has_own_cost = true;
    } else if (text != "request") {
      if (!IsAttributeName(text)) {
        report_.Fail(*node,
                     "cost: write request, a whole number, or the name of an attribute that "
                     "holds one");
        return;
      }
      cost.kind = CostRule::Kind::kAttribute;
      cost.attribute = attributes_.Intern(text);
      draft_.rule.cost_attribute = text;
    }
  }

  void ReadPlans() {
    const yaml::Node* node = fields_.Get("plans");
    if (node == nullptr) {
      return;
    }
    if (!node->is_list()) {
      report_.Fail(*node, "plans must be a list, as in plans: [{match: {plan: pro}, rate: 500}]");
      return;
    }
    if (node->items.size() > kMaxPlans) {
      report_.Fail(*node, "more than " + std::to_string(kMaxPlans) +
                              " plans: use overrides, which are found by one look-up");
      return;
    }
    for (const yaml::Node* item : node->items) {
      if (!item->is_map()) {
        report_.Fail(*item, "a plan is a map, as in {match: {plan: pro}, rate: 500}");
        continue;
      }
      const Fields fields(*item);
      Plan plan;
      plan.place = report_.PlaceOf(*item);
      if (const yaml::Node* match = fields.Get("match"); match != nullptr) {
        plan.match = ReadMatch(*match, attributes_, report_);
      } else {
        report_.Fail(
            *item,
            "match is missing: say which requests the plan is for, as in match: {plan: pro}");
      }
      if (const auto numbers = quotas_.ReadChange(fields, "plan"); numbers.has_value()) {
        plan.numbers = *numbers;
        draft_.compiled.plans.push_back(std::move(plan));
      }
    }
  }

  Fields fields_;
  AttributeTable& attributes_;
  Reporter& report_;
  QuotaReader quotas_;
  RuleDraft draft_;
};

}  // namespace

RuleDraft ReadRule(const yaml::Node& node, AttributeTable& attributes, QuotaShelf& calendars,
                   Reporter& report) {
  return RuleReader(node, attributes, calendars, report).Read();
}

}  // namespace sluice::rules
