#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "sluice/result.h"
#include "sluice/time.h"

namespace sluice::logs {

// Reads the ways in which logs write when something happened. Stamps that name no zone are
// civil time in the zone given; of an hour that came twice the first is meant, and one that
// never was is read by the offset before the gap. Instants from 1970 to the end of 2161
// (core/quota.h says why); anything else is no stamp. Remembers the last stamp, day and
// quarter of an hour that it worked out, so that a line costs a few nanoseconds. One thread.
class StampReader {
 public:
  // `zone`: an IANA name. Error: there is no such zone.
  [[nodiscard]] static Result<StampReader> In(std::string_view zone);
  StampReader(StampReader&&) noexcept;
  StampReader& operator=(StampReader&&) noexcept;
  ~StampReader();

  // "17/Dec/2025:09:03:01 +0100", with a fraction or without a zone too.
  [[nodiscard]] std::optional<WallInstant> Clf(std::string_view text);
  // "2025-12-17T09:03:01.123Z", "2025-12-17 09:03:01,123+01:00"; fractions of any length.
  [[nodiscard]] std::optional<WallInstant> Iso(std::string_view text);
  // Since 1970: seconds, with a fraction or not, or whole milli-, micro- or nanoseconds;
  // which of them, the size tells: until the year 5138 no two can be confused.
  [[nodiscard]] static std::optional<WallInstant> Epoch(std::string_view text);
  // A number of `unit`s since 1970, with a fraction or not. `unit`: from 1 ns to 1 s.
  [[nodiscard]] static std::optional<WallInstant> Epoch(std::string_view text, Duration unit);
  // Any of these, in [brackets] or not.
  [[nodiscard]] std::optional<WallInstant> Any(std::string_view text);
  // "2025-12-17" and "09:03:01", as W3C logs have them.
  [[nodiscard]] std::optional<WallInstant> DateAndTime(std::string_view date,
                                                       std::string_view time);

 private:
  struct Zone;
  explicit StampReader(std::unique_ptr<Zone> zone);

  std::unique_ptr<Zone> zone_;
};

}  // namespace sluice::logs
