#include "records/decision_history.h"

#include <algorithm>
#include <utility>

namespace sluice::records {

namespace {

using insight::KeptDecision;
using insight::KeptRequest;

// What an entry takes beside its bytes, about: nodes of a list, a deque and a map.
constexpr std::size_t kEntryBytes = 128;

std::size_t SizeOf(const std::string& bytes) {
  return bytes.size() + kEntryBytes;
}

// The check by which a record is filed: the first that denied, else the first.
const KeptDecision* FilingCheck(const KeptRequest& request) {
  const auto denied = std::ranges::find_if(
      request.decisions, [](const KeptDecision& d) { return !d.decision.allowed; });
  if (denied != request.decisions.end()) {
    return &*denied;
  }
  return request.decisions.empty() ? nullptr : request.decisions.data();
}

bool HasKey(const KeptDecision& decision, std::string_view key) {
  const std::size_t equals = key.find('=');
  return std::ranges::any_of(decision.parts, [&](const core::KeyPart& part) {
    return part.value == key ||
           (equals != std::string_view::npos && part.attribute == key.substr(0, equals) &&
            part.value == key.substr(equals + 1));
  });
}

}  // namespace

bool Matches(const DecisionFilter& filter, const KeptRequest& request) {
  if (!filter.request_id.empty() && request.request_id != filter.request_id) {
    return false;
  }
  if (filter.outcome == "allowed" || filter.outcome == "denied") {
    if (request.allowed != (filter.outcome == "allowed")) {
      return false;
    }
  } else if (!filter.outcome.empty() &&
             std::ranges::none_of(request.decisions, [&](const KeptDecision& d) {
               return insight::NameOf(d.outcome) == filter.outcome;
             })) {
    return false;
  }
  return (filter.rule.empty() && filter.key.empty()) ||
         std::ranges::any_of(request.decisions, [&](const KeptDecision& d) {
           return (filter.rule.empty() || d.rule == filter.rule) &&
                  (filter.key.empty() || HasKey(d, filter.key));
         });
}

void DecisionHistory::Add(std::string_view bytes, const KeptRequest& request) {
  const KeptDecision* const check = FilingCheck(request);
  Entry entry{.number = 0, .key = 0, .at = request.at, .bytes = std::string(bytes)};
  if (check != nullptr) {
    std::string key;
    for (const core::KeyPart& part : check->parts) {
      key.append(part.value).push_back('\0');
    }
    entry.key = std::hash<std::string>()(key);
  }
  const std::string_view rule = check != nullptr ? check->rule : std::string_view();
  const bool denied = check != nullptr && !check->decision.allowed;
  const std::lock_guard lock(mutex_);
  entry.number = added_++;
  (denied ? denied_ : allowed_).Add(rule, std::move(entry), denied ? kMostOfKey : 0);
}

void DecisionHistory::ForEach(const DecisionFilter& filter,
                              const std::function<void(const KeptRequest&)>& take) const {
  const std::lock_guard lock(mutex_);
  KeptRequest request;
  std::vector<const Entry*> found;
  for (const Part* part : {&denied_, &allowed_}) {
    part->ForEach([&](const Entry& entry) {
      insight::DecodeRequest(entry.bytes, request);
      if (Matches(filter, request)) {
        found.push_back(&entry);
      }
    });
  }
  const std::size_t count = std::min(filter.most, found.size());
  std::ranges::partial_sort(found, found.begin() + static_cast<std::ptrdiff_t>(count),
                            std::ranges::greater(), &Entry::number);
  for (std::size_t i = 0; i < count; ++i) {
    insight::DecodeRequest(found[i]->bytes, request);
    request.at = found[i]->at;
    take(request);
  }
}

std::size_t DecisionHistory::size() const {
  const std::lock_guard lock(mutex_);
  return denied_.size() + allowed_.size();
}

void DecisionHistory::Part::Add(std::string_view rule, Entry entry, std::size_t most_of_key) {
  OfRule& of_rule = rules_[std::string(rule)];
  auto& of_key = of_rule.of_keys[entry.key];
  of_rule.bytes += SizeOf(entry.bytes);
  bytes_ += SizeOf(entry.bytes);
  of_rule.entries.push_back(std::move(entry));
  of_key.push_back(std::prev(of_rule.entries.end()));
  if (most_of_key != 0 && of_key.size() > most_of_key) {
    Drop(of_rule, of_key.front());
  }
  while (bytes_ > most_bytes_) {
    const auto largest =
        std::ranges::max_element(rules_, {}, [](const auto& named) { return named.second.bytes; });
    Drop(largest->second, largest->second.entries.begin());
    if (largest->second.entries.empty()) {
      rules_.erase(largest);
    }
  }
}

// The entry is the oldest of its key: keys are dropped from their front, and rules from theirs.
void DecisionHistory::Part::Drop(OfRule& of_rule, std::list<Entry>::iterator entry) {
  const auto of_key = of_rule.of_keys.find(entry->key);
  of_key->second.pop_front();
  if (of_key->second.empty()) {
    of_rule.of_keys.erase(of_key);
  }
  of_rule.bytes -= SizeOf(entry->bytes);
  bytes_ -= SizeOf(entry->bytes);
  of_rule.entries.erase(entry);
}

void DecisionHistory::Part::ForEach(const std::function<void(const Entry&)>& take) const {
  for (const auto& [rule, of_rule] : rules_) {
    for (const Entry& entry : of_rule.entries) {
      take(entry);
    }
  }
}

std::size_t DecisionHistory::Part::size() const {
  std::size_t size = 0;
  for (const auto& [rule, of_rule] : rules_) {
    size += of_rule.entries.size();
  }
  return size;
}

}  // namespace sluice::records
