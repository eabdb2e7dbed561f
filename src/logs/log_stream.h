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
  std::optional<Format> format;           // nullopt: found out.
  std::string zone = "UTC";               // Of stamps that name none.
  std::chrono::seconds horizon{120};      // See TimeOrder.
  std::vector<std::string> column_names;  // Of a CSV without a header.
  TimeColumn time{};                      // The column of the time, where it is named.
  std::optional<LogPattern> pattern{};    // Of Format::kPattern.
  bool sort = false;                   // All logs are sorted as a whole before they are given out,
  std::set<std::string> sort_paths{};  // or those at these paths.
};

// A line that is no request, for a person to look at.
struct BadLine {
  std::string file;
  std::uint64_t line = 0;
  std::string why;
};

// What reading one log came to.
struct LogSummary {
  std::string name;
  std::string format;  // "common or combined", "JSON lines in syslog"
  bool is_file = false;
  std::uint64_t lines = 0;
  std::uint64_t requests = 0;
  std::uint64_t bad = 0;
  std::uint64_t late = 0;        // Requests that came too late to be put in their place,
  Duration latest{};             // by so much at most.
  std::uint64_t ahead = 0;       // Bad lines whose time was far ahead of the lines around them.
  Duration put_right{};          // How far back the ones came that were put in their place.
  bool sorted = false;           // As a whole: no line was late.
  WallInstant first{};           // The earliest request.
  bool whole_seconds = false;    // No time has a fraction of a second.
  bool unit_is_said = false;     // LogOptions said what the times count.
  std::optional<Error> cut_off;  // The log could not be read to its end.

  // Whether so many lines (more than 1 %) are out of order by more than the horizon that what is
  // counted is wrong: the log must be sorted.
  [[nodiscard]] bool IsDisordered() const;
};

// The requests of one log in order of time. One thread.
class LogStream {
 public:
  // Opens and looks at the beginning. `plan` outlives the stream. Errors: it cannot be opened or
  // read, its format cannot be told, an unknown zone.
  [[nodiscard]] static Result<std::unique_ptr<LogStream>> Open(const std::string& path,
                                                               const LogOptions& options,
                                                               const AttributePlan& plan);
  LogStream(const LogStream&) = delete;
  LogStream& operator=(const LogStream&) = delete;

  // One request. Its values live until the stream has come to the third second after it: long
  // enough to collect those of one second, and to judge the last of them when the next second has
  // been collected.
  struct Request {
    WallInstant at{};
    Units cost = 1;
    std::uint64_t line = 0;
    const SecondOfRequests* second = nullptr;
    const SecondOfRequests::Entry* entry = nullptr;

    [[nodiscard]] std::string_view Value(std::size_t i) const { return second->Value(*entry, i); }
  };

  // The request at hand; nullptr at the end. Reads on when it has to.
  [[nodiscard]] const Request* Peek();
  void Pop();

  [[nodiscard]] LogSummary Summary() const;
  // The first of them.
  [[nodiscard]] const std::vector<BadLine>& bad_lines() const { return bad_lines_; }
  // For a request that turned out to be none.
  void CountBad(std::uint64_t line, std::string_view why);
  [[nodiscard]] const ByteSource& source() const { return reader_.source(); }
  // Why requests are missing that were read: a log could not be sorted.
  [[nodiscard]] const std::optional<Error>& failure() const { return failure_; }
  // Whether no time that was read so far has a fraction of a second.
  [[nodiscard]] bool whole_seconds() const { return !has_fractions_; }
  [[nodiscard]] std::uint64_t lines_read() const { return reader_.line_number(); }

 private:
  static constexpr std::size_t kBadLinesKept = 5;

  LogStream(std::string name, std::unique_ptr<ByteSource> source, StampReader stamps,
            StampReader utc, const LogOptions& options, const AttributePlan& plan);

  // Reads until a second is complete. nullptr at the end of the log.
  SecondOfRequests* NextSecond();
  // The same of a log that is sorted as a whole.
  SecondOfRequests* NextSorted();
  Result<void> ReadAllIntoSort();
  // The next line that is a request: into record_ and cost_. False at the end.
  bool ReadRequest();
  // Reads the path of record_ into path_, if the plan says how. False, counted: it would be
  // refused.
  bool ReadPath();
  // Attribute `i` of record_.
  [[nodiscard]] std::string_view ValueOf(std::size_t i) const {
    return plan_.path() == i && has_path_ ? std::string_view(path_) : plan_.ValueOf(i, record_);
  }
  // Whether `at` lies far ahead of all before.
  [[nodiscard]] bool Jumps(WallInstant at) const;
  void PutAside();
  // Finds the request a place if it fits the order; else a second that is to be taken first.
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
  std::string path_;  // Of record_, as rules see it; if has_path_.
  bool has_path_ = false;
  bool has_record_ = false;  // record_ waits for a place.
  bool started_ = false;     // Something has a place.
  // One wrong stamp far ahead would make all that follow late. So a request that jumps waits
  // here until the next line says whether time went on from there.
  SecondOfRequests aside_;
  bool aside_is_right_ = false;
  std::size_t held_bytes_ = 0;

  SecondOfRequests* second_ = nullptr;
  std::size_t next_ = 0;
  Request request_;

  std::unique_ptr<RequestSort> sort_;  // nullptr: the log is taken as it comes.
  bool sort_is_full_ = false;
  Duration sorted_back_{};  // How far back a request came, at most, in a log that is sorted.
  std::optional<Error> failure_;

  WallInstant first_ = WallInstant::max();
  bool has_fractions_ = false;
  std::uint64_t requests_ = 0;
  std::uint64_t ahead_ = 0;
  std::uint64_t bad_ = 0;
  std::vector<BadLine> bad_lines_;
};

}  // namespace sluice::logs
