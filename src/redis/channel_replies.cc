#include <algorithm>
#include <initializer_list>
#include <utility>

#include <fmt/format.h>

#include "redis/channel.h"
#include "redis/command_writer.h"
#include "redis/reply_reader.h"

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

}  // namespace

void Channel::OnInput(std::string_view bytes, Time now) {
  parser_.Append(bytes);
  while (close_why_.empty()) {
    switch (parser_.Next()) {
      case wire::RespReplyParser::Event::kNeedMore:
        if (state_ == State::kLeaving && in_flight_.empty()) {
          close_why_ = "another server has its keys";
        }
        return;
      case wire::RespReplyParser::Event::kError:
        close_why_ = fmt::format("invalid reply: {}", parser_.error());
        return;
      case wire::RespReplyParser::Event::kReply:
        break;
    }
    if (parser_.reply()[0].type == RespType::kPush) {
      continue;
    }
    if (in_flight_.size() <= unsent_) {
      close_why_ = "unexpected reply";
      return;
    }
    Command command = std::move(in_flight_.front());
    in_flight_.pop_front();
    OnReply(std::move(command), parser_.reply(), now);
  }
}

void Channel::OnReply(Command command, std::span<const wire::RespNode> reply, Time now) {
  const wire::RespNode& head = reply[0];
  const bool failed = head.type == RespType::kError || head.type == RespType::kBulkError;
  switch (command.kind) {
    case Kind::kAuth:
    case Kind::kSelect:
    case Kind::kName:
    case Kind::kHello:
      OnGreeted(command, head, now);
      return;
    case Kind::kProbe:
      probing_ = false;
      if (failed) {
        probe_at_ = now + Jittered(settings_.cool_down);
      } else {
        CloseBreaker();
        on_event_(true, "Redis answers again: it decides from now on");
      }
      return;
    case Kind::kLoad: {
      const auto i = static_cast<std::size_t>(command.script);
      --loads_in_flight_[i];
      if (failed) {
        loaded_[i] = false;
        ReportError(head.text, now);
      }
      return;
    }
    case Kind::kMember:
      if (head.type == RespType::kInteger && head.integer > 0) {
        OnCounted(static_cast<int>(std::min<std::int64_t>(head.integer, kMostNodes)));
      } else if (failed && FirstWord(head.text) == "NOSCRIPT") {
        loaded_[static_cast<std::size_t>(ScriptId::kMember)] = false;
      }
      return;
    case Kind::kTopology:
      topology_asked_ = false;
      if (failed) {
        ReportError(head.text, now);
      } else if (redirector_ != nullptr) {
        redirector_->OnTopology(*this, reply, now);
      }
      return;
    case Kind::kAsking:
      return;
    case Kind::kExpiry:
      // What sends the counter away, or keeps it from being written, is told of that.
      if (failed && IsOneOf(FirstWord(head.text), {"ERR", "NOPERM"})) {
        ReportError(head.text, now);
      }
      return;
    case Kind::kUndo:
      if (failed && command.wanted()) {
        OnError(std::move(command), head.text, now);
      }
      return;
    case Kind::kCheck:
    case Kind::kRefund:
    case Kind::kReset:
    case Kind::kRelease:
    case Kind::kRenew:
    case Kind::kSettle:
    case Kind::kBan:
    case Kind::kUnban:
    case Kind::kBanPage:
    case Kind::kCounter:
    case Kind::kRecord:
    case Kind::kSecret:
      if (failed) {
        OnError(std::move(command), head.text, now);
      } else {
        OnCallReply(std::move(command), reply, now);
      }
      return;
  }
}

// A Redis that has lost its data sees nodes return one by one, so a lower count is used only when
// it comes twice in a row.
void Channel::OnCounted(int nodes) {
  const bool fewer = nodes < nodes_->load(std::memory_order_relaxed);
  if (!fewer || fewer_reported_) {
    nodes_->store(nodes, std::memory_order_relaxed);
  }
  fewer_reported_ = fewer && !fewer_reported_;
}

