#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

#include "sluice/decision.h"

#include "logs/log_record.h"
#include "wire/path_normalizer.h"

namespace sluice::logs {

// Which values of a log become which attributes of a request. Immutable, and shared by all readers
// of lines.
class AttributePlan {
 public:
  // `names`: the attributes that will be read. Each comes from the field or column of the same
  // name, or of the name in `sources` (user_id=account). `cost`: the column of a request's cost; ""
  // for the record's own, or 1.
  AttributePlan(const std::vector<std::string>& names,
                const std::map<std::string, std::string>& sources, const std::string& cost);

  // Makes the attribute `endpoint` what a listener makes of the path in a proxy's request.
  // Otherwise it is the path as logged.
  void ReadPathsAs(const wire::PathSettings& paths);
  // The attribute that is read in this way; nullopt if none.
  [[nodiscard]] const std::optional<std::size_t>& path() const { return path_; }
  // Appends what rules see for the logged `path`. Error, as a text for people: the listener would
  // refuse the request.
  [[nodiscard]] tl::expected<void, std::string_view> AppendPath(std::string& out,
                                                                std::string_view path) const;

  [[nodiscard]] std::size_t size() const { return names_.size(); }
  [[nodiscard]] const std::string& name(std::size_t i) const { return names_[i]; }
  // The columns to read from formats with columns: LogRecord::columns.
  [[nodiscard]] const std::vector<std::string>& columns() const { return columns_; }

  // A view without data if the record has no such value.
  [[nodiscard]] std::string_view ValueOf(std::size_t i, const LogRecord& record) const {
    return Get(sources_[i], record);
  }
  // nullopt if the cost is absent or not a whole number from 0 to kMaxUnits.
  [[nodiscard]] std::optional<Units> CostOf(const LogRecord& record) const;

 private:
  struct Source {
    std::optional<Field> field;
    std::size_t column = 0;
  };
  [[nodiscard]] Source SourceNamed(const std::string& name);
  [[nodiscard]] static std::string_view Get(const Source& source, const LogRecord& record) {
    if (source.field && record.Get(*source.field).data() != nullptr) {
      return record.Get(*source.field);
    }
    return source.column < record.columns.size() ? record.columns[source.column]
                                                 : std::string_view();
  }

  std::vector<std::string> names_;
  std::vector<Source> sources_;
  std::vector<std::string> columns_;
  std::optional<Source> cost_;
  std::optional<std::size_t> path_;
  wire::PathSettings path_settings_;
};

}  // namespace sluice::logs
