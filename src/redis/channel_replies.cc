#include <algorithm>
#include <charconv>
#include <chrono>
#include <initializer_list>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "redis/channel.h"
#include "redis/check_request.h"
#include "redis/key_requests.h"

// What a channel makes of the replies that come in: whose they are, and what they say.
namespace sluice::redis {

namespace {

using store::StoreError;
using wire::RespType;

constexpr std::uint8_t kMostAttempts = 5;
constexpr Duration kTakeBackWithin = std::chrono::seconds(2);
constexpr std::int64_t kMostNodes = 100'000;

std::string_view FirstWord(std::string_view text) {
  return text.substr(0, text.find(' '));
}

bool IsOneOf(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::ranges::find(words, word) != words.end();
}

bool IsError(Reply reply) {
  return reply[0].type == RespType::kError || reply[0].type == RespType::kBulkError;
}

// Of what a clock says: the upper bound keeps sums with it in range.
bool ReadNumber(std::string_view text, std::int64_t& number) {
  constexpr std::int64_t kMost = 1'000'000'000'000;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() && number >= 0 && number < kMost;
}

}  // namespace

void Channel::OnInput(std::string_view bytes, Time now) {
  pipeline_.Append(bytes);
  Command command;
  while (close_why_.empty() && pipeline_.Next(command)) {
    (this->*command.on_reply)(command, pipeline_.reply(), now);
  }
  if (!close_why_.empty()) {
    return;
  }
  if (!pipeline_.fault().empty()) {
    close_why_ = pipeline_.fault();
  } else if (state_ == State::kLeaving && pipeline_.in_flight() == 0) {
    close_why_ = "another server has its keys";
  }
}

void Channel::OnAuthenticated(Command& /*command*/, Reply reply, Time /*now*/) {
  if (IsError(reply)) {
    close_why_ = fmt::format("it refuses the password: {}", reply[0].text);
  }
}

void Channel::OnSelected(Command& /*command*/, Reply reply, Time /*now*/) {
  if (IsError(reply)) {
    close_why_ = reply[0].text;
  }
}

void Channel::OnGreeted(Command& /*command*/, Reply reply, Time now) {
  if (IsError(reply)) {
    close_why_ = reply[0].text;
  } else {
    BecomeUp(now);
  }
}

void Channel::OnProbed(Command& /*command*/, Reply reply, Time now) {
  probing_ = false;
  if (IsError(reply)) {
    probe_at_ = now + Jittered(settings_.cool_down);
  } else {
    CloseBreaker();
    on_event_(true, "Redis answers again: it decides from now on");
  }
}

void Channel::OnLoaded(Command& command, Reply reply, Time now) {
  const auto i = static_cast<std::size_t>(*command.script);
  --loads_in_flight_[i];
  if (IsError(reply)) {
    loaded_[i] = false;
    ReportError(reply[0].text, now);
  }
}

// A Redis that has lost its data sees nodes return one by one, so a lower count is used only when
// it comes twice in a row.
void Channel::OnNodesCounted(Command& /*command*/, Reply reply, Time /*now*/) {
  if (IsError(reply) && FirstWord(reply[0].text) == "NOSCRIPT") {
    loaded_[static_cast<std::size_t>(ScriptId::kMember)] = false;
  }
  if (reply[0].type != RespType::kInteger || reply[0].integer <= 0) {
    return;
  }
  const auto nodes = static_cast<int>(std::min<std::int64_t>(reply[0].integer, kMostNodes));
  const bool fewer = nodes < nodes_->load(std::memory_order_relaxed);
  if (!fewer || fewer_reported_) {
    nodes_->store(nodes, std::memory_order_relaxed);
  }
  fewer_reported_ = fewer && !fewer_reported_;
}

// The reply was written somewhere between question and answer: the middle is wrong by half the
// round trip at most.
void Channel::OnTimeTold(Command& /*command*/, Reply reply, Time now) {
  std::int64_t seconds = 0;
  std::int64_t micros = 0;
  if (reply.size() != 3 || !ReadNumber(reply[1].text, seconds) ||
      !ReadNumber(reply[2].text, micros)) {
    return;  // An ACL may forbid it: then nothing is known.
  }
  const WallInstant stated(std::chrono::seconds(seconds) + std::chrono::microseconds(micros));
  const WallInstant asked_about = clock_.Read().wall_clock - (now - time_asked_at_) / 2;
  metrics_.SetClockOffset(asked_about - stated);
}

void Channel::OnSlotsTold(Command& /*command*/, Reply reply, Time now) {
  topology_asked_ = false;
  if (IsError(reply)) {
    ReportError(reply[0].text, now);
  } else if (redirector_ != nullptr) {
    redirector_->OnTopology(*this, reply, now);
  }
}

// What sends the command before away, or keeps it from running, is reported there.
void Channel::OnFollowed(Command& /*command*/, Reply reply, Time now) {
  if (IsError(reply) && IsOneOf(FirstWord(reply[0].text), {"ERR", "NOPERM"})) {
    ReportError(reply[0].text, now);
  }
}

void Channel::OnUndone(Command& command, Reply reply, Time now) {
  if (IsError(reply)) {
    OnError(command, reply[0].text, now);
  }
}

void Channel::OnRequestReply(Command& command, Reply reply, Time now) {
  if (IsError(reply)) {
    OnError(command, reply[0].text, now);
    return;
  }
  failures_ = 0;
  failed_dials_ = 0;
  if (command.request.call() == nullptr) {
    SendBack(command, reply, now);
    return;
  }
  const Outcome outcome = command.request.Read(reply);
  switch (outcome.kind) {
    case Outcome::Kind::kAnswered:
      if (outcome.bans > 0) {
        metrics_.Count(RedisCount::kBans, outcome.bans);
      }
      Answer(command, now, outcome.error, RedisCount::kAnswered);
      return;
    case Outcome::Kind::kAgain:
      // Asked again by the time of the server, which the reply states.
      command.by_reply = true;
      if (++command.attempts < kMostAttempts) {
        Write(std::move(command));
      } else {
        Answer(command, now, StoreError::kDidNotRun, RedisCount::kFailed);
      }
      return;
    case Outcome::Kind::kMalformed:
      ReportError(outcome.fault, now);
      Answer(command, now, StoreError::kUnavailable, RedisCount::kFailed);
      return;
  }
}

void Channel::OnError(Command& command, std::string_view text, Time now) {
  const std::string_view word = FirstWord(text);
  const bool wanted = command.wanted();
  if (command.request.call() != nullptr && command.request.ReadError(text)) {
    Answer(command, now, StoreError::kNone, RedisCount::kAnswered);
    return;
  }
  if (word == "NOSCRIPT" && command.script) {
    const auto i = static_cast<std::size_t>(*command.script);
    // A load that is under way brings the script; otherwise it is to be loaded again.
    if (loads_in_flight_[i] == 0) {
      loaded_[i] = false;
    }
    if (wanted && ++command.attempts < kMostAttempts && state_ == State::kUp) {
      Write(std::move(command));
      return;
    }
  }
  if (wanted && SendElsewhere(command, text, now)) {
    return;
  }
  if (IsOneOf(word, {"READONLY", "LOADING", "MASTERDOWN"})) {
    if (state_ == State::kUp) {
      state_ = State::kLeaving;
      metrics_.AddUp(-1);
      greeted_by_ = now + kGreetingTimeout;  // For the replies that are under way.
    }
    ReportError(text, now);
    if (wanted) {  // Until its deadline.
      pipeline_.Wait(std::move(command));
      return;
    }
  }
  ReportError(text, now);
  // These say that the command did not run. Of any other error that is not certain.
  const bool ran =
      !IsOneOf(word, {"NOSCRIPT", "READONLY", "LOADING", "MASTERDOWN", "OOM", "MISCONF",
                      "NOREPLICAS", "BUSY", "NOAUTH", "NOPERM", "WRONGTYPE", "CLUSTERDOWN",
                      "TRYAGAIN", "CROSSSLOT", "MOVED", "ASK", "UNDONE"});
  Answer(command, now, ran ? StoreError::kUnavailable : StoreError::kDidNotRun,
         RedisCount::kFailed);
}

// True: the cluster's route has taken over the command.
bool Channel::SendElsewhere(Command& command, std::string_view text, Time now) {
  const std::string_view word = FirstWord(text);
  if (redirector_ == nullptr || !IsOneOf(word, {"MOVED", "ASK", "TRYAGAIN", "CLUSTERDOWN"})) {
    return false;
  }
  // What takes a charge back waits for its keys to have moved as long as it may.
  const bool is_undo = command.request.call() == nullptr;
  const bool waits = is_undo && IsOneOf(word, {"TRYAGAIN", "CLUSTERDOWN"});
  return (waits || ++command.attempts < kMostAttempts) &&
         redirector_->OnSentAway(*this, command, text, now);
}

// A charge with a sender that has long been answered otherwise is refunded, as far as it can still
// be distinguished from later use.
void Channel::SendBack(Command& command, Reply reply, Time now) {
  if (state_ != State::kUp || command.undos.empty()) {
    return;
  }
  for (const LateCharge& charge : ChargedIn(reply)) {
    const bool one_for_all = command.undos[0].script == ScriptId::kSpanUndo;
    const std::size_t which = one_for_all ? 0 : charge.check;
    if (which >= command.undos.size()) {
      continue;
    }
    metrics_.Count(RedisCount::kLateCharges);
    Undo& undo = command.undos[which];
    if (undo.script == ScriptId::kRefund) {
      AppendReceipt(charge.charged_us, charge.ends_us, undo.bytes);
    }
    Write({.deadline = now + kTakeBackWithin,
           .script = undo.script,
           .may_repeat = one_for_all,
           .slot = command.slot,
           .bytes = std::move(undo.bytes)});
    if (one_for_all) {
      return;
    }
  }
}

void Channel::ReportError(std::string_view text, Time now) {
  if (now >= report_errors_at_) {
    report_errors_at_ = now + kReportErrorsEvery;
    on_event_(false, fmt::format("Redis refuses: {}", text));
  }
}

}  // namespace sluice::redis