void Channel::OnGreeted(const Command& command, const wire::RespNode& reply, Time now) {
  if (command.kind == Kind::kName) {
    return;  // A name is a courtesy, which an ACL may forbid.
  }
  if (reply.type == RespType::kError) {
    close_why_ = command.kind == Kind::kAuth
                     ? fmt::format("it refuses the password: {}", reply.text)
                     : std::string(reply.text);
  } else if (command.kind == Kind::kHello) {
    BecomeUp(now);
  }
}

void Channel::BecomeUp(Time now) {
  state_ = State::kUp;
  greeted_by_ = Time::max();
  CloseBreaker();
  metrics_.AddUp(1);
  metrics_.Count(RedisCount::kConnects);
  if (was_lost_) {
    was_lost_ = false;
    on_event_(true, "connected to Redis");
  }
  if (!member_.empty()) {
    WriteMember(now);
  }
  for (Command& command : std::exchange(waiting_, {})) {
    if (command.deadline > now) {
      Write(std::move(command));
    } else {
      waiting_.push_back(std::move(command));  // ExpireCalls() is due.
    }
  }
  if (redirector_ != nullptr) {
    redirector_->OnState(*this, now);
  }
}

void Channel::OnCallReply(Command command, std::span<const wire::RespNode> reply, Time now) {
  failures_ = 0;
  failed_dials_ = 0;
  if (command.call == nullptr) {
    SendBack(command, reply, now);
    return;
  }
  if (command.kind == Kind::kSecret) {
    const bool read = ReadSecret(reply, static_cast<SecretCall&>(*command.call));
    if (!read) {
      ReportError(fmt::format("the key {} does not contain a secret of Sluice: remove it",
                              SecretCall::kKey),
                  now);
    }
    Answer(command, read ? StoreError::kNone : StoreError::kUnavailable,
           read ? RedisCount::kAnswered : RedisCount::kFailed);
    return;
  }
  if (command.kind == Kind::kBanPage || command.kind == Kind::kRecord) {
    const bool read = command.kind == Kind::kBanPage
                          ? ReadBanPage(reply, static_cast<BanPage&>(*command.call))
                          : ReadRecord(reply, static_cast<store::RecordCall&>(*command.call));
    Answer(command, read ? StoreError::kNone : StoreError::kUnavailable,
           read ? RedisCount::kAnswered : RedisCount::kFailed);
    return;
  }
  if (command.kind == Kind::kCounter) {
    const bool read = ReadCount(reply[0], static_cast<CounterCall&>(*command.call));
    if (!read) {
      ReportError("a counter's value is not a number", now);
    }
    Answer(command, read ? StoreError::kNone : StoreError::kUnavailable,
           read ? RedisCount::kAnswered : RedisCount::kFailed);
    return;
  }
  if (command.kind != Kind::kCheck) {
    const bool read = ReadTime(reply, command.call->now);
    StoreError error = read ? StoreError::kNone : StoreError::kUnavailable;
    if (read && (command.kind == Kind::kRelease || command.kind == Kind::kRenew ||
                 command.kind == Kind::kUnban)) {
      error =
          reply.size() == 3 && reply[2].integer == 1 ? StoreError::kNone : StoreError::kNotFound;
    }
    if (read && command.kind == Kind::kSettle) {
      const std::int64_t settled = reply.size() == 3 ? reply[2].integer : -1;
      error = settled < 0 ? StoreError::kNotFound : StoreError::kNone;
      static_cast<store::SettleCall&>(*command.call).settled = std::max<std::int64_t>(settled, 0);
    }
    Answer(command, error, read ? RedisCount::kAnswered : RedisCount::kFailed);
    return;
  }
  auto& call = static_cast<store::CheckCall&>(*command.call);
  switch (ReadCheckReply(reply, call)) {
    case CheckReply::kAnswered:
      if (const std::uint64_t bans = BansIn(reply, call); bans > 0) {
        metrics_.Count(RedisCount::kBans, bans);
      }
      Answer(command, StoreError::kNone, RedisCount::kAnswered);
      return;
    case CheckReply::kAgain:
      command.by_reply = true;
      if (++command.attempts < kMostAttempts) {
        Write(std::move(command));
      } else {
        Answer(command, StoreError::kDidNotRun, RedisCount::kFailed);
      }
      return;
    case CheckReply::kMalformed:
      ReportError("unexpected reply of a script", now);
      Answer(command, StoreError::kUnavailable, RedisCount::kFailed);
      return;
  }
}

