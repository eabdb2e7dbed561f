#include "logs/attribute_plan.h"

#include <algorithm>
#include <charconv>

#include "wire/scalar_object.h"
#include "wire/url_encoding.h"

namespace sluice::logs {

AttributePlan::AttributePlan(const std::vector<std::string>& names,
                             const std::map<std::string, std::string>& sources,
                             const std::string& cost) {
  for (const std::string& name : names) {
    const auto mapped = sources.find(name);
    names_.push_back(name);
    sources_.push_back(SourceNamed(mapped == sources.end() ? name : mapped->second));
  }
  if (!cost.empty()) {
    cost_ = SourceNamed(cost);
  }
}

void AttributePlan::ReadPathsAs(const wire::PathSettings& paths) {
  const auto found = std::ranges::find(names_, "endpoint");
  if (found != names_.end()) {
    path_ = static_cast<std::size_t>(found - names_.begin());
    path_settings_ = paths;
  }
}

tl::expected<void, std::string_view> AttributePlan::AppendPath(std::string& out,
                                                               std::string_view path) const {
  const std::size_t before = out.size();
  const std::string_view asked = wire::PathOfTarget(path);
  if (!path_settings_.strict) {
    wire::AppendPercentDecodedLeniently(out, asked);
  } else if (auto normal = wire::AppendNormalPath(out, asked, path_settings_); !normal) {
    return normal;
  }
  if (out.size() - before > wire::ScalarObjectLimits{}.value_bytes) {
    return tl::unexpected<std::string_view>("the path is longer than 1024 bytes");
  }
  return {};
}

AttributePlan::Source AttributePlan::SourceNamed(const std::string& name) {
  const auto found = std::ranges::find(columns_, name);
  const auto column = static_cast<std::size_t>(found - columns_.begin());
  if (found == columns_.end()) {
    columns_.push_back(name);
  }
  return {.field = FieldNamed(name), .column = column};
}

std::optional<Units> AttributePlan::CostOf(const LogRecord& record) const {
  if (!cost_ && record.cost.data() == nullptr) {
    return 1;
  }
  const std::string_view text = cost_ ? Get(*cost_, record) : record.cost;
  Units units = 0;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, units);
  if (text.empty() || read.ec != std::errc() || read.ptr != end || units < 0 || units > kMaxUnits) {
    return std::nullopt;
  }
  return units;
}

}  // namespace sluice::logs
