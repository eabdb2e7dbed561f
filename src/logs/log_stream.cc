#include "logs/log_stream.h"

#include <algorithm>
#include <utility>

#include "base/fault.h"

namespace sluice::logs {

namespace {

// Requests wait in memory until their second is complete, up to this many bytes.
constexpr std::size_t kMostHeldBytes = std::size_t{256} << 20;
// The least jump, even if the horizon is short.
constexpr Duration kJump = std::chrono::hours(1);

}  // namespace

Result<std::unique_ptr<LogStream>> LogStream::Open(const std::string& path,
                                                   const LogOptions& options,
                                                   const AttributePlan& plan) {
  auto source = ByteSource::Open(path);
  if (!source) {
    return tl::unexpected(std::move(source.error()));
  }
  auto stamps = StampReader::In(options.zone);
  auto utc = StampReader::In("UTC");
  if (!stamps || !utc) {
    return tl::unexpected(std::move(stamps ? utc.error() : stamps.error()));
  }
  std::unique_ptr<LogStream> stream(new LogStream(path == "-" ? "standard input" : path,
                                                  std::move(*source), std::move(*stamps),
                                                  std::move(*utc), options, plan));
  const std::string_view head = stream->reader_.Head();
  if (head.empty() && stream->reader_.error()) {
    return tl::unexpected(*stream->reader_.error());
  }
  if (const std::string_view encoding = ForeignEncoding(head); !encoding.empty()) {
    return FileFault(stream->name_, "is " + std::string(encoding) + ": convert it with `iconv -f " +
                                        std::string(encoding) + " -t UTF-8 FILE`");
  }
  const ParserOptions parsing{.stamps = &stream->stamps_,
                              .utc = &stream->utc_,
                              .wanted = &plan.columns(),
                              .column_names = options.column_names,
                              .time = options.time,
                              .pattern = options.pattern};
  if (!head.empty()) {
    auto reading = DetectFormat(head, parsing, options.format);
    if (!reading) {
      reading.error().place.file = stream->name_;
      return tl::unexpected(std::move(reading.error()));
    }
    stream->reading_ = std::move(*reading);
  } else {
    stream->reading_.format = options.format.value_or(Format::kClf);
  }
  if (!options.time.name.empty() && !head.empty() && !HasColumns(stream->reading_.format)) {
    return FileFault(stream->name_, "--time " + options.time.name +
                                        " names a column, but lines in the format " +
                                        TitleOf(stream->reading_) +
                                        " have their time in a fixed place: leave --time out");
  }
  stream->parser_ = MakeParser(stream->reading_, head, parsing);
  if (options.sort || options.sort_paths.contains(path)) {
    stream->sort_ = std::make_unique<RequestSort>(plan.size());
  }
  return stream;
}

LogStream::LogStream(std::string name, std::unique_ptr<ByteSource> source, StampReader stamps,
                     StampReader utc, const LogOptions& options, const AttributePlan& plan)
    : name_(std::move(name)),
      reader_(std::move(source)),
      stamps_(std::move(stamps)),
      utc_(std::move(utc)),
      plan_(plan),
      order_(options.horizon),
      horizon_(options.horizon),
      unit_is_said_(options.time.unit.has_value()) {}

const LogStream::Request* LogStream::Peek() {
  if (second_ == nullptr || next_ == second_->size()) {
    second_ = NextSecond();
    next_ = 0;
    if (second_ == nullptr) {
      return nullptr;
    }
  }
  const SecondOfRequests::Entry& entry = second_->entry(next_);
  request_ = {
      .at = entry.at, .cost = entry.cost, .line = entry.line, .second = second_, .entry = &entry};
  return &request_;
}

void LogStream::Pop() {
  ++next_;
}

Result<void> LogStream::ReadAllIntoSort() {
  WallInstant newest{};
  while (ReadRequest()) {
    newest = std::max(newest, record_.at);
    sorted_back_ = std::max(sorted_back_, newest - record_.at);
    if (Result<void> added = sort_->Add(record_.at, cost_, reader_.line_number()); !added) {
      return added;
    }
    for (std::size_t i = 0; i < plan_.size(); ++i) {
      sort_->AddValue(ValueOf(i));
    }
  }
  return sort_->Finish();
}

SecondOfRequests* LogStream::NextSorted() {
  if (failure_) {
    return nullptr;
  }
  if (!sort_is_full_) {
    sort_is_full_ = true;
    if (Result<void> read = ReadAllIntoSort(); !read) {
      failure_ = std::move(read.error());
      return nullptr;
    }
  }
  Result<SecondOfRequests*> second = sort_->Next();
  if (!second) {
    failure_ = std::move(second.error());
    return nullptr;
  }
  return *second;
}

SecondOfRequests* LogStream::NextSecond() {
  if (sort_ != nullptr) {
    return NextSorted();
  }
  for (;;) {
    if (aside_is_right_) {
      if (SecondOfRequests* second = PlaceAside()) {
        return second;
      }
      continue;
    }
    if (!has_record_ && !ReadRequest()) {
      if (aside_.empty()) {
        return Taken(order_.TakeAny());
      }
      aside_is_right_ = true;
      continue;
    }
    has_record_ = true;
    if (!aside_.empty()) {
      const SecondOfRequests::Entry& aside = aside_.entry(0);
      if (record_.at + horizon_ >= aside.at) {
        aside_is_right_ = true;
        continue;
      }
      CountBad(aside.line, "its time is far ahead of the lines around it");
      ++ahead_;
      aside_.Clear();
    }
    if (Jumps(record_.at)) {
      PutAside();
    } else if (SecondOfRequests* second = PlaceRecord()) {
      return second;
    }
  }
}

bool LogStream::ReadRequest() {
  while (const auto line = reader_.Next()) {
    if (reader_.too_long()) {
      ++requests_;
      CountBad(reader_.line_number(), "longer than 64 KiB");
      continue;
    }
    const LineKind kind = parser_->Parse(*line, record_);
    if (kind == LineKind::kOther) {
      continue;
    }
    ++requests_;
    if (kind == LineKind::kBad) {
      CountBad(reader_.line_number(), parser_->problem());
      continue;
    }
    const auto cost = plan_.CostOf(record_);
    if (!cost) {
      CountBad(reader_.line_number(),
               "its cost is absent or not a whole number from 0 to 999999999999999");
      continue;
    }
    cost_ = *cost;
    if (!ReadPath()) {
      continue;
    }
    first_ = std::min(first_, record_.at);
    has_fractions_ =
        has_fractions_ || record_.at.time_since_epoch() % std::chrono::seconds(1) != Duration{};
    return true;
  }
  return false;
}

bool LogStream::ReadPath() {
  has_path_ = false;
  if (!plan_.path() || record_.cost.data() != nullptr) {
    return true;  // What is logged of a decision is the attribute already.
  }
  const std::string_view asked = plan_.ValueOf(*plan_.path(), record_);
  if (asked.data() == nullptr) {
    return true;
  }
  path_.clear();
  if (const auto read = plan_.AppendPath(path_, asked); !read) {
    CountBad(reader_.line_number(), "its path would be refused: " + std::string(read.error()));
    return false;
  }
  has_path_ = true;
  return true;
}

// A jump ahead. The order moves on with the latest time, so one wrong timestamp in the year 2099
// would make every later line of the log late. A request that jumps therefore waits in aside_. If
// the next request is near it, time has really moved on (a night without traffic); otherwise the
// request in aside_ was wrong and is counted as a bad line.
bool LogStream::Jumps(WallInstant at) const {
  return !started_ || at - order_.newest() > std::max(horizon_, kJump);
}

void LogStream::PutAside() {
  aside_.Add(record_.at, cost_, reader_.line_number());
  for (std::size_t i = 0; i < plan_.size(); ++i) {
    aside_.AddValue(ValueOf(i));
  }
  has_record_ = false;
}

SecondOfRequests* LogStream::PlaceAside() {
  const SecondOfRequests::Entry& entry = aside_.entry(0);
  if (!started_) {
    order_.StartAt(entry.at);
    started_ = true;
  } else if (!order_.Fits(entry.at)) {
    if (SecondOfRequests* second = order_.TakeBefore(entry.at)) {
      return Taken(second);
    }
  }
  WallInstant at = entry.at;
  SecondOfRequests& second = order_.PlaceFor(at);
  second.Add(at, entry.cost, entry.line);
  for (std::size_t i = 0; i < plan_.size(); ++i) {
    second.AddValue(aside_.Value(entry, i));
  }
  held_bytes_ += aside_.memory();
  aside_.Clear();
  aside_is_right_ = false;
  return nullptr;
}

// If the current request does not fit yet, the oldest complete second is returned first, and the
// request stays in record_ for the next call. Memory is bounded in the same way: above
// kMostHeldBytes the oldest second is returned before it is complete.
SecondOfRequests* LogStream::PlaceRecord() {
  if (!order_.Fits(record_.at)) {
    if (SecondOfRequests* second = order_.TakeBefore(record_.at)) {
      return Taken(second);
    }
  }
  WallInstant at = record_.at;
  SecondOfRequests& second = order_.PlaceFor(at);
  second.Add(at, cost_, reader_.line_number());
  std::size_t bytes = sizeof(SecondOfRequests::Entry);
  for (std::size_t i = 0; i < plan_.size(); ++i) {
    const std::string_view value = ValueOf(i);
    second.AddValue(value);
    bytes += value.size() + sizeof(SecondOfRequests::Piece);
  }
  has_record_ = false;
  held_bytes_ += bytes;
  return held_bytes_ > kMostHeldBytes ? Taken(order_.TakeAny()) : nullptr;
}

SecondOfRequests* LogStream::Taken(SecondOfRequests* second) {
  if (second != nullptr) {
    held_bytes_ -= second->memory();
  }
  return second;
}

void LogStream::CountBad(std::uint64_t line, std::string_view why) {
  ++bad_;
  --requests_;
  if (bad_lines_.size() < kBadLinesKept) {
    bad_lines_.push_back({.file = name_, .line = line, .why = std::string(why)});
  }
}

LogSummary LogStream::Summary() const {
  return {.name = name_,
          .format = TitleOf(reading_),
          .is_file = reader_.source().is_file(),
          .lines = reader_.line_number(),
          .requests = requests_,
          .bad = bad_,
          .late = order_.late(),
          .latest = order_.latest(),
          .ahead = ahead_,
          .put_right = std::max(order_.put_right(), sorted_back_),
          .sorted = sort_ != nullptr,
          .first = requests_ == 0 ? WallInstant{} : first_,
          .whole_seconds = requests_ != 0 && !has_fractions_,
          .unit_is_said = unit_is_said_,
          .cut_off = reader_.error()};
}

bool LogSummary::IsDisordered() const {
  // A single wrong time does not make a log disordered. This many lines far ahead of each other do.
  const std::uint64_t out_of_order = late + (ahead > 2 ? ahead : 0);
  return !sorted && out_of_order * 100 > requests + ahead;
}

}  // namespace sluice::logs
