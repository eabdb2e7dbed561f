#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "sluice/result.h"
#include "sluice/time.h"

namespace sluice::logs {

// Parses the timestamps of logs. A timestamp without a zone is civil time in the given zone. If an
// hour occurs twice, the first is used; a time in a gap is read with the offset before the gap.
// Accepts instants from 1970 to the end of 2161 (core/quota.h says why). Caches the last timestamp,
// day and quarter of an hour, so that a line costs a few nanoseconds. One thread.
class StampReader {
 public:
  // `zone`: an IANA name. Error: unknown zone.
  [[nodiscard]] static Result<StampReader> In(std::string_view zone);
  StampReader(StampReader&&) noexcept;
  StampReader& operator=(StampReader&&) noexcept;
  ~StampReader();

  // "17/Dec/2025:09:03:01 +0100", also with a fraction or without a zone.
  [[nodiscard]] std::optional<WallInstant> Clf(std::string_view text);
  // "2025-12-17T09:03:01.123Z", "2025-12-17 09:03:01,123+01:00"; fractions of any length.
  [[nodiscard]] std::optional<WallInstant> Iso(std::string_view text);
  // Since 1970: seconds, with or without a fraction, or whole milli-, micro- or nanoseconds. The
  // size of the number decides, which is unambiguous until the year 5138.
  [[nodiscard]] static std::optional<WallInstant> Epoch(std::string_view text);
  // A number of `unit`s since 1970, with or without a fraction. `unit`: from 1 ns to 1 s.
  [[nodiscard]] static std::optional<WallInstant> Epoch(std::string_view text, Duration unit);
  // Any of these, with or without [brackets].
  [[nodiscard]] std::optional<WallInstant> Any(std::string_view text);
  // "2025-12-17" and "09:03:01", as in W3C logs.
  [[nodiscard]] std::optional<WallInstant> DateAndTime(std::string_view date,
                                                       std::string_view time);

 private:
  struct Zone;
  explicit StampReader(std::unique_ptr<Zone> zone);

  std::unique_ptr<Zone> zone_;
};

}  // namespace sluice::logs
