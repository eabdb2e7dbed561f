#include "logs/stamp.h"

#include <array>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <exception>
#include <limits>
#include <string>
#include <utility>

#include <date/date.h>
#include <date/tz.h>

#include "base/fault.h"
#include "wire/ascii.h"

namespace sluice::logs {

namespace {

using wire::IsDigit;

constexpr std::int64_t kNsPerSecond = 1'000'000'000;
// Before this time, every instant plus the longest window is exact (core/quota.h): 2162-01-01.
constexpr std::int64_t kLatestSecond = 6'058'972'800;

// Consumes a text from the left. After a mismatch it is failed.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : rest_(text) {}

  [[nodiscard]] bool failed() const { return failed_; }
  [[nodiscard]] bool done() const { return rest_.empty(); }
  [[nodiscard]] char peek() const { return rest_.empty() ? '\0' : rest_.front(); }
  [[nodiscard]] std::string_view rest() const { return rest_; }

  // Exactly `digits` digits.
  std::int64_t Number(std::size_t digits) {
    if (rest_.size() < digits) {
      failed_ = true;
      return 0;
    }
    std::int64_t value = 0;
    for (std::size_t i = 0; i < digits; ++i) {
      failed_ |= !IsDigit(rest_[i]);
      value = (value * 10) + (rest_[i] - '0');
    }
    rest_.remove_prefix(digits);
    return value;
  }
  void Expect(char c) {
    if (peek() == c) {
      rest_.remove_prefix(1);
    } else {
      failed_ = true;
    }
  }
  bool Take(char c) {
    if (rest_.empty() || rest_.front() != c) {
      return false;
    }
    rest_.remove_prefix(1);
    return true;
  }
  std::string_view TakeBytes(std::size_t count) {
    if (rest_.size() < count) {
      failed_ = true;
      return {};
    }
    const std::string_view taken = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return taken;
  }
  // ".123" or ",123" in nanoseconds, truncated after the ninth digit; 0 if absent.
  std::int64_t Fraction() {
    if (!Take('.') && !Take(',')) {
      return 0;
    }
    std::int64_t ns = 0;
    std::int64_t place = kNsPerSecond;
    failed_ |= !IsDigit(peek());
    while (IsDigit(peek())) {
      place /= 10;
      ns += (rest_.front() - '0') * place;
      rest_.remove_prefix(1);
    }
    return ns;
  }

 private:
  std::string_view rest_;
  bool failed_ = false;
};

int MonthNamed(std::string_view name) {
  constexpr std::array<std::string_view, 12> kMonths{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                     "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  for (std::size_t i = 0; i < kMonths.size(); ++i) {
    if (kMonths[i] == name) {
      return static_cast<int>(i) + 1;
    }
  }
  return 0;
}

// Days since 1970-01-01; nullopt for February 30.
std::optional<std::int64_t> DaysOf(std::int64_t year, std::int64_t month, std::int64_t day) {
  const auto civil =
      date::year(static_cast<int>(year)) / static_cast<int>(month) / static_cast<int>(day);
  if (!civil.ok()) {
    return std::nullopt;
  }
  return date::sys_days(civil).time_since_epoch().count();
}

// "hh:mm:ss" as seconds of the day. 24:00:00 is invalid; a leap second counts as the next second.
std::int64_t ReadClock(Cursor& in) {
  const std::int64_t hours = in.Number(2);
  in.Expect(':');
  const std::int64_t minutes = in.Number(2);
  in.Expect(':');
  const std::int64_t seconds = in.Number(2);
  if (hours > 23 || minutes > 59 || seconds > 60) {
    in.Expect('\1');  // Fails.
  }
  return (((hours * 60) + minutes) * 60) + seconds;
}

// "Z", "+0100", "+01:00", "+01" in seconds east; nullopt if absent.
std::optional<std::int64_t> ReadOffset(Cursor& in) {
  if (in.Take('Z') || in.Take('z')) {
    return 0;
  }
  const bool west = in.peek() == '-';
  if (!west && in.peek() != '+') {
    return std::nullopt;
  }
  in.TakeBytes(1);
  std::int64_t seconds = in.Number(2) * 3600;
  in.Take(':');
  if (!in.done()) {
    seconds += in.Number(2) * 60;
  }
  return west ? -seconds : seconds;
}

std::optional<WallInstant> Instant(std::int64_t second, std::int64_t ns) {
  if (second < 0 || second >= kLatestSecond) {
    return std::nullopt;
  }
  return WallInstant(Duration((second * kNsPerSecond) + ns));
}

struct Number {
  std::int64_t whole = 0;
  std::int64_t billionths = 0;
};
// At most 19 digits, with or without a fraction.
std::optional<Number> ReadNumber(std::string_view text) {
  std::uint64_t read = 0;  // Holds any 19 digits.
  std::size_t digits = 0;
  while (digits < text.size() && IsDigit(text[digits])) {
    if (digits == 19) {
      return std::nullopt;
    }
    read = (read * 10) + static_cast<std::uint64_t>(text[digits] - '0');
    ++digits;
  }
  if (digits == 0 || read > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
    return std::nullopt;
  }
  Cursor in(text.substr(digits));
  const std::int64_t fraction = in.Fraction();
  if (in.failed() || !in.done()) {
    return std::nullopt;
  }
  return Number{.whole = static_cast<std::int64_t>(read), .billionths = fraction};
}

// `number` units since 1970. `unit` divides a second.
std::optional<WallInstant> InstantOf(const Number& number, Duration unit) {
  const std::int64_t per_second = kNsPerSecond / unit.count();
  return Instant(number.whole / per_second,
                 ((number.whole % per_second) * unit.count()) + (number.billionths / per_second));
}

}  // namespace

