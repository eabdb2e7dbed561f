#include <algorithm>
#include <deque>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "redis/channel.h"

// The life of a channel's connection: its greeting, its end, and when to dial again.
namespace sluice::redis {

using store::StoreError;

void Channel::OnConnected(const Credentials& credentials, Time now) {
  state_ = State::kGreeting;
  pipeline_.Begin();
  close_why_.clear();
  loaded_.fill(false);
  loads_in_flight_.fill(0);
  fewer_reported_ = false;
  greeted_by_ = now + kGreetingTimeout;
  if (!credentials.username.empty()) {
    WriteOwn(&Channel::OnAuthenticated, {"AUTH", credentials.username, credentials.password});
  } else if (!credentials.password.empty()) {
    WriteOwn(&Channel::OnAuthenticated, {"AUTH", credentials.password});
  }
  if (settings_.database != 0) {
    WriteOwn(&Channel::OnSelected, {"SELECT", std::to_string(settings_.database)});
  }
  if (!settings_.terse) {
    // A name is a courtesy, which an ACL may forbid.
    WriteOwn(&Channel::OnIgnored, {"CLIENT", "SETNAME", "sluice"});
  }
  WriteOwn(&Channel::OnGreeted, {"PING"});
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
  for (Command& command : pipeline_.TakeWaiting()) {
    if (command.deadline > now) {
      Write(std::move(command));
    } else {
      pipeline_.Wait(std::move(command));  // ExpireCalls() is due.
    }
  }
  if (redirector_ != nullptr) {
    redirector_->OnState(*this, now);
  }
}

void Channel::Leave(std::string_view why, Time now) {
  failed_dials_ = 0;
  if (state_ == State::kUp) {
    state_ = State::kLeaving;
    metrics_.AddUp(-1);
    greeted_by_ = now + kGreetingTimeout;
  }
  if (state_ == State::kGreeting || (state_ == State::kLeaving && pipeline_.in_flight() == 0)) {
    close_why_ = why;
  }
}

void Channel::DialSoon(Time now) {
  failed_dials_ = 0;
  if (state_ == State::kDown) {
    redial_at_ = std::min(redial_at_, now + Jittered(settings_.first_pause / 4));
  }
}

void Channel::OnLost(std::string_view why, Time now) {
  const bool was_up = state_ == State::kUp || state_ == State::kLeaving;
  if (state_ == State::kUp) {
    metrics_.AddUp(-1);
  }
  state_ = State::kDown;
  close_why_.clear();
  greeted_by_ = probe_at_ = member_at_ = Time::max();
  probing_ = topology_asked_ = false;

  const std::vector<Command> lost = pipeline_.End(resend_lost_);

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
  const std::deque<Command> refused = was_up ? std::deque<Command>() : pipeline_.TakeWaiting();
  for (const Command& command : lost) {
    Answer(command, now, StoreError::kUnavailable, RedisCount::kLost);
  }
  for (const Command& command : refused) {
    Refuse(command);
  }
  if (redirector_ != nullptr) {
    redirector_->OnState(*this, now);
  }
}

Channel::Time Channel::NextWake() const {
  Time next = std::min({pipeline_.next_deadline(), greeted_by_, probe_at_, member_at_});
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
      WriteOwn(&Channel::OnProbed, {"PING"});
    }
  }
  if (now >= pipeline_.next_deadline()) {
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

}  // namespace sluice::redis
