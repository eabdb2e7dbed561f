#include "replay/key_profile.h"

#include <algorithm>

namespace sluice::replay {

void FrequentTexts::Add(std::string_view text) {
  text = text.substr(0, kMostBytes);
  const auto found = std::ranges::find(counters_, text, &Top::text);
  if (found != counters_.end()) {
    ++found->count;
  } else if (counters_.size() < kCounters) {
    counters_.push_back({.text = std::string(text), .count = 1});
  } else {
    for (Top& counter : counters_) {
      --counter.count;
    }
    std::erase_if(counters_, [](const Top& counter) { return counter.count == 0; });
  }
}

FrequentTexts::Top FrequentTexts::top() const {
  const auto top = std::ranges::max_element(counters_, {}, &Top::count);
  return top == counters_.end() ? Top{} : *top;
}

void KeyProfile::Add(std::string_view status, std::string_view endpoint,
                     std::string_view user_agent) {
  ++requests_;
  const bool known = status.size() == 3 && status.front() >= '1' && status.front() <= '5';
  ++statuses_[known ? static_cast<std::size_t>(status.front() - '0') : 0];
  if (endpoint.data() != nullptr) {
    endpoints_.Add(endpoint);
  }
  if (user_agent.data() != nullptr) {
    user_agents_.Add(user_agent);
  }
}

}  // namespace sluice::replay
