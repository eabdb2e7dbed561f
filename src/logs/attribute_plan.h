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

// Which of a log's values become which attributes of a request. Made once, read by all that
// read lines; immutable.
class AttributePlan {
 public:
  // `names`: the attributes that anybody will ask for. Each comes from the field or column of
  // its own name, or of the name that `sources` gives it (user_id=account). `cost`: where a
  // request's cost comes from; "" for 1 each.
  AttributePlan(const std::vector<std::string>& names,
                const std::map<std::string, std::string>& sources, const std::string& cost);

  // Has the attribute `endpoint` read as a listener reads the path of a proxy's question. Without
  // it, it is what the log has.
  void ReadPathsAs(const wire::PathSettings& paths);
  // Which attribute is so read; nullopt if none is.
  [[nodiscard]] const std::optional<std::size_t>& path() const { return path_; }
  // Appends what rules see of `path`, as the log has it. An error, for people, where the listener
  // refuses such a request before any rule sees it.
  [[nodiscard]] tl::expected<void, std::string_view> AppendPath(std::string& out,
                                                                std::string_view path) const;

  [[nodiscard]] std::size_t size() const { return names_.size(); }
  [[nodiscard]] const std::string& name(std::size_t i) const { return names_[i]; }
  // Columns to be asked of formats that have their own: LogRecord::columns.
  [[nodiscard]] const std::vector<std::string>& columns() const { return columns_; }

  // A view without data where the record has no such value.
  [[nodiscard]] std::string_view ValueOf(std::size_t i, const LogRecord& record) const {
    return Get(sources_[i], record);
  }
  // nullopt where the cost is absent or no whole number from 0 to kMaxUnits.
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
