#include "redis/channel.h"

#include <algorithm>
#include <deque>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "redis/check_request.h"
#include "wire/resp_writer.h"

namespace sluice::redis {

using store::StoreError;

namespace {

constexpr std::string_view kMembersKey = "sl1:{nodes}:nodes";

// How many requests these are: the counters of one, which are sent one after the other, are one.
class RequestCount {
 public:
  void Add(const Request& request) {
    const void* const whole = request.Whole();
    count_ += whole != nullptr && whole != last_ ? 1 : 0;
    last_ = whole == nullptr ? last_ : whole;
  }
  [[nodiscard]] std::size_t count() const { return count_; }

 private:
  const void* last_ = nullptr;
  std::size_t count_ = 0;
};

}  // namespace

Channel::Channel(const ChannelSettings& settings, const base::Clock& clock, RedisMetrics& metrics,
                 OnEvent on_event, std::uint64_t seed)
    : settings_(settings),
      clock_(clock),
      metrics_(metrics),
      on_event_(std::move(on_event)),
      random_(seed) {}

Channel::~Channel() {
  // Nothing is passed on any more: what is left is answered here.
  redirector_ = nullptr;
  AnswerEverything();
  if (state_ == State::kUp) {
    metrics_.AddUp(-1);
  }
  CloseBreaker();
}

void Channel::AnswerEverything() {
  for (const Command& command : pipeline_.Clear()) {
    Answer(command, Time(), StoreError::kUnavailable, RedisCount::kLost);
  }
  if (state_ != State::kDown) {
    close_why_ = "no longer needed";
  }
}

Command Channel::CommandToUndo(const store::CheckCall& part) const {
  Undo undo = UndoOf(part, JudgedNow(Command{}));
  return {.script = undo.script, .may_repeat = true, .bytes = std::move(undo.bytes)};
}

void Channel::AskTopology() {
  if (state_ == State::kUp && !topology_asked_) {
    topology_asked_ = true;
    WriteOwn(&Channel::OnSlotsTold, {"CLUSTER", "SLOTS"});
  }
}

void Channel::Send(const Request& request, Time now, Duration within) {
  const Time deadline =
      std::min(request.call()->deadline, now + std::max(settings_.deadline, within));
  Send(Command{.request = request, .deadline = deadline}, now);
}

void Channel::Send(Command command, Time now) {
  if (command.request.call() != nullptr && command.begun == Time()) {
    command.begun = now;
    metrics_.Count(RedisCount::kBegun);
  }
  const bool is_up = state_ == State::kUp;
  const bool may_come = state_ != State::kDown || redial_at_ < command.deadline;
  const bool is_vain = (open_ && command.request.call() != nullptr) || command.deadline <= now;
  const bool has_room = is_up ? pipeline_.in_flight() < settings_.most_in_flight
                              : pipeline_.waiting() < settings_.most_waiting;
  if (is_vain || !may_come || !has_room) {
    if (!is_vain && may_come && command.request.call() != nullptr) {
      metrics_.Count(RedisCount::kQueueFull);
    }
    Refuse(command);
  } else if (is_up) {
    Write(std::move(command));
  } else {
    pipeline_.Wait(std::move(command));
  }
}

Judged Channel::JudgedNow(const Command& command) const {
  const bool by_reply = command.by_reply && command.request.call() != nullptr;
  return {.by_server = !settings_.by_given_clock,
          .now = by_reply ? command.request.call()->now : clock_.Read().wall_clock};
}

void Channel::Write(Command command) {
  const Request request = command.request;
  if (request.call() != nullptr) {
    command.on_reply = &Channel::OnRequestReply;
    written_.clear();
    command.script = request.Append(JudgedNow(command), written_);
  } else {
    command.on_reply = &Channel::OnUndone;
    written_ = command.bytes;
  }
  // In front of the command on the same connection: Redis has the script when the command comes.
  if (command.script) {
    EnsureLoaded(*command.script);
  }
  // ASKING holds for the one command behind it.
  const bool asking = command.asking;
  if (asking) {
    WriteOwn(&Channel::OnIgnored, {"ASKING"});
  }
  pipeline_.output() += written_;
  pipeline_.Expect(std::move(command));
  if (request.has_follower()) {
    WriteFollower(request, asking);
  }
}

void Channel::WriteFollower(const Request& request, bool asking) {
  const std::int64_t most = settings_.expiry_jitter_s - 1;
  written_.clear();
  if (!request.AppendFollower(most < 0 ? 0 : random_.Between(0, most), written_)) {
    return;
  }
  if (asking) {
    WriteOwn(&Channel::OnIgnored, {"ASKING"});
  }
  pipeline_.output() += written_;
  pipeline_.Expect({.on_reply = &Channel::OnFollowed});
}

void Channel::WriteOwn(Command::OnReply on_reply, std::initializer_list<std::string_view> args) {
  wire::AppendRespCommand(std::span(args.begin(), args.size()), pipeline_.output());
  pipeline_.Expect({.on_reply = on_reply});
}

// Sent once on every connection, before its first use: then NOSCRIPT comes only after SCRIPT FLUSH.
void Channel::EnsureLoaded(ScriptId script) {
  const auto i = static_cast<std::size_t>(script);
  if (loaded_[i]) {
    return;
  }
  CommandArgs args(pipeline_.output(), 3);
  args.Put("SCRIPT");
  args.Put("LOAD");
  args.Put(ScriptOf(script).text);
  pipeline_.Expect({.on_reply = &Channel::OnLoaded, .script = script});
  loaded_[i] = true;
  ++loads_in_flight_[i];
  metrics_.Count(RedisCount::kScriptLoads);
}

void Channel::WriteMember(Time now) {
  member_at_ = now + kMemberEvery;
  EnsureLoaded(ScriptId::kMember);
  const std::string seconds = std::to_string(kMemberGone.count());
  WriteOwn(&Channel::OnNodesCounted,
           {"EVALSHA", ScriptOf(ScriptId::kMember).sha1, "1", kMembersKey, member_, seconds});
  AskTime(now);
}

// Beside the reports of this node, so that one of its loops asks, and not more often.
void Channel::AskTime(Time now) {
  time_asked_at_ = now;
  WriteOwn(&Channel::OnTimeTold, {"TIME"});
}

void Channel::ExpireCalls(Time now) {
  const Pipeline::Late late = pipeline_.TakeLate(now);
  RequestCount failures;
  for (const Command& command : late.waiting) {
    failures.Add(command.request);
  }
  std::vector<Command> sent;
  for (Command* const command : late.sent) {
    // While its sender is still there: what would take back what it may yet be charged.
    command->request.AppendUndos(JudgedNow(*command), command->undos);
    sent.push_back({.request = std::exchange(command->request, {}), .begun = command->begun});
    failures.Add(sent.back().request);
  }
  // Counted before anything is answered: with the breaker open, what senders ask next is refused
  // instead of waiting too.
  for (std::size_t i = 0; i < failures.count(); ++i) {
    CountFailure(now);
  }
  if (failures.count() > 0 && redirector_ != nullptr) {
    redirector_->OnState(*this, now);
  }
  for (const Command& command : sent) {
    Answer(command, now, StoreError::kUnavailable, RedisCount::kTimedOut);
  }
  for (const Command& command : late.waiting) {
    Answer(command, now, StoreError::kDidNotRun, RedisCount::kTimedOut);
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

void Channel::Answer(const Command& command, Time now, StoreError error, RedisCount count) {
  store::StoreCall* const call = command.request.call();
  if (call == nullptr) {
    return;
  }
  metrics_.Count(count);
  if (command.begun != Time()) {
    metrics_.Count(RedisCount::kEnded);
    if (now != Time()) {
      metrics_.Record(settings_.server, now - command.begun);
    }
  }
  call->error = error;
  call->OnAnswered();
}

Duration Channel::Jittered(Duration pause) {
  return Duration(random_.Between(pause.count() / 2, pause.count()));
}

}  // namespace sluice::redis
