#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/decision.h"
#include "sluice/result.h"
#include "sluice/time.h"

#include "logs/attribute_plan.h"
#include "logs/format_detection.h"
#include "logs/line_parser.h"
#include "logs/line_reader.h"
#include "logs/log_pattern.h"
#include "logs/request_sort.h"
#include "logs/stamp.h"
#include "logs/time_order.h"

namespace sluice::logs {

struct LogOptions {
  std::optional<Format> format;           // nullopt: detected.
  std::string zone = "UTC";               // The time zone of timestamps without one.
  std::chrono::seconds horizon{120};      // See TimeOrder.
  std::vector<std::string> column_names;  // Of a CSV without a header.
  TimeColumn time{};                      // The column of the time, if it is named.
  std::optional<LogPattern> pattern{};    // Of Format::kPattern.
  bool sort = false;                      // Sort all logs completely before returning requests,
  std::set<std::string> sort_paths{};     // or those at these paths.
};

// A line that is not a request, for the report.
struct BadLine {
  std::string file;
  std::uint64_t line = 0;
  std::string why;
};

// The result of reading one log.
struct LogSummary {
  std::string name;
  std::string format;  // "common or combined", "JSON lines in syslog"
  bool is_file = false;
  std::uint64_t lines = 0;
  std::uint64_t requests = 0;
  std::uint64_t bad = 0;
  std::uint64_t late = 0;        // Requests that were too late to be put in order,
  Duration latest{};             // by at most this much.
  std::uint64_t ahead = 0;       // Bad lines with a time far ahead of the lines around them.
  Duration put_right{};          // How late the requests were, at most, that were put in order.
  bool sorted = false;           // Completely sorted: no line was late.
  WallInstant first{};           // The earliest request.
  bool whole_seconds = false;    // No time has a fraction of a second.
  bool unit_is_said = false;     // LogOptions named the unit of the times.
  std::optional<Error> cut_off;  // The error that prevented reading it to its end.

  // Whether more than 1 % of the lines are out of order by more than the horizon. The result would
  // then be wrong: the log must be sorted.
  [[nodiscard]] bool IsDisordered() const;
};

// Returns the requests of one log in order of time. One thread.
class LogStream {
 public:
  // Opens a log and examines its beginning. `plan` outlives the stream. Errors: it cannot be opened
  // or read, its format is not detected, unknown time zone.
  [[nodiscard]] static Result<std::unique_ptr<LogStream>> Open(const std::string& path,
                                                               const LogOptions& options,
                                                               const AttributePlan& plan);
  LogStream(const LogStream&) = delete;
  LogStream& operator=(const LogStream&) = delete;

  // One request. Its values are valid until the stream has reached the third second after it. That
  // is long enough to collect the requests of one second, and to judge the last of them when the
  // next second has been collected.
  struct Request {
    WallInstant at{};
    Units cost = 1;
    std::uint64_t line = 0;
    const SecondOfRequests* second = nullptr;
    const SecondOfRequests::Entry* entry = nullptr;

    [[nodiscard]] std::string_view Value(std::size_t i) const { return second->Value(*entry, i); }
  };

  // The current request; nullptr at the end. Reads more if necessary.
  [[nodiscard]] const Request* Peek();
  void Pop();

  [[nodiscard]] LogSummary Summary() const;
  // The first of them.
  [[nodiscard]] const std::vector<BadLine>& bad_lines() const { return bad_lines_; }
  // For a request that turned out to be invalid.
  void CountBad(std::uint64_t line, std::string_view why);
  [[nodiscard]] const ByteSource& source() const { return reader_.source(); }
  // Why requests that were read are missing: a log could not be sorted.
  [[nodiscard]] const std::optional<Error>& failure() const { return failure_; }
  // Whether no time read so far has a fraction of a second.
  [[nodiscard]] bool whole_seconds() const { return !has_fractions_; }
  [[nodiscard]] std::uint64_t lines_read() const { return reader_.line_number(); }

 private:
  static constexpr std::size_t kBadLinesKept = 5;

  LogStream(std::string name, std::unique_ptr<ByteSource> source, StampReader stamps,
            StampReader utc, const LogOptions& options, const AttributePlan& plan);

  // Reads until a second is complete. nullptr at the end of the log.
  SecondOfRequests* NextSecond();
  // The same for a completely sorted log.
  SecondOfRequests* NextSorted();
  Result<void> ReadAllIntoSort();
  // Reads the next request into record_ and cost_. False at the end.
  bool ReadRequest();
  // Reads the path of record_ into path_, if the plan requires it. False, and counted, if the
  // listener would refuse it.
  bool ReadPath();
  // Attribute `i` of record_.
  [[nodiscard]] std::string_view ValueOf(std::size_t i) const {
    return plan_.path() == i && has_path_ ? std::string_view(path_) : plan_.ValueOf(i, record_);
  }
  // Whether `at` is far ahead of all earlier times.
  [[nodiscard]] bool Jumps(WallInstant at) const;
  void PutAside();
  // Puts the request into its bucket, or returns a second that must be taken first.
  SecondOfRequests* PlaceAside();
  SecondOfRequests* PlaceRecord();
  SecondOfRequests* Taken(SecondOfRequests* second);

  std::string name_;
  LineReader reader_;
  StampReader stamps_;
  StampReader utc_;
  const AttributePlan& plan_;
  LogReading reading_;
  std::unique_ptr<LineParser> parser_;
  TimeOrder order_;
  Duration horizon_;
  bool unit_is_said_;

  LogRecord record_;
  Units cost_ = 1;
  std::string path_;  // The path of record_, as rules see it; if has_path_.
  bool has_path_ = false;
  bool has_record_ = false;  // record_ waits to be put into its bucket.
  bool started_ = false;     // At least one request has been put into a bucket.
  // A single wrong timestamp far ahead would make all following requests late. So a request that
  // jumps ahead waits here until the next line shows whether time continues from there.
  SecondOfRequests aside_;
  bool aside_is_right_ = false;
  std::size_t held_bytes_ = 0;

  SecondOfRequests* second_ = nullptr;
  std::size_t next_ = 0;
  Request request_;

  std::unique_ptr<RequestSort> sort_;  // nullptr: the log is read in its own order.
  bool sort_is_full_ = false;
  Duration sorted_back_{};  // In a sorted log: how late a request was, at most.
  std::optional<Error> failure_;

  WallInstant first_ = WallInstant::max();
  bool has_fractions_ = false;
  std::uint64_t requests_ = 0;
  std::uint64_t ahead_ = 0;
  std::uint64_t bad_ = 0;
  std::vector<BadLine> bad_lines_;
};

}  // namespace sluice::logs
