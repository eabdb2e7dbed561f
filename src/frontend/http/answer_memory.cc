#include "frontend/http/answer_memory.h"

#include <utility>

#include <xxhash.h>

namespace sluice::frontend::http {

namespace {

// What an entry takes beside its texts: its place in the map and in the list.
constexpr std::size_t kEntryBytes = 256;

std::array<std::uint64_t, 2> HashOf(std::string_view body) {
  const XXH128_hash_t hash = XXH3_128bits(body.data(), body.size());
  return {hash.high64, hash.low64};
}

}  // namespace

AnswerMemory::AnswerMemory(const Settings& settings)
    : bytes_a_shard_(settings.bytes / kShards), keep_(settings.keep) {}
AnswerMemory::~AnswerMemory() = default;

AnswerMemory::Shard& AnswerMemory::ShardOf(const std::string& name) {
  return shards_[std::hash<std::string>{}(name) % kShards];
}

void AnswerMemory::Forget(Shard& shard, std::unordered_map<std::string, Entry>::iterator at) {
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
    kept_.fetch_sub(1, std::memory_order_relaxed);
    bytes_.fetch_sub(at->second.bytes, std::memory_order_relaxed);
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

void AnswerMemory::Keep(const std::string& name, Duration now, Answer answer) {
  std::vector<std::function<void()>> waiting;
  {
    Shard& shard = ShardOf(name);
    const std::lock_guard lock(shard.mutex);
    const auto at = shard.entries.find(name);
    if (at == shard.entries.end()) {
      return;
    }
    Entry& entry = at->second;
    waiting.swap(entry.waiting);
    entry.bytes = kEntryBytes + name.size() + answer.fields.size() + answer.body.size();
    if (entry.bytes > bytes_a_shard_) {
      evictions_.fetch_add(1, std::memory_order_relaxed);
      shard.entries.erase(at);
    } else {
      const auto forget_oldest = [&] {
        const auto oldest = shard.entries.find(*shard.oldest.front());
        kept_.fetch_sub(1, std::memory_order_relaxed);
        bytes_.fetch_sub(oldest->second.bytes, std::memory_order_relaxed);
        Forget(shard, oldest);
      };
      while (!shard.oldest.empty() &&
             now >= shard.entries.find(*shard.oldest.front())->second.until) {
        forget_oldest();
      }
      while (shard.bytes + entry.bytes > bytes_a_shard_) {
        evictions_.fetch_add(1, std::memory_order_relaxed);
        forget_oldest();
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
  for (const auto& again : waiting) {
    again();
  }
}

void AnswerMemory::Drop(const std::string& name) {
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
  write("sluice_idempotency_answers", "Answers that are remembered for an Idempotency-Key.",
        Type::kGauge, kept_);
  write("sluice_idempotency_bytes", "Memory that they take.", Type::kGauge, bytes_);
  write("sluice_idempotency_replays_total", "Checks that were answered from memory.",
        Type::kCounter, replays_);
  write("sluice_idempotency_conflicts_total", "Checks whose key belonged to another body.",
        Type::kCounter, conflicts_);
  write("sluice_idempotency_evictions_total",
        "Answers that were forgotten before their time, for want of room.", Type::kCounter,
        evictions_);
}

}  // namespace sluice::frontend::http
