#include "redis/pipeline.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

namespace sluice::redis {

void Pipeline::Expect(Command command) {
  if (command.request.call() != nullptr) {
    Watch(command.deadline);
  }
  in_flight_.push_back(std::move(command));
  ++unsent_;
}

void Pipeline::TakeOutput(std::string& out) {
  out.clear();
  std::swap(out, output_);
  unsent_ = 0;
}

void Pipeline::Wait(Command command) {
  Watch(command.deadline);
  waiting_.push_back(std::move(command));
}

std::deque<Command> Pipeline::TakeWaiting() {
  return std::exchange(waiting_, {});
}

bool Pipeline::Next(Command& command) {
  while (fault_.empty()) {
    switch (parser_.Next()) {
      case wire::RespReplyParser::Event::kNeedMore:
        return false;
      case wire::RespReplyParser::Event::kError:
        fault_ = fmt::format("invalid reply: {}", parser_.error());
        return false;
      case wire::RespReplyParser::Event::kReply:
        break;
    }
    // It answers no command.
    if (parser_.reply()[0].type == wire::RespType::kPush) {
      continue;
    }
    // More replies than commands that were sent.
    if (in_flight_.size() <= unsent_) {
      fault_ = "unexpected reply";
      return false;
    }
    command = std::move(in_flight_.front());
    in_flight_.pop_front();
    return true;
  }
  return false;
}

void Pipeline::Begin() {
  parser_ = wire::RespReplyParser();
  fault_.clear();
}

std::vector<Command> Pipeline::End(bool resend_all) {
  output_.clear();
  std::vector<Command> lost;
  // From the last to the first: those at the end were never sent, so they did not run.
  while (!in_flight_.empty()) {
    Command command = std::move(in_flight_.back());
    in_flight_.pop_back();
    const bool did_not_run = unsent_ > 0;
    unsent_ -= did_not_run ? 1 : 0;
    if (!command.wanted()) {
      continue;
    }
    if (did_not_run || command.may_repeat || resend_all) {
      Watch(command.deadline);
      waiting_.push_front(std::move(command));
    } else {
      lost.push_back(std::move(command));
    }
  }
  std::ranges::reverse(lost);
  return lost;
}

Pipeline::Late Pipeline::TakeLate(Time now) {
  Late late;
  next_deadline_ = Time::max();
  for (Command& command : in_flight_) {
    if (command.request.call() == nullptr) {
      continue;
    }
    if (command.deadline > now) {
      Watch(command.deadline);
    } else {
      late.sent.push_back(&command);
    }
  }
  std::deque<Command> left;
  for (Command& command : waiting_) {
    if (command.deadline > now) {
      Watch(command.deadline);
      left.push_back(std::move(command));
    } else {
      late.waiting.push_back(std::move(command));
    }
  }
  waiting_ = std::move(left);
  return late;
}

std::vector<Command> Pipeline::Clear() {
  std::vector<Command> all(std::make_move_iterator(in_flight_.begin()),
                           std::make_move_iterator(in_flight_.end()));
  std::ranges::move(waiting_, std::back_inserter(all));
  in_flight_.clear();
  waiting_.clear();
  unsent_ = 0;
  output_.clear();
  return all;
}

}  // namespace sluice::redis
