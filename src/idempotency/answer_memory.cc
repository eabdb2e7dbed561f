#include "idempotency/answer_memory.h"

#include <charconv>
#include <memory>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <openssl/evp.h>
#include <xxhash.h>

#include "base/random.h"

namespace sluice::idempotency {

namespace {

// What an entry takes beside its texts: its place in the map and in the list.
constexpr std::size_t kEntryBytes = 256;

std::array<std::uint64_t, 2> HashOf(std::string_view body) {
  const XXH128_hash_t hash = XXH3_128bits(body.data(), body.size());
  return {hash.high64, hash.low64};
}

std::string HexOf(const std::array<std::uint64_t, 2>& hash) {
  return fmt::format("{:016x}{:016x}", hash[0], hash[1]);
}

// A name has a caller's credentials in it, and callers choose the rest: no fast hash.
std::string DigestOf(const std::string& name) {
  constexpr std::size_t kBytes = 16;
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  EVP_Digest(name.data(), name.size(), digest.data(), nullptr, EVP_sha256(), nullptr);
  std::string text;
  for (std::size_t i = 0; i < kBytes; ++i) {
    text += fmt::format("{:02x}", digest[i]);
  }
  return text;
}

// An answer as a record has it: how long the metadata is, then both texts.
std::string TextOf(const AnswerMemory::Answer& answer) {
  return std::to_string(answer.metadata.size()) + ":" + answer.metadata + answer.body;
}
bool ReadText(std::string_view text, AnswerMemory::Answer& answer) {
  std::size_t metadata = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), metadata);
  const auto begin = static_cast<std::size_t>(end - text.data()) + 1;
  if (error != std::errc() || begin > text.size() || *end != ':' ||
      metadata > text.size() - begin) {
    return false;
  }
  answer.metadata = text.substr(begin, metadata);
  answer.body = text.substr(begin + metadata);
  return true;
}

// A call that no client waits for. What it cannot say is over when the claim is.
class SharedRecord final : public store::RecordCall {
 public:
  static void Write(store::AnswerRecords& records, void (store::AnswerRecords::*verb)(RecordCall&),
                    std::unique_ptr<SharedRecord> call) {
    SharedRecord& record = *call;
    record.self_ = std::move(call);
    (records.*verb)(record);
  }
  void OnAnswered() noexcept override {
    const std::unique_ptr<SharedRecord> self = std::move(self_);
  }

 private:
  std::unique_ptr<SharedRecord> self_;
};

}  // namespace

AnswerMemory::AnswerMemory(const Settings& settings)
    : bytes_a_shard_(settings.bytes / kShards),
      keep_(settings.keep),
      caller_attribute_(settings.caller_attribute),
      shared_(settings.shared),
      owner_(base::UniqueNumber()) {}

AnswerMemory::Shard& AnswerMemory::ShardOf(const std::string& name) {
  return shards_[std::hash<std::string>{}(name) % kShards];
}

void AnswerMemory::Forget(Shard& shard, std::unordered_map<std::string, Entry>::iterator at) {
  kept_.fetch_sub(1, std::memory_order_relaxed);
  bytes_.fetch_sub(at->second.bytes, std::memory_order_relaxed);
  shard.bytes -= at->second.bytes;
  shard.oldest.erase(at->second.age);
  shard.entries.erase(at);
}

AnswerMemory::Found AnswerMemory::Begin(const std::string& name, std::string_view body,
                                        Duration now, Answer& answer, std::function<void()> again) {
  const auto hash = HashOf(body);
  Shard& shard = ShardOf(name);
  const std::lock_guard lock(shard.mutex);
  auto at = shard.entries.find(name);
  if (at != shard.entries.end() && !at->second.pending && now >= at->second.until) {
    Forget(shard, at);
    at = shard.entries.end();
  }
  if (at == shard.entries.end()) {
    shard.entries.try_emplace(name).first->second.body = hash;
    return Found::kNothing;
  }
  Entry& entry = at->second;
  if (entry.body != hash) {
    conflicts_.fetch_add(1, std::memory_order_relaxed);
    return Found::kOther;
  }
  if (entry.pending) {
    entry.waiting.push_back(std::move(again));
    return Found::kPending;
  }
  replays_.fetch_add(1, std::memory_order_relaxed);
  answer = entry.answer;
  return Found::kAnswer;
}

void AnswerMemory::PrepareClaim(const std::string& name, std::string_view body,
                                store::RecordCall& claim) const {
  claim.name = DigestOf(name);
  claim.body = HexOf(HashOf(body));
  claim.owner = owner_;
  claim.lasts = kClaimLasts;
}

