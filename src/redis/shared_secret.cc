#include "redis/shared_secret.h"

#include <array>
#include <chrono>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/random.h"
#include "net/event_loop.h"
#include "redis/slot_map.h"

namespace sluice::redis {

namespace {

constexpr Duration kUntilKnown = std::chrono::milliseconds(50);

std::string DrawText() {
  std::array<std::uint8_t, SecretCall::kDigits / 2> bytes{};
  base::FillWithSecretBytes(bytes);
  std::string text;
  for (const unsigned char byte : bytes) {
    text += fmt::format("{:02x}", byte);
  }
  return text;
}

}  // namespace

std::optional<ScriptId> SecretVerb::Append(Call& call, const Judged& /*judged*/, std::string& out) {
  CommandArgs args(out, 3 + 1 + 1);
  args.BeginScript(ScriptId::kSecret, 1);
  args.Put(SecretCall::kKey);
  args.Put(call.offer);
  return ScriptId::kSecret;
}

Outcome SecretVerb::Read(Reply reply, Call& call) {
  if (reply.size() != 1 || reply[0].type != wire::RespType::kBulk ||
      reply[0].text.size() != SecretCall::kDigits ||
      reply[0].text.find_first_not_of("0123456789abcdef") != std::string_view::npos) {
    return Outcome::Malformed(
        "the key sl1:{tokens}:secret does not contain a secret of Sluice: remove it");
  }
  call.found = reply[0].text;
  return Outcome::Answered();
}

std::uint16_t SecretVerb::Place(Call& /*call*/) {
  return SlotOfKey(SecretCall::kKey);
}

SharedSecret::SharedSecret(net::EventLoop& loop, Route& route, OnSecret on_secret, Duration every)
    : loop_(loop), route_(route), on_secret_(std::move(on_secret)), every_(every), ask_([this] {
        Ask();
      }) {
  offer = DrawText();
  loop_.ArmAfter(ask_, Duration::zero(), net::TimerPrecision::kExact);
}

void SharedSecret::Ask() {
  error = store::StoreError::kNone;
  route_.Send(Request::Of<SecretVerb>(*this), std::chrono::steady_clock::now());
  route_.Kick();
}

void SharedSecret::OnAnswered() noexcept {
  if (error == store::StoreError::kNone && (!is_known_ || found != offer)) {
    is_known_ = true;
    offer = found;
    on_secret_(found);
  }
  loop_.ArmAfter(ask_, is_known_ ? every_ : kUntilKnown);
}

}  // namespace sluice::redis
