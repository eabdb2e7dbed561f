#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <boost/json/basic_parser_impl.hpp>

#include "logs/line_parser.h"

namespace sluice::logs {

namespace {

namespace json = boost::json;

constexpr std::size_t kMostLevels = 16;
constexpr std::size_t kMostNames =
    10'000;  // Names that are cached: logs may have any number of names.

json::parse_options Options() {
  json::parse_options options;
  options.max_depth = kMostLevels;
  return options;
}

}  // namespace

// Receives Boost.JSON's events and sets the record's values.
class JsonHandler {
 public:
  static constexpr std::size_t max_object_size = std::numeric_limits<std::size_t>::max();
  static constexpr std::size_t max_array_size = std::numeric_limits<std::size_t>::max();
  static constexpr std::size_t max_key_size = std::numeric_limits<std::size_t>::max();
  static constexpr std::size_t max_string_size = std::numeric_limits<std::size_t>::max();

  JsonHandler(const ColumnOptions& columns, bool are_decisions)
      : row_(columns), wanted_(*columns.wanted), are_decisions_(are_decisions) {}

  void Start(LogRecord& record, std::size_t line_bytes) {
    record_ = &record;
    row_.Begin(record);
    text_.clear();
    text_.reserve(
        line_bytes);  // Values are views of it, so it must not move. Decoding only shrinks it.
    part_begin_ = 0;
    name_.clear();
    depth_ = 0;
    ignored_ = false;
    in_name_ = false;
    judged_by_ = {};
  }
  [[nodiscard]] std::string_view End() { return row_.End(*record_); }
  // Of a decision: what judged it; "" of a line that is none.
  [[nodiscard]] std::string_view judged_by() const { return judged_by_; }
  [[nodiscard]] bool are_decisions() const { return are_decisions_; }

  bool on_document_begin(json::error_code&) { return true; }
  bool on_document_end(json::error_code&) { return true; }

  bool on_object_begin(json::error_code&) {
    if (depth_ != 0) {
      BeginValue();
      if (!name_.empty()) {
        name_ += '.';
      }
    }
    levels_[depth_++] = {.ignored = ignored_, .name_bytes = name_.size()};
    return true;
  }
  bool on_object_end(std::size_t, json::error_code&) { return EndLevel(); }
  bool on_array_begin(json::error_code&) {
    BeginValue();
    levels_[depth_++] = {.is_array = true, .ignored = ignored_, .name_bytes = name_.size()};
    return true;
  }
  bool on_array_end(std::size_t, json::error_code&) { return EndLevel(); }

  bool on_key_part(json::string_view part, std::size_t, json::error_code&) {
    StartName();
    name_.append(part.data(), part.size());
    return true;
  }
  bool on_key(json::string_view part, std::size_t, json::error_code&) {
    StartName();
    name_.append(part.data(), part.size());
    in_name_ = false;
    return true;
  }
  bool on_string_part(json::string_view part, std::size_t, json::error_code&) {
    text_.append(part.data(), part.size());
    return true;
  }
  bool on_string(json::string_view part, std::size_t, json::error_code&) {
    text_.append(part.data(), part.size());
    return Value();
  }
  bool on_number_part(json::string_view part, json::error_code&) {
    text_.append(part.data(), part.size());
    return true;
  }
  bool on_int64(std::int64_t, json::string_view part, json::error_code& error) {
    return on_number_part(part, error) && Value();
  }
  bool on_uint64(std::uint64_t, json::string_view part, json::error_code& error) {
    return on_number_part(part, error) && Value();
  }
  bool on_double(double, json::string_view part, json::error_code& error) {
    return on_number_part(part, error) && Value();
  }
  bool on_bool(bool truth, json::error_code&) {
    BeginValue();
    Take(truth ? "true" : "false");
    return true;
  }
  bool on_null(json::error_code&) {
    BeginValue();
    return true;
  }
  bool on_comment_part(json::string_view, json::error_code&) { return true; }
  bool on_comment(json::string_view, json::error_code&) { return true; }