AnswerMemory::Found AnswerMemory::TakeClaim(const store::RecordCall& claim, Answer& answer) {
  using Claimed = store::RecordCall::Found;
  if (claim.error != store::StoreError::kNone) {
    unshared_.fetch_add(1, std::memory_order_relaxed);
    return Found::kNothing;
  }
  switch (claim.found) {
    case Claimed::kOurs:
      break;
    case Claimed::kPending:
      return Found::kPending;
    case Claimed::kOther:
      conflicts_.fetch_add(1, std::memory_order_relaxed);
      return Found::kOther;
    case Claimed::kAnswered:
      if (ReadText(claim.answer, answer)) {
        replays_.fetch_add(1, std::memory_order_relaxed);
        return Found::kAnswer;
      }
      unshared_.fetch_add(1, std::memory_order_relaxed);  // Of a node that writes otherwise.
      break;
  }
  return Found::kNothing;
}

void AnswerMemory::Keep(const std::string& name, Duration now, Answer answer) {
  std::vector<std::function<void()>> waiting;
  std::unique_ptr<SharedRecord> record;
  if (shared_ != nullptr) {
    record = std::make_unique<SharedRecord>();
    record->answer = TextOf(answer);
  }
  {
    Shard& shard = ShardOf(name);
    const std::lock_guard lock(shard.mutex);
    const auto at = shard.entries.find(name);
    if (at == shard.entries.end()) {
      return;
    }
    Entry& entry = at->second;
    waiting.swap(entry.waiting);
    if (record != nullptr) {
      record->body = HexOf(entry.body);
    }
    entry.bytes = kEntryBytes + name.size() + answer.metadata.size() + answer.body.size();
    if (entry.bytes > bytes_a_shard_) {
      evictions_.fetch_add(1, std::memory_order_relaxed);
      shard.entries.erase(at);
    } else {
      const auto oldest = [&] { return shard.entries.find(*shard.oldest.front()); };
      while (!shard.oldest.empty() && now >= oldest()->second.until) {
        Forget(shard, oldest());
      }
      while (shard.bytes + entry.bytes > bytes_a_shard_) {
        evictions_.fetch_add(1, std::memory_order_relaxed);
        Forget(shard, oldest());
      }
      entry.pending = false;
      entry.until = now + keep_;
      entry.answer = std::move(answer);
      entry.age = shard.oldest.insert(shard.oldest.end(), &at->first);
      shard.bytes += entry.bytes;
      kept_.fetch_add(1, std::memory_order_relaxed);
      bytes_.fetch_add(entry.bytes, std::memory_order_relaxed);
    }
  }
  if (record != nullptr) {
    record->name = DigestOf(name);
    record->owner = owner_;
    record->lasts = keep_;
    SharedRecord::Write(*shared_, &store::AnswerRecords::Keep, std::move(record));
  }
  for (const auto& again : waiting) {
    again();
  }
}

void AnswerMemory::Drop(const std::string& name) {
  // First there: the waiting check claims it again.
  if (shared_ != nullptr) {
    auto record = std::make_unique<SharedRecord>();
    record->name = DigestOf(name);
    record->owner = owner_;
    record->body = "0";
    record->lasts = kClaimLasts;
    SharedRecord::Write(*shared_, &store::AnswerRecords::Drop, std::move(record));
  }
  Release(name);
}

void AnswerMemory::Release(const std::string& name) {
  std::vector<std::function<void()>> waiting;
  {
    Shard& shard = ShardOf(name);
    const std::lock_guard lock(shard.mutex);
    if (const auto at = shard.entries.find(name); at != shard.entries.end()) {
      waiting.swap(at->second.waiting);
      shard.entries.erase(at);
    }
  }
  for (const auto& again : waiting) {
    again();
  }
}

void AnswerMemory::Write(telemetry::Exposition& out) const {
  using Type = telemetry::Exposition::Type;
  const auto write = [&out](std::string_view name, std::string_view help, Type type,
                            const std::atomic<std::uint64_t>& value) {
    out.Family(name, help, type);
    out.Sample(name, {}, value.load(std::memory_order_relaxed));
  };
  write("sluice_idempotency_answers", "Answers kept for Idempotency-Keys.", Type::kGauge, kept_);
  write("sluice_idempotency_bytes", "Memory of the answers kept for Idempotency-Keys, in bytes.",
        Type::kGauge, bytes_);
  write("sluice_idempotency_replays_total", "Checks answered again for the same Idempotency-Key.",
        Type::kCounter, replays_);
  write("sluice_idempotency_conflicts_total",
        "Checks refused because their Idempotency-Key was used with another body.", Type::kCounter,
        conflicts_);
  if (shared_ != nullptr) {
    write("sluice_idempotency_unshared_total",
          "Checks decided without knowing whether another node had decided them, because the store "
          "did not answer.",
          Type::kCounter, unshared_);
  }
  write("sluice_idempotency_evictions_total",
        "Answers dropped early because idempotency.mebibytes was full.", Type::kCounter,
        evictions_);
}

}  // namespace sluice::idempotency
