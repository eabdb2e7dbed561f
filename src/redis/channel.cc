#include "redis/channel.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "redis/check_command.h"
#include "redis/command_writer.h"
#include "wire/resp_writer.h"

namespace sluice::redis {

using store::StoreError;

namespace {

constexpr std::string_view kMembersKey = "sl1:{nodes}:nodes";

// How many requests these commands are, if somebody waits for them: counters of one request, which
// are sent one after the other, are one.
std::size_t RequestsOf(const std::vector<Channel::Command>& commands) {
  const void* last = nullptr;
  std::size_t count = 0;
  for (const Channel::Command& command : commands) {
    const void* request = command.call;
    if (request != nullptr && command.kind == Channel::Kind::kCounter) {
      request = static_cast<const CounterCall*>(command.call)->request;
    }
    count += request != nullptr && request != last ? 1 : 0;
    last = request == nullptr ? last : request;
  }
  return count;
}

}  // namespace

Channel::Channel(const ChannelSettings& settings, const base::Clock& clock, RedisMetrics& metrics,
                 OnEvent on_event, std::uint64_t seed)
    : settings_(settings),
      clock_(clock),
      metrics_(metrics),
      on_event_(std::move(on_event)),
      random_(seed) {}

Channel::~Channel() {
  redirector_ = nullptr;
  AnswerEverything();
  if (state_ == State::kUp) {
    metrics_.AddUp(-1);
  }
  CloseBreaker();
}

// Looks through many keys, for somebody who can wait.
void Channel::AskBanPage(BanPage& page, Time now) {
  constexpr Duration kPageWithin = std::chrono::seconds(1);
  Send(Command{.kind = Kind::kBanPage,
               .call = &page,
               .deadline = now + std::max(settings_.deadline, kPageWithin)},
       now);
}

void Channel::AnswerEverything() {
  for (std::deque<Command>* queue : {&in_flight_, &waiting_}) {
    for (const Command& command : std::exchange(*queue, {})) {
      Answer(command, StoreError::kUnavailable, RedisCount::kLost);
    }
  }
  unsent_ = 0;
  output_.clear();
  if (state_ != State::kDown) {
    close_why_ = "no longer needed";
  }
}

void Channel::AppendUndoOf(const store::CheckCall& part, std::string& out) const {
  AppendSpanUndo(part, JudgedNow(Command{}), out);
}

void Channel::AskTopology() {
  if (state_ == State::kUp && !topology_asked_) {
    topology_asked_ = true;
    WriteOwn(Kind::kTopology, {"CLUSTER", "SLOTS"});
  }
}

void Channel::Leave(std::string_view why, Time now) {
  failed_dials_ = 0;
  if (state_ == State::kUp) {
    state_ = State::kLeaving;
    metrics_.AddUp(-1);
    greeted_by_ = now + kGreetingTimeout;
  }
  if (state_ == State::kGreeting || (state_ == State::kLeaving && in_flight_.empty())) {
    close_why_ = why;
  }
}

void Channel::DialSoon(Time now) {
  failed_dials_ = 0;
  if (state_ == State::kDown) {
    redial_at_ = std::min(redial_at_, now + Jittered(settings_.first_pause / 4));
  }
}

void Channel::Send(Kind kind, store::StoreCall& call, Time now) {
  Command command{.kind = kind, .call = &call};
  command.deadline = std::min(call.deadline, now + settings_.deadline);
  Send(std::move(command), now);
}

void Channel::Send(Command command, Time now) {
  const bool may_come = state_ != State::kDown || redial_at_ < command.deadline;
  const bool is_vain = (open_ && command.call != nullptr) || command.deadline <= now;
  if (!is_vain && state_ == State::kUp && in_flight_.size() < settings_.most_in_flight) {
    Watch(command.deadline);
    Write(std::move(command));
  } else if (!is_vain && state_ != State::kUp && may_come &&
             waiting_.size() < settings_.most_waiting) {
    Watch(command.deadline);
    waiting_.push_back(std::move(command));
  } else {
    Refuse(command);
  }
}

Judged Channel::JudgedNow(const Command& command) const {
  if (command.by_reply && command.call != nullptr) {
    return {.by_server = !settings_.by_given_clock, .now = command.call->now};
  }
  return {.by_server = !settings_.by_given_clock, .now = clock_.Read().wall};
}

void Channel::Write(Command command) {
  const Judged judged = JudgedNow(command);
  written_.clear();
  switch (command.kind) {
    case Kind::kCheck:
      command.script = AppendCheck(static_cast<store::CheckCall&>(*command.call), judged, written_);
      EnsureLoaded(command.script);
      break;
    case Kind::kRefund:
      command.script = ScriptId::kRefund;
      EnsureLoaded(command.script);
      AppendRefund(static_cast<store::RefundCall&>(*command.call), judged, written_);
      break;
    case Kind::kSettle:
      command.script = ScriptId::kSettle;
      EnsureLoaded(command.script);
      AppendSettle(static_cast<store::SettleCall&>(*command.call), judged, written_);
      break;
    case Kind::kRelease:
    case Kind::kRenew:
      command.script = ScriptId::kRelease;
      EnsureLoaded(command.script);
      AppendRelease(static_cast<store::HoldCall&>(*command.call), command.kind == Kind::kRenew,
                    judged, written_);
      break;
    case Kind::kBan:
    case Kind::kUnban: {
      command.script = ScriptId::kBan;
      EnsureLoaded(command.script);
      const auto& ban = static_cast<store::BanCall&>(*command.call);
      command.kind == Kind::kBan ? AppendBan(ban, judged, written_)
                                 : AppendUnban(ban, judged, written_);
      break;
    }
    case Kind::kBanPage:
      command.script = ScriptId::kBanList;
      EnsureLoaded(command.script);
      AppendBanPage(static_cast<BanPage&>(*command.call), judged, written_);
      break;
    case Kind::kRecord:
      command.script = ScriptId::kRecord;
      EnsureLoaded(command.script);
      AppendRecord(static_cast<store::RecordCall&>(*command.call), judged, written_);
      break;
    case Kind::kReset:
      command.script = ScriptId::kReset;
      EnsureLoaded(command.script);
      AppendReset(static_cast<store::ResetCall&>(*command.call), judged, written_);
      break;
    case Kind::kSecret:
      command.script = ScriptId::kSecret;
      EnsureLoaded(command.script);
      AppendSecret(static_cast<SecretCall&>(*command.call), written_);
      break;
    case Kind::kCounter:
      AppendCounter(static_cast<const CounterCall&>(*command.call), written_);
      break;
    default:
      EnsureLoaded(command.script);
      written_ = command.bytes;
      break;
  }
  if (command.asking) {
    WriteOwn(Kind::kAsking, {"ASKING"});
  }
  output_ += written_;
  in_flight_.push_back(std::move(command));
  ++unsent_;
  if (in_flight_.back().kind == Kind::kCounter) {
    WriteExpiry(in_flight_.back());
  }
}

// Behind the INCRBY, whatever that says: it is sent with it or not at all.
void Channel::WriteExpiry(const Command& counter) {
  const auto& call = static_cast<const CounterCall&>(*counter.call);
  if (call.verb != CounterCall::Verb::kAdd) {
    return;
  }
  if (counter.asking) {
    WriteOwn(Kind::kAsking, {"ASKING"});
  }
  std::int64_t extra = 0;
  if (settings_.expiry_jitter_s > 0) {
    extra = random_.Between(0, settings_.expiry_jitter_s - 1);
  }
  AppendExpiry(call, extra, output_);
  in_flight_.push_back(Command{.kind = Kind::kExpiry});
  ++unsent_;
}

void Channel::WriteOwn(Kind kind, std::initializer_list<std::string_view> args) {
  wire::AppendRespCommand(std::span(args.begin(), args.size()), output_);
  in_flight_.push_back(Command{.kind = kind});
  ++unsent_;
}

// Sent once on every connection, before its first use: then NOSCRIPT comes only after SCRIPT FLUSH.
void Channel::EnsureLoaded(ScriptId script) {
  const auto i = static_cast<std::size_t>(script);
  if (loaded_[i]) {
    return;
  }
  AppendScriptLoad(script, output_);
  in_flight_.push_back(Command{.kind = Kind::kLoad, .script = script});
  ++unsent_;
  loaded_[i] = true;
  ++loads_in_flight_[i];
  metrics_.Count(RedisCount::kScriptLoads);
}

void Channel::WriteMember(Time now) {
  member_at_ = now + kMemberEvery;
  EnsureLoaded(ScriptId::kMember);
  const std::string seconds = std::to_string(kMemberGone.count());
  WriteOwn(Kind::kMember,
           {"EVALSHA", ScriptOf(ScriptId::kMember).sha1, "1", kMembersKey, member_, seconds});
}

void Channel::Watch(Time deadline) {
  deadline_at_ = std::min(deadline_at_, deadline);
}

void Channel::TakeOutput(std::string& out) {
  out.clear();
  std::swap(out, output_);
  unsent_ = 0;
}

void Channel::OnConnected(const Credentials& credentials, Time now) {
  state_ = State::kGreeting;
  parser_ = wire::RespReplyParser();
  close_why_.clear();
  loaded_.fill(false);
  loads_in_flight_.fill(0);
  fewer_reported_ = false;
  greeted_by_ = now + kGreetingTimeout;
  if (!credentials.username.empty()) {
    WriteOwn(Kind::kAuth, {"AUTH", credentials.username, credentials.password});
  } else if (!credentials.password.empty()) {
    WriteOwn(Kind::kAuth, {"AUTH", credentials.password});
  }
  if (settings_.database != 0) {
    WriteOwn(Kind::kSelect, {"SELECT", std::to_string(settings_.database)});
  }
  if (!settings_.terse) {
    WriteOwn(Kind::kName, {"CLIENT", "SETNAME", "sluice"});
  }
  WriteOwn(Kind::kHello, {"PING"});
}

void Channel::OnLost(std::string_view why, Time now) {
  const bool was_up = state_ == State::kUp || state_ == State::kLeaving;
  if (state_ == State::kUp) {
    metrics_.AddUp(-1);
  }
  state_ = State::kDown;
  close_why_.clear();
  output_.clear();
  greeted_by_ = probe_at_ = member_at_ = Time::max();
  probing_ = topology_asked_ = false;

  std::vector<Command> lost;
  while (!in_flight_.empty()) {
    Command command = std::move(in_flight_.back());
    in_flight_.pop_back();
    const bool did_not_run = unsent_ > 0;
    unsent_ -= did_not_run ? 1 : 0;
    if (!command.wanted()) {
      continue;
    }
    if (did_not_run || command.may_repeat || resend_lost_) {
      waiting_.push_front(std::move(command));
    } else {
      lost.push_back(std::move(command));
    }
  }
  std::ranges::reverse(lost);

  // At once after a connection that served; else slower each time, also where a replica sends its
  // callers away.
  const Duration pause = was_up && failed_dials_ == 0
                             ? settings_.first_pause / 4
                             : std::min(settings_.longest_pause,
                                        settings_.first_pause * (1 << std::min(failed_dials_, 8)));
  redial_at_ = now + Jittered(pause);
  const bool first = was_up || failed_dials_ == 0;
  const bool another = why != reported_why_ && now >= report_errors_at_;
  if (first || another) {  // It does not come back for another reason than it went.
    report_errors_at_ = first ? report_errors_at_ : now + kReportErrorsEvery;
    was_lost_ = true;
    reported_why_ = why;
    on_event_(
        false,
        fmt::format("lost connection to Redis ({}): rules now follow their on_store_error", why));
  }
  ++failed_dials_;
  std::vector<Command> refused;
  if (!was_up) {
    refused.assign(std::make_move_iterator(waiting_.begin()),
                   std::make_move_iterator(waiting_.end()));
    waiting_.clear();
  }
  AnswerAll(lost, StoreError::kUnavailable, RedisCount::kLost);
  AnswerAll(refused, StoreError::kDidNotRun, RedisCount::kRefused);
  if (redirector_ != nullptr) {
    redirector_->OnState(*this, now);
  }
}

Channel::Time Channel::NextWake() const {
  Time next = std::min({deadline_at_, greeted_by_, probe_at_, member_at_});
  if (state_ == State::kDown) {
    next = std::min(next, redial_at_);
  }
  return next;
}

void Channel::OnWake(Time now) {
  if (now >= greeted_by_) {
    greeted_by_ = Time::max();
    close_why_ = "it accepts connections but does not answer";
  }
  if (now >= probe_at_) {
    probe_at_ = Time::max();
    if (probing_) {
      close_why_ = "it does not answer";
    } else if (state_ == State::kUp) {
      probing_ = true;
      probe_at_ = now + settings_.probe_timeout;
      WriteOwn(Kind::kProbe, {"PING"});
    }
  }
  if (now >= deadline_at_) {
    ExpireCalls(now);
  }
  if (now >= member_at_) {
    if (state_ == State::kUp && !open_) {
      WriteMember(now);
    } else {
      member_at_ = now + kMemberEvery;
    }
  }
}

void Channel::ExpireCalls(Time now) {
  deadline_at_ = Time::max();
  std::vector<Command> expired;
  for (Command& command : in_flight_) {
    if (command.call == nullptr) {
      continue;
    }
    if (command.deadline > now) {
      Watch(command.deadline);
      continue;
    }
    Abandon(command);
    expired.push_back(Command{.kind = command.kind, .call = command.call});
    command.call = nullptr;
  }
  std::vector<Command> unsent;
  std::deque<Command> left;
  for (Command& command : waiting_) {
    if (command.deadline > now) {
      Watch(command.deadline);
      left.push_back(std::move(command));
    } else {
      unsent.push_back(std::move(command));
    }
  }
  waiting_ = std::move(left);
  const std::size_t failures = RequestsOf(unsent) + RequestsOf(expired);
  for (std::size_t i = 0; i < failures; ++i) {
    CountFailure(now);
  }
  if (failures > 0 && redirector_ != nullptr) {
    redirector_->OnState(*this, now);
  }
  AnswerAll(expired, StoreError::kUnavailable, RedisCount::kTimedOut);
  AnswerAll(unsent, StoreError::kDidNotRun, RedisCount::kTimedOut);
}

// While its sender is still there: what would take back what it may yet be charged.
void Channel::Abandon(Command& command) {
  if (command.kind != Kind::kCheck) {
    return;
  }
  const auto& call = static_cast<const store::CheckCall&>(*command.call);
  if (call.peek) {
    return;
  }
  const Judged judged = JudgedNow(command);
  if (call.request_id != 0) {
    AppendSpanUndo(call, judged, command.undo.emplace_back().bytes);
    return;
  }
  for (std::size_t i = 0; i < call.checks.size(); ++i) {
    if (IsAsked(call.checks[i])) {
      Undo& undo = command.undo.emplace_back();
      undo.wants_receipt = AppendUndo(call, i, judged, undo.bytes);
    }
  }
}

void Channel::CountFailure(Time now) {
  if (++failures_ < settings_.breaker_failures || open_) {
    return;
  }
  open_ = true;
  metrics_.AddOpen(1);
  probe_at_ = now + Jittered(settings_.cool_down);
  on_event_(false,
            fmt::format("Redis timed out {} times in a row: no more calls until it answers a "
                        "PING. Rules follow their on_store_error",
                        failures_));
}

void Channel::CloseBreaker() {
  failures_ = 0;
  if (open_) {
    open_ = false;
    metrics_.AddOpen(-1);
  }
  probe_at_ = Time::max();
  probing_ = false;
}

void Channel::Answer(const Command& command, StoreError error, RedisCount count) {
  if (command.call == nullptr) {
    return;
  }
  metrics_.Count(count);
  command.call->error = error;
  command.call->OnAnswered();
}

void Channel::AnswerAll(std::vector<Command>& commands, StoreError error, RedisCount count) {
  for (const Command& command : commands) {
    Answer(command, error, count);
  }
}

Duration Channel::Jittered(Duration pause) {
  return Duration(random_.Between(pause.count() / 2, pause.count()));
}

}  // namespace sluice::redis
