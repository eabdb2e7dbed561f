#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <tl/expected.hpp>

namespace sluice::wire {

// The meaning of an encoded slash (%2F) or a backslash (\ or %5C) in a path. Servers disagree about
// it.
enum class EncodedSlash : std::uint8_t {
  kRefuse,  // Such a path has no normal form.
  kDecode,  // It separates segments like a slash.
  kKeep,    // It is a character of its segment, written %2F or \.
};

// How the path of a request is converted to the text that rules see.
struct PathSettings {
  bool strict = false;     // The normal form; otherwise the path as sent, percent-decoded.
  bool fold_case = false;  // Only with `strict`: A to Z become a to z.
  EncodedSlash encoded_slash = EncodedSlash::kRefuse;  // Only with `strict`.
};

// The path of a request target: "/login?next=x", "/login#top" and "https://host/login" are all
// "/login", and "https://host" is "/". A target without a path ("*", "host:443") is returned
// unchanged. Never fails, so every request has a path: the proxy treated this text as one.
[[nodiscard]] std::string_view PathOfTarget(std::string_view target);

// Appends the normal form of the percent-encoded `path`: one text for all spellings that a
// normalising server treats as the same. In this order:
//
//   1. each segment loses its parameters: the text after an unencoded ';'
//   2. percent-encoding is decoded once; a '%' without two hex digits stays
//   3. "." and empty segments are removed; ".." also removes the segment before it; "/" is its own
//   parent
//   4. the last slash is removed, except in "/"
//   5. with fold_case, ASCII letters become lower case
//   6. bytes that are not UTF-8 become U+FFFD
//
// "//login", "/./login", "/a/../login", "/%6Cogin", "/login/" and "/login;x=1" are "/login".
//
// Errors, as texts for the sender with static lifetime: a path that normalising servers interpret
// differently. That is an encoded slash or a backslash (see EncodedSlash), a control character, "."
// or ".." with parameters ("/..;/"), ".." after an empty segment ("/a//../b"), and text that does
// not begin with '/' and is not "*". After an error something may have been appended.
//
// Idempotent: the normal form, encoded again, is its own normal form.
[[nodiscard]] tl::expected<void, std::string_view> AppendNormalPath(std::string& out,
                                                                    std::string_view path,
                                                                    const PathSettings& settings);

}  // namespace sluice::wire
