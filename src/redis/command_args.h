#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "sluice/time.h"

#include "core/key.h"
#include "core/quota.h"
#include "redis/key_name.h"
#include "redis/scripts.h"
#include "store/key_store.h"

namespace sluice::redis {

// By which clock a call is judged.
struct Judged {
  bool by_server = true;  // Redis's own TIME; else `now`: then its keys get no expiry.
  WallInstant now{};      // by_server: a guess, to know which calendar periods to send along.
};

// As scripts count time; rounded down.
[[nodiscard]] std::int64_t InUs(std::int64_t ns);
[[nodiscard]] std::int64_t InUs(WallInstant instant);

// How many keys PutKeys() puts.
[[nodiscard]] inline std::size_t KeysOf(const core::KeyView& key) {
  return 1 + key.formerly.size();
}

// The arguments of one command ("$3\r\n123\r\n" and so on), straight into the bytes to be sent. One
// thread.
class CommandArgs {
 public:
  // Begins a command of so many.
  CommandArgs(std::string& out, std::size_t count);
  // The last ones of a command that has begun.
  explicit CommandArgs(std::string& out) : out_(out) {}

  void Put(std::string_view bytes);
  void Put(std::int64_t number);
  void PutFlag(bool flag) { Put(flag ? std::string_view("1") : std::string_view("0")); }
  // What has no sign: the names of holds and of requests.
  void PutId(std::uint64_t id, int base = 10);

  void PutKey(std::string_view rule, const core::KeyView& key, const core::Quota& quota,
              std::string_view suffix = {});
  // Under the rule's id, and under those that it had.
  void PutKeys(const core::KeyView& key, const core::Quota& quota, std::string_view suffix = {});
  void PutBeside(std::string_view rule, const core::KeyView& key, BesideKey what);
  // The keys of the key's ban and of its denials; all: under every id.
  void PutBanKeys(std::string_view rule, const core::KeyView& key);
  void PutAllBanKeys(const core::KeyView& key);
  void PutAttributesOfBan(const core::KeyView& key);

  // EVALSHA, and how many keys follow.
  void BeginScript(ScriptId script, std::size_t keys);
  void PutTime(const Judged& judged);
  // What the scripts call the fragment of an algorithm.
  void PutFragment(core::Algorithm algorithm);
  // The four values of a quota, in the form of that fragment; `hold` names what it may grant.
  void PutQuota(const core::Quota& quota, const Judged& judged, store::HoldId hold);

 private:
  void PutReserves(const core::Quota& quota);
  // Of what was written from `at` on: its size is known only then.
  void PutHeadAt(std::size_t at);
  void Head(char mark, std::int64_t number);

  std::string& out_;
};

}  // namespace sluice::redis
