#include "wire/resp_reply_parser.h"

#include <algorithm>
#include <utility>

#include "wire/ascii.h"

namespace sluice::wire {

namespace {

constexpr char kAttribute = '|';

// How many values each unit of an aggregate's size means, by the aggregate's type byte. 0: not an
// aggregate.
std::size_t ValuesPerUnit(char mark) {
  switch (mark) {
    case '*':
    case '~':
    case '>':
      return 1;
    case '%':
    case kAttribute:
      return 2;
    default:
      return 0;
  }
}

bool IsBulk(char mark) {
  return mark == '$' || mark == '!' || mark == '=';
}

bool IsBigNumber(std::string_view text) {
  const std::string_view digits = text.substr(text.starts_with('-') || text.starts_with('+'));
  return !digits.empty() &&
         std::ranges::all_of(digits, [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

void RespReplyParser::Forget() {
  buffer_.Consume(std::exchange(taken_, 0));
  at_ = 0;
  scanned_ = 0;
  complete_ = false;
  open_.clear();
  nodes_.clear();
  pieces_.clear();
}

RespReplyParser::Event RespReplyParser::Next() {
  if (!error_.empty()) {
    return Event::kError;
  }
  if (taken_ != 0) {
    Forget();
  }
  const std::string_view data = buffer_.Data();
  while (!complete_) {
    const Step step = ReadValue(data);
    if (step == Step::kBad) {
      nodes_.clear();
      return Event::kError;
    }
    if (step == Step::kMore) {
      if (data.size() > limits_.bytes) {
        nodes_.clear();
        (void)Bad("a reply is larger than " + std::to_string(limits_.bytes) + " bytes");
        return Event::kError;
      }
      return Event::kNeedMore;
    }
  }
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    nodes_[i].text = data.substr(pieces_[i].at, pieces_[i].size);
  }
  taken_ = at_;
  return Event::kReply;
}

RespReplyParser::Step RespReplyParser::Bad(std::string text) {
  error_ = std::move(text);
  return Step::kBad;
}

// One value, or the head of an aggregate.
RespReplyParser::Step RespReplyParser::ReadValue(std::string_view data) {
  const std::size_t end = data.find('\n', std::max(at_, scanned_));
  if (end == std::string_view::npos) {
    scanned_ = data.size();
    return Step::kMore;
  }
  if (end < at_ + 2 || data[end - 1] != '\r') {
    return Bad("a line that does not end in CR LF");
  }
  const char mark = data[at_];
  const Piece line{.at = at_ + 1, .size = end - 1 - (at_ + 1)};
  const std::string_view text = data.substr(line.at, line.size);
  const std::size_t begin = at_;
  if (ValuesPerUnit(mark) == 0 && !IsBulk(mark)) {
    at_ = end + 1;
    return ReadScalar(mark, line, text);
  }
  std::int64_t size = 0;
  if (!ReadRespNumber(text, size) || size < -1 || (size < 0 && mark != '$' && mark != '*')) {
    return Bad("a size is not a number");
  }
  at_ = end + 1;
  if (size < 0) {
    return Add({.type = RespType::kNull, .text = {}}, {});
  }
  if (!IsBulk(mark)) {
    return ReadAggregate(mark, size);
  }
  const Step step = ReadBulk(data, static_cast<RespType>(mark), size);
  if (step == Step::kMore) {
    at_ = begin;  // Its header is read again when more has arrived: a few bytes.
    scanned_ = end;
  }
  return step;
}

RespReplyParser::Step RespReplyParser::ReadBulk(std::string_view data, RespType type,
                                                std::int64_t size) {
  if (static_cast<std::uint64_t>(size) > limits_.bytes) {
    return Bad("a string is larger than " + std::to_string(limits_.bytes) + " bytes");
  }
  const auto bytes = static_cast<std::size_t>(size);
  if (data.size() - at_ < bytes + 2) {
    return Step::kMore;
  }
  if (data[at_ + bytes] != '\r' || data[at_ + bytes + 1] != '\n') {
    return Bad("a string longer than its stated length");
  }
  const Piece text{.at = at_, .size = bytes};
  at_ += bytes + 2;
  return Add({.type = type, .text = {}}, text);
}

RespReplyParser::Step RespReplyParser::ReadAggregate(char mark, std::int64_t size) {
  if (static_cast<std::uint64_t>(size) > limits_.values || open_.size() >= limits_.depth) {
    return Bad("a reply with too many values, or nested too deeply");
  }
  const std::size_t values = static_cast<std::size_t>(size) * ValuesPerUnit(mark);
  if (mark == kAttribute) {
    open_.push_back({.left = values, .dropped = true, .first = nodes_.size()});
    CloseFinished();
    return Step::kDone;
  }
  if (nodes_.size() >= limits_.values) {
    return Bad("a reply with too many values");
  }
  nodes_.push_back({.type = static_cast<RespType>(mark), .text = {}, .size = values});
  pieces_.push_back({});
  open_.push_back({.left = values, .dropped = false, .first = 0});
  CloseFinished();
  return Step::kDone;
}

RespReplyParser::Step RespReplyParser::ReadScalar(char mark, Piece line, std::string_view text) {
  RespNode node{.type = static_cast<RespType>(mark), .text = {}};
  switch (mark) {
    case '+':
    case '-':
      break;
    case ':':
      if (!ReadRespNumber(text, node.integer)) {
        return Bad("an integer is not a number");
      }
      line = {};
      break;
    case '_':
      if (!text.empty()) {
        return Bad("a null with content");
      }
      break;
    case '#':
      if (text != "t" && text != "f") {
        return Bad("a boolean that is neither t nor f");
      }
      node.integer = text == "t" ? 1 : 0;
      line = {};
      break;
    case ',':
      if (text.empty()) {
        return Bad("a double without digits");
      }
      break;
    case '(':
      if (!IsBigNumber(text)) {
        return Bad("a big number is not a number");
      }
      break;
    default:
      return Bad("a value of an unknown type");
  }
  return Add(node, line);
}

RespReplyParser::Step RespReplyParser::Add(RespNode node, Piece text) {
  if (nodes_.size() >= limits_.values) {
    return Bad("a reply with too many values");
  }
  nodes_.push_back(node);
  pieces_.push_back(text);
  if (open_.empty()) {
    complete_ = true;
    return Step::kDone;
  }
  --open_.back().left;
  CloseFinished();
  return Step::kDone;
}

// Closes the aggregate that has all its values, and each outer one that it completes.
void RespReplyParser::CloseFinished() {
  while (!open_.empty() && open_.back().left == 0) {
    const Open closed = open_.back();
    open_.pop_back();
    if (closed.dropped) {
      nodes_.resize(closed.first);
      pieces_.resize(closed.first);
      return;  // The value that it belongs to follows.
    }
    if (open_.empty()) {
      complete_ = true;
      return;
    }
    --open_.back().left;
  }
}

}  // namespace sluice::wire
