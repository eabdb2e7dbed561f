#include "wire/path_normalizer.h"

#include <algorithm>
#include <cstddef>

#include "base/utf8.h"
#include "wire/ascii.h"
#include "wire/url_encoding.h"

namespace sluice::wire {

namespace {

constexpr std::string_view kNoPath = "the path does not begin with a slash";
constexpr std::string_view kControl = "the path has a control character";
constexpr std::string_view kSlash = "the path has an encoded slash or a backslash";
constexpr std::string_view kDotParameters = "the path has a dot segment with parameters";
constexpr std::string_view kEmptyBeforeDots = "the path has \"..\" after an empty segment";

// The segments of one path at the end of `out`, each after a slash. Text appended to `out` between
// two calls of End() is one segment without a slash.
class Segments {
 public:
  explicit Segments(std::string& out) : out_(out), begin_(out.size()) { out_ += '/'; }

  // Ends a segment. Returns "", or the problem.
  [[nodiscard]] std::string_view End(bool has_parameters) {
    const std::size_t slash = out_.rfind('/');
    const std::string_view segment = std::string_view(out_).substr(slash + 1);
    // A server that decodes first treats the text after an encoded semicolon as parameters.
    const std::string_view name = segment.substr(0, segment.find(';'));
    has_parameters = has_parameters || name.size() != segment.size();
    const bool is_parent = name == "..";
    if (!is_parent && name != ".") {
      saw_empty_ = saw_empty_ || segment.empty();
      out_ += segment.empty() ? "" : "/";
      return {};
    }
    if (has_parameters) {
      return kDotParameters;
    }
    if (is_parent && saw_empty_) {
      return kEmptyBeforeDots;
    }
    out_.resize(slash + 1);
    if (is_parent && slash != begin_) {
      out_.resize(out_.rfind('/', slash - 1) + 1);
    }
    return {};
  }

  // Removes the slash after the last segment.
  void Finish() {
    if (out_.size() > begin_ + 1) {
      out_.pop_back();
    }
  }

 private:
  std::string& out_;
  const std::size_t begin_;  // Of the path in out_: its first slash.
  bool saw_empty_ = false;
};

}  // namespace

std::string_view PathOfTarget(std::string_view target) {
  if (target.empty()) {
    return {};
  }
  if (!target.starts_with('/')) {
    const std::size_t scheme = EqualsIgnoreCase(target.substr(0, 7), "http://")    ? 7
                               : EqualsIgnoreCase(target.substr(0, 8), "https://") ? 8
                                                                                   : 0;
    if (scheme != 0) {
      target.remove_prefix(std::min(target.find_first_of("/?#", scheme), target.size()));
      if (!target.starts_with('/')) {
        return "/";
      }
    }
  }
  return target.substr(0, target.find_first_of("?#"));
}

tl::expected<void, std::string_view> AppendNormalPath(std::string& out, std::string_view path,
                                                      const PathSettings& settings) {
  if (path == "*") {
    out += path;
    return {};
  }
  if (!path.starts_with('/')) {
    return tl::unexpected(kNoPath);
  }
  const std::size_t begin = out.size();
  Segments segments(out);
  bool in_parameters = false;
  // One iteration more than bytes: the end of the path ends its last segment.
  for (std::size_t at = 1; at <= path.size();) {
    const bool is_end = at == path.size();
    const int escaped = is_end ? -1 : EscapedByte(path, at);
    const char c = is_end ? '/' : escaped < 0 ? path[at] : static_cast<char>(escaped);
    at += escaped < 0 ? 1 : 3;
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      return tl::unexpected(kControl);
    }
    const bool is_foreign = c == '\\' || (c == '/' && escaped >= 0);
    if (is_foreign && settings.encoded_slash == EncodedSlash::kRefuse) {
      return tl::unexpected(kSlash);
    }
    if (is_foreign ? settings.encoded_slash == EncodedSlash::kDecode : c == '/') {
      if (const std::string_view wrong = segments.End(in_parameters); !wrong.empty()) {
        return tl::unexpected(wrong);
      }
      in_parameters = false;
    } else if (in_parameters || (c == ';' && escaped < 0)) {
      in_parameters = true;
    } else if (c == '/') {
      out += settings.fold_case ? "%2f" : "%2F";
    } else {
      out += settings.fold_case ? ToLower(c) : c;
    }
  }
  segments.Finish();
  if (!base::IsUtf8(std::string_view(out).substr(begin))) {
    RepairUtf8(out, begin);
  }
  return {};
}

}  // namespace sluice::wire