 private:
  struct NameHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view name) const {
      return std::hash<std::string_view>{}(name);
    }
  };

  struct Level {
    bool is_array = false;
    bool has_value = false;      // In an array: its first element has been read.
    bool ignored = false;        // Within a later element.
    std::size_t name_bytes = 0;  // Of name_ at its begin.
  };

  // A name in an object replaces the previous one.
  void StartName() {
    if (!in_name_) {
      name_.resize(levels_[depth_ - 1].name_bytes);
      in_name_ = true;
    }
  }
  // A value begins.
  void BeginValue() {
    Level& level = levels_[depth_ - 1];
    ignored_ = level.ignored || (level.is_array && level.has_value);
    level.has_value = true;
  }
  bool EndLevel() {
    --depth_;
    if (depth_ != 0) {
      name_.resize(levels_[depth_].name_bytes);
    }
    return true;
  }
  bool Value() {
    const std::string_view value = std::string_view(text_).substr(part_begin_);
    part_begin_ = text_.size();
    BeginValue();
    Take(value);
    return true;
  }
  void Take(std::string_view value) {
    if (ignored_) {
      return;
    }
    if (are_decisions_ && TakeMemberOfDecision(value)) {
      return;
    }
    auto found = columns_.find(std::string_view(name_));
    if (found == columns_.end()) {
      if (columns_.size() >= kMostNames) {
        columns_.clear();
      }
      found = columns_.emplace(name_, ColumnNamed(name_)).first;
    }
    const RowReader::Column& column = found->second;
    if (are_decisions_ && column.wanted >= 0) {
      record_->columns[static_cast<std::size_t>(column.wanted)] = value;  // Also "" and "-".
      if (name_ == "attributes.status") {
        record_->Set(Field::kStatus, {});  // The request's own comes first.
      }
    } else if (!column.useless()) {
      row_.Set(*record_, column, value);
    }
  }
  // True if the member has been taken.
  [[nodiscard]] bool TakeMemberOfDecision(std::string_view value) {
    if (name_ == "judged_by") {
      judged_by_ = value;
    } else if (name_ == "cost") {
      record_->cost = value;
    } else if (name_ == "allowed") {
      record_->Set(Field::kStatus, value == "true" ? "200" : "429");
    } else {
      return false;
    }
    return true;
  }
  [[nodiscard]] RowReader::Column ColumnNamed(std::string_view name) const {
    if (!are_decisions_) {
      return row_.ColumnNamed(name);
    }
    constexpr std::string_view kAttributes = "attributes.";
    RowReader::Column column;
    if (name == "time") {
      column.role.kind = ColumnKind::kTime;
    } else if (name.starts_with(kAttributes)) {
      const auto wanted = std::ranges::find(wanted_, name.substr(kAttributes.size()));
      column.wanted = wanted == wanted_.end() ? -1 : static_cast<int>(wanted - wanted_.begin());
    }
    return column;
  }

  RowReader row_;
  const std::vector<std::string>& wanted_;
  const bool are_decisions_;
  std::string_view judged_by_;
  LogRecord* record_ = nullptr;
  std::unordered_map<std::string, RowReader::Column, NameHash, std::equal_to<>> columns_;
  std::string text_;  // All values, decoded.
  std::size_t part_begin_ = 0;
  std::string name_;
  bool in_name_ = false;
  bool ignored_ = false;
  std::array<Level, kMostLevels + 2> levels_{};
  std::size_t depth_ = 0;
};

struct JsonLinesParser::Impl {
  Impl(const ColumnOptions& columns, bool are_decisions)
      : parser(Options(), columns, are_decisions) {}
  json::basic_parser<JsonHandler> parser;
};

JsonLinesParser::JsonLinesParser(const ColumnOptions& columns, bool are_decisions)
    : impl_(std::make_unique<Impl>(columns, are_decisions)) {}
JsonLinesParser::~JsonLinesParser() = default;

LineKind JsonLinesParser::Parse(std::string_view line, LogRecord& record) {
  if (line.find_first_not_of(" \t") == line.npos) {
    return LineKind::kOther;
  }
  if (line[line.find_first_not_of(" \t")] != '{') {
    return Bad("not a JSON object");
  }
  json::basic_parser<JsonHandler>& parser = impl_->parser;
  parser.reset();
  parser.handler().Start(record, line.size());
  json::error_code error;
  const std::size_t read = parser.write_some(false, line.data(), line.size(), error);
  if (error || read != line.size() || !parser.done()) {
    return Bad("not a complete JSON object");
  }
  if (parser.handler().are_decisions() && parser.handler().judged_by() != "rules") {
    return parser.handler().judged_by().empty() ? Bad("not a line of Sluice's decision log")
                                                : LineKind::kOther;
  }
  const std::string_view problem = parser.handler().End();
  return problem.empty() ? LineKind::kRequest : Bad(problem);
}

}  // namespace sluice::logs
