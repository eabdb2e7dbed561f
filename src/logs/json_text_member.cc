#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>

#include <boost/json/basic_parser_impl.hpp>

#include "logs/line_wrapping.h"

namespace sluice::logs {

namespace {

namespace json = boost::json;

constexpr std::size_t kMostTextLevels = 16;

json::parse_options Shallow() {
  json::parse_options options;
  options.max_depth = kMostTextLevels;
  return options;
}

}  // namespace

// Receives Boost.JSON's events and keeps one text of the outermost object.
class JsonTextHandler {
 public:
  static constexpr std::size_t max_object_size = std::numeric_limits<std::size_t>::max();
  static constexpr std::size_t max_array_size = std::numeric_limits<std::size_t>::max();
  static constexpr std::size_t max_key_size = std::numeric_limits<std::size_t>::max();
  static constexpr std::size_t max_string_size = std::numeric_limits<std::size_t>::max();

  explicit JsonTextHandler(std::vector<std::string> names) : names_(std::move(names)) {}

  void Start() {
    rank_ = names_.size();
    depth_ = 0;
    name_.clear();
    text_.clear();
  }
  [[nodiscard]] std::optional<std::string_view> found() const {
    return rank_ == names_.size() ? std::nullopt : std::optional<std::string_view>(found_);
  }

  bool on_document_begin(json::error_code&) { return true; }
  bool on_document_end(json::error_code&) { return true; }
  bool on_object_begin(json::error_code&) { return Begin(); }
  bool on_object_end(std::size_t, json::error_code&) { return End(); }
  bool on_array_begin(json::error_code&) { return Begin(); }
  bool on_array_end(std::size_t, json::error_code&) { return End(); }
  bool on_key_part(json::string_view part, std::size_t, json::error_code&) {
    return Append(name_, part);
  }
  bool on_key(json::string_view part, std::size_t, json::error_code&) {
    Append(name_, part);
    const auto found = std::ranges::find(names_, name_);
    name_rank_ = depth_ == 1 ? static_cast<std::size_t>(found - names_.begin()) : names_.size();
    name_.clear();
    return true;
  }
  bool on_string_part(json::string_view part, std::size_t, json::error_code&) {
    return Append(text_, part);
  }
  bool on_string(json::string_view part, std::size_t, json::error_code&) {
    Append(text_, part);
    if (depth_ == 1 && name_rank_ < rank_) {
      std::swap(found_, text_);
      rank_ = name_rank_;
    }
    text_.clear();
    return true;
  }
  bool on_number_part(json::string_view, json::error_code&) { return true; }
  bool on_int64(std::int64_t, json::string_view, json::error_code&) { return true; }
  bool on_uint64(std::uint64_t, json::string_view, json::error_code&) { return true; }
  bool on_double(double, json::string_view, json::error_code&) { return true; }
  bool on_bool(bool, json::error_code&) { return true; }
  bool on_null(json::error_code&) { return true; }
  bool on_comment_part(json::string_view, json::error_code&) { return true; }
  bool on_comment(json::string_view, json::error_code&) { return true; }

 private:
  bool Begin() {
    ++depth_;
    name_rank_ = names_.size();
    return true;
  }
  bool End() {
    --depth_;
    return true;
  }
  static bool Append(std::string& to, json::string_view part) {
    to.append(part.data(), part.size());
    return true;
  }

  std::vector<std::string> names_;
  std::size_t rank_ = 0;       // Of found_; names_.size() if none was found.
  std::size_t name_rank_ = 0;  // Of the member whose value follows.
  std::size_t depth_ = 0;
  std::string name_;
  std::string text_;
  std::string found_;
};

struct JsonTextMember::Impl {
  explicit Impl(std::vector<std::string> names) : parser(Shallow(), std::move(names)) {}
  json::basic_parser<JsonTextHandler> parser;
};

JsonTextMember::JsonTextMember(std::vector<std::string> names)
    : impl_(std::make_unique<Impl>(std::move(names))) {}
JsonTextMember::~JsonTextMember() = default;

std::optional<std::string_view> JsonTextMember::Find(std::string_view line) {
  const std::size_t open = line.find_first_not_of(" \t");
  if (open == line.npos || line[open] != '{') {
    return std::nullopt;
  }
  json::basic_parser<JsonTextHandler>& parser = impl_->parser;
  parser.reset();
  parser.handler().Start();
  json::error_code error;
  const std::size_t read = parser.write_some(false, line.data(), line.size(), error);
  if (error || read != line.size() || !parser.done()) {
    return std::nullopt;
  }
  return parser.handler().found();
}

}  // namespace sluice::logs
