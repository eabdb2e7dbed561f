#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "logs/log_record.h"
#include "logs/stamp.h"

namespace sluice::logs {

// What a column of a CSV, W3C or JSON log is taken for, by its name.
enum class ColumnKind : std::uint8_t {
  kPlain,        // Nothing that we know: found by its own name only.
  kTime,         // A whole stamp, of any kind; with a kDate beside it perhaps the time of day.
  kDate,         // 2025-12-17, or a whole stamp.
  kField,        // `field`.
  kAddressPort,  // An address with its port, even where the address has colons.
  kRequestLine,  // GET /a HTTP/1.1
  kTarget,       // /a?b
  kQuery,        // b
};

struct ColumnRole {
  ColumnKind kind = ColumnKind::kPlain;
  Field field = Field::kIp;
  // Of several columns for one thing the one with the lowest counts: a proxy's own `client_ip`
  // before its `remote_ip`.
  std::uint8_t rank = 0;
};

// Names are compared by their letters and digits alone: remote_addr, RemoteAddr and
// request>headers>X-Forwarded-For are remoteaddr and requestheadersxforwardedfor.
[[nodiscard]] ColumnRole RoleOf(std::string_view name);

// The column that says when a request came, where the caller names it. `name` "": the one that is
// known by its name. `unit`: what its numbers count since 1970; nullopt: their size tells.
struct TimeColumn {
  std::string name{};
  std::optional<Duration> unit{};
};

// What the columns of a log are read by. What it points to outlives whoever reads by it.
struct ColumnOptions {
  StampReader* stamps = nullptr;
  // Names of columns whose values go to LogRecord::columns, as they are; compared to the letter.
  const std::vector<std::string>* wanted = nullptr;
  TimeColumn time{};
};

// Collects the columns of one line into a record: which of them is the time, which the
// client, whatever their order. Reused from line to line. One thread.
class RowReader {
 public:
  explicit RowReader(ColumnOptions options) : options_(std::move(options)) {}

  // What a column called `name` is for.
  struct Column {
    ColumnRole role;
    int wanted = -1;  // The index in LogRecord::columns; -1 if nobody wants it.

    [[nodiscard]] bool useless() const { return role.kind == ColumnKind::kPlain && wanted < 0; }
  };
  [[nodiscard]] Column ColumnNamed(std::string_view name) const;

  void Begin(LogRecord& record);
  // `value` lives as long as the record is used. Empty values and "-" are absent ones.
  void Set(LogRecord& record, const Column& column, std::string_view value);
  // "" if the record is whole, else what is wrong with it: a literal.
  [[nodiscard]] std::string_view End(LogRecord& record);

 private:
  struct Best {
    std::string_view value;
    std::uint8_t rank = 255;
    void Offer(std::string_view offered, std::uint8_t offered_rank) {
      if (offered_rank < rank) {
        value = offered;
        rank = offered_rank;
      }
    }
  };

  [[nodiscard]] std::optional<WallInstant> ReadTime() const;

  ColumnOptions options_;
  Best time_;
  Best date_;
  Best request_line_;
  Best target_;
  Best query_;
  std::array<std::uint8_t, kFieldCount> field_ranks_{};
  std::string joined_;  // Path and query.
};

}  // namespace sluice::logs
