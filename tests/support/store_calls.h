#pragma once

#include <array>
#include <chrono>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/key.h"
#include "core/quota.h"
#include "store/key_store.h"

namespace sluice::support {

// `limit` an hour: as burst and rate for buckets.
inline core::Quota QuotaOf(core::Algorithm algorithm, Units limit) {
  core::Quota quota;
  quota.algorithm = algorithm;
  quota.limit = limit;
  quota.rate = core::IsBucket(algorithm) ? limit : 0;
  quota.window = std::chrono::hours(1);
  return quota;
}

// A key that owns its text: one attribute, `user_id` unless said otherwise.
class OwnedKey {
 public:
  explicit OwnedKey(std::string value, std::string rule = "r")
      : OwnedKey(std::move(value), std::move(rule), std::vector<std::string>{}) {}
  OwnedKey(std::string value, std::string rule, const char* formerly)
      : OwnedKey(std::move(value), std::move(rule), std::vector<std::string>{formerly}) {}
  OwnedKey(std::string value, std::string rule, std::vector<std::string> formerly)
      : rule_(std::move(rule)), formerly_(std::move(formerly)), value_(std::move(value)) {
    parts_[0] = {.attribute = "user_id", .type = core::AttributeType::kText, .value = value_};
  }
  OwnedKey(const OwnedKey&) = delete;
  OwnedKey& operator=(const OwnedKey&) = delete;

  [[nodiscard]] core::KeyView view() const {
    return {.rule = rule_, .formerly = formerly_, .parts = parts_};
  }

 private:
  std::string rule_;
  std::vector<std::string> formerly_;
  std::string value_;
  std::array<core::KeyPart, 1> parts_;
};

// A call that remembers that it was answered, and how often.
template <class Call>
struct Answered : Call {
  int answers_got = 0;
  void OnAnswered() noexcept override { ++answers_got; }
};

// A check call that owns its checks and answers.
struct OwnedCheckCall final : Answered<store::CheckCall> {
  std::vector<store::Check> own_checks;
  std::vector<store::CheckAnswer> own_answers;

  void Add(const store::Check& check) {
    own_checks.push_back(check);
    own_answers.resize(own_checks.size());
    checks = own_checks;
    answers = own_answers;
  }
};

// Sends a batch of one call.
inline void Send(store::KeyStore& store, store::CheckCall& call) {
  const std::array<store::CheckCall*, 1> batch{&call};
  store.CheckMany(batch);
}

// Asks a store that answers at once for one unit of the key with this text.
inline store::CheckAnswer Ask(store::KeyStore& store, const std::string& text,
                              const core::Quota& quota) {
  const OwnedKey key(text);
  OwnedCheckCall call;
  call.Add({.key = key.view(), .quota = quota, .cost = {}});
  Send(store, call);
  return call.own_answers[0];
}

}  // namespace sluice::support