void Channel::OnError(Command command, std::string_view text, Time now) {
  const std::string_view word = FirstWord(text);
  const bool wanted = command.wanted();
  if (wanted && command.kind == Kind::kCounter && SaysTooHigh(text)) {
    static_cast<CounterCall&>(*command.call).count = CounterCall::kMostCount;
    Answer(command, StoreError::kNone, RedisCount::kAnswered);
    return;
  }
  if (word == "NOSCRIPT") {
    const auto i = static_cast<std::size_t>(command.script);
    if (loads_in_flight_[i] == 0) {
      loaded_[i] = false;
    }
    if (wanted && ++command.attempts < kMostAttempts && state_ == State::kUp) {
      Write(std::move(command));
      return;
    }
  }
  if (redirector_ != nullptr && wanted &&
      IsOneOf(word, {"MOVED", "ASK", "TRYAGAIN", "CLUSTERDOWN"})) {
    // What takes a charge back waits for its keys to have moved as long as it may.
    const bool waits = command.kind == Kind::kUndo && IsOneOf(word, {"TRYAGAIN", "CLUSTERDOWN"});
    if ((waits || ++command.attempts < kMostAttempts) &&
        redirector_->OnSentAway(*this, command, text, now)) {
      return;
    }
  }
  if (IsOneOf(word, {"READONLY", "LOADING", "MASTERDOWN"})) {
    if (state_ == State::kUp) {
      state_ = State::kLeaving;
      metrics_.AddUp(-1);
      greeted_by_ = now + kGreetingTimeout;  // For the replies that are under way.
    }
    ReportError(text, now);
    if (wanted) {  // Until its deadline.
      waiting_.push_back(std::move(command));
      return;
    }
  }
  ReportError(text, now);
  const bool ran =
      !IsOneOf(word, {"NOSCRIPT", "READONLY", "LOADING", "MASTERDOWN", "OOM", "MISCONF",
                      "NOREPLICAS", "BUSY", "NOAUTH", "NOPERM", "WRONGTYPE", "CLUSTERDOWN",
                      "TRYAGAIN", "CROSSSLOT", "MOVED", "ASK", "UNDONE"});
  Answer(command, ran ? StoreError::kUnavailable : StoreError::kDidNotRun, RedisCount::kFailed);
}

// A charge whose sender got another answer long ago is nobody's: it goes back, as far as it still
// can be told apart from what others used since.
void Channel::SendBack(Command& command, std::span<const wire::RespNode> reply, Time now) {
  if (state_ != State::kUp) {
    return;
  }
  for (const LateCharge& charge : ChargedIn(reply)) {
    // Then one undoes all.
    const bool spans =
        command.script == ScriptId::kSpan || command.script == ScriptId::kGuardedSpan;
    const std::size_t which = spans ? 0 : charge.check;
    if (which >= command.undo.size()) {
      continue;
    }
    metrics_.Count(RedisCount::kLateCharges);
    Undo& undo = command.undo[which];
    if (undo.wants_receipt) {
      AppendReceipt(charge.charged_us, charge.ends_us, undo.bytes);
    }
    Write({.kind = Kind::kUndo,
           .script = spans                ? ScriptId::kSpanUndo
                     : undo.wants_receipt ? ScriptId::kRefund
                                          : ScriptId::kRelease,
           .slot = command.slot,
           .deadline = now + kTakeBackWithin,
           .bytes = std::move(undo.bytes),
           .may_repeat = spans});
    if (spans) {
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
