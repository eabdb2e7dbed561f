#include "service/active_rules.h"

#include <array>
#include <utility>

namespace sluice::service {

namespace {

// The pins that one thread keeps ready, one for each publisher that it uses. A thread that serves
// more than kWays services in turn takes the slow path more often.
class ThreadPins {
 public:
  static constexpr std::size_t kWays = 4;

  struct Entry {
    std::uint64_t serial = 0;
    std::uint64_t version = 0;
    ActiveRulesPin* pin = nullptr;
  };

  ThreadPins() = default;
  ThreadPins(const ThreadPins&) = delete;
  ThreadPins& operator=(const ThreadPins&) = delete;
  ~ThreadPins() {
    for (const Entry& entry : entries_) {
      if (entry.pin != nullptr) {
        entry.pin->Drop();
      }
    }
  }

  Entry* Find(std::uint64_t serial) {
    for (Entry& entry : entries_) {
      if (entry.serial == serial) {
        return &entry;
      }
    }
    return nullptr;
  }

  // The entry to reuse. Its old pin lives as long as calls in flight hold it.
  Entry& Renew(std::uint64_t serial) {
    Entry* entry = Find(serial);
    if (entry == nullptr) {
      entry = &entries_[next_];
      next_ = (next_ + 1) % kWays;
    }
    if (entry->pin != nullptr) {
      std::exchange(entry->pin, nullptr)->Drop();
    }
    return *entry;
  }

 private:
  std::array<Entry, kWays> entries_{};
  std::size_t next_ = 0;
};

std::uint64_t NextSerial() {
  static std::atomic<std::uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

}  // namespace

const rules::Rule* FindRule(const ActiveRules& active, std::string_view id) {
  if (active.rules == nullptr) {
    return nullptr;
  }
  if (const rules::Rule* rule = active.rules->Find(id); rule != nullptr) {
    return rule;
  }
  const std::string* const now = active.history.NameNow(id);
  return now == nullptr ? nullptr : active.rules->Find(*now);
}

std::string NoSuchRule(std::string_view id) {
  constexpr std::size_t kShown = 64;  // The longest possible id.
  std::string text = "there is no rule ";
  for (const char c : id.substr(0, kShown)) {
    // The bytes come from a caller and may reach a terminal.
    text += c > ' ' && c < 0x7f ? c : '?';
  }
  return text;
}

PublishedRules::PublishedRules()
    : serial_(NextSerial()), current_(std::make_shared<const ActiveRules>()) {}

void PublishedRules::Publish(std::shared_ptr<const ActiveRules> active) {
  const std::lock_guard lock(mutex_);
  current_.swap(active);
  // Pairs with the acquire in Pin. The pointer is exchanged under the mutex.
  version_.fetch_add(1, std::memory_order_release);
}

std::shared_ptr<const ActiveRules> PublishedRules::Get() const {
  const std::lock_guard lock(mutex_);
  return current_;
}

ActiveRulesPin& PublishedRules::Pin() const {
  thread_local ThreadPins pins;
  ThreadPins::Entry* entry = pins.Find(serial_);
  if (entry == nullptr || entry->version != version_.load(std::memory_order_acquire)) {
    entry = &pins.Renew(serial_);
    const std::lock_guard lock(mutex_);
    *entry = {.serial = serial_,
              .version = version_.load(std::memory_order_relaxed),
              .pin = new ActiveRulesPin(current_)};
  }
  entry->pin->Hold();
  return *entry->pin;
}

}  // namespace sluice::service