// The zone of timestamps without one, and the cached results.
struct StampReader::Zone {
  const date::time_zone* zone = nullptr;
  std::int64_t quarter =
      std::numeric_limits<std::int64_t>::min();  // The local time of the last lookup.
  std::int64_t offset = 0;                       // Its offset, in seconds east.
  // The last result of Clf(), and its day: most lines have the same second or day.
  std::array<char, 26> last_text{};
  std::optional<WallInstant> last;
  std::array<char, 11> day_text{};
  std::int64_t day = 0;

  // Seconds since 1970 of a civil time in this zone. Offsets change on whole quarters of an hour.
  std::int64_t ToUtc(std::int64_t local) {
    const std::int64_t now = local / 900;
    if (now != quarter) {
      const date::local_seconds civil{std::chrono::seconds(now * 900)};
      offset = zone->get_info(civil).first.offset.count();
      quarter = now;
    }
    return local - offset;
  }
};

StampReader::StampReader(std::unique_ptr<Zone> zone) : zone_(std::move(zone)) {}
StampReader::StampReader(StampReader&&) noexcept = default;
StampReader& StampReader::operator=(StampReader&&) noexcept = default;
StampReader::~StampReader() = default;

Result<StampReader> StampReader::In(std::string_view zone) {
  auto made = std::make_unique<Zone>();
  try {
    made->zone = date::locate_zone(std::string(zone));
  } catch (const std::exception&) {
    return Fault("unknown time zone " + std::string(zone) +
                 ": write an IANA name such as Europe/Berlin");
  }
  return StampReader(std::move(made));
}

std::optional<WallInstant> StampReader::Clf(std::string_view text) {
  if (text.size() < 20) {
    return std::nullopt;
  }
  const bool common = text.size() == zone_->last_text.size();  // "17/Dec/2025:09:03:01 +0100"
  if (common && std::memcmp(zone_->last_text.data(), text.data(), text.size()) == 0) {
    return zone_->last;
  }
  if (std::memcmp(zone_->day_text.data(), text.data(), zone_->day_text.size()) != 0) {
    Cursor day(text);
    const std::int64_t number = day.Number(2);
    day.Expect('/');
    const int month = MonthNamed(day.TakeBytes(3));
    day.Expect('/');
    const std::int64_t year = day.Number(4);
    const auto days = day.failed() ? std::nullopt : DaysOf(year, month, number);
    if (!days) {
      return std::nullopt;
    }
    std::memcpy(zone_->day_text.data(), text.data(), zone_->day_text.size());
    zone_->day = *days;
  }
  Cursor in(text.substr(zone_->day_text.size()));
  in.Expect(':');
  const std::int64_t local = (zone_->day * 86'400) + ReadClock(in);
  const std::int64_t ns = in.Fraction();
  in.Take(' ');
  const auto offset = ReadOffset(in);
  if (in.failed() || !in.done()) {
    return std::nullopt;
  }
  const auto instant = Instant(offset ? local - *offset : zone_->ToUtc(local), ns);
  if (common && instant) {
    std::memcpy(zone_->last_text.data(), text.data(), text.size());
    zone_->last = instant;
  }
  return instant;
}

std::optional<WallInstant> StampReader::Iso(std::string_view text) {
  Cursor in(text);
  const std::int64_t year = in.Number(4);
  in.Expect('-');
  const std::int64_t month = in.Number(2);
  in.Expect('-');
  const std::int64_t day = in.Number(2);
  if (!in.Take('T') && !in.Take('t')) {
    in.Expect(' ');
  }
  const std::int64_t clock = ReadClock(in);
  const std::int64_t ns = in.Fraction();
  in.Take(' ');
  auto offset = ReadOffset(in);
  if (in.rest() == "UTC" || in.rest() == "GMT") {
    in.TakeBytes(3);
    offset = 0;
  }
  const auto days = in.failed() || !in.done() ? std::nullopt : DaysOf(year, month, day);
  if (!days) {
    return std::nullopt;
  }
  const std::int64_t local = (*days * 86'400) + clock;
  return Instant(offset ? local - *offset : zone_->ToUtc(local), ns);
}

std::optional<WallInstant> StampReader::Epoch(std::string_view text) {
  const auto number = ReadNumber(text);
  if (!number) {
    return std::nullopt;
  }
  Duration unit = std::chrono::seconds(1);
  for (const std::int64_t edge : {100'000'000'000, 100'000'000'000'000, 100'000'000'000'000'000}) {
    unit /= number->whole >= edge ? 1'000 : 1;
  }
  return InstantOf(*number, unit);
}

std::optional<WallInstant> StampReader::Epoch(std::string_view text, Duration unit) {
  const auto number = ReadNumber(text);
  return number ? InstantOf(*number, unit) : std::nullopt;
}

std::optional<WallInstant> StampReader::DateAndTime(std::string_view date, std::string_view time) {
  std::array<char, 64> joined{};
  if (date.size() != 10 || time.size() + 11 > joined.size()) {
    return std::nullopt;
  }
  std::memcpy(joined.data(), date.data(), 10);
  joined[10] = 'T';
  std::memcpy(joined.data() + 11, time.data(), time.size());
  return Iso({joined.data(), time.size() + 11});
}

std::optional<WallInstant> StampReader::Any(std::string_view text) {
  if (text.size() > 2 && text.front() == '[' && text.back() == ']') {
    text = text.substr(1, text.size() - 2);
  }
  if (text.size() > 4 && text[4] == '-') {
    return Iso(text);
  }
  if (text.size() > 2 && text[2] == '/') {
    return Clf(text);
  }
  return Epoch(text);
}

}  // namespace sluice::logs
