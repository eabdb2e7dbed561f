#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <tl/expected.hpp>

namespace sluice::wire {

// What an encoded slash (%2F) or a backslash (\ or %5C) in a path means. Servers disagree, so no
// reading of it is right for all of them.
enum class EncodedSlash : std::uint8_t {
  kRefuse,  // Such a path has no normal form.
  kDecode,  // It separates segments, as a slash does.
  kKeep,    // It is a character of its segment, written %2F or \.
};

// How the path of a request becomes the text that rules see.
struct PathSettings {
  bool strict = false;     // The normal form; else the path as sent, percent-decoded.
  bool fold_case = false;  // Only with `strict`: A to Z become a to z.
  EncodedSlash encoded_slash = EncodedSlash::kRefuse;  // Only with `strict`.
};

// The path of a request target: "/login?next=x", "/login#top" and "https://host/login" are all
// "/login", and "https://host" is "/". A target that is no path ("*", "host:443") is itself. Never
// fails, so that no request goes without a path: it is what a proxy took for one.
[[nodiscard]] std::string_view PathOfTarget(std::string_view target);

// Appends the normal form of the percent-encoded `path`: the one text for all spellings that a
// server which normalises paths takes for the same. In this order:
//
//   1. each segment loses its parameters: what follows a ';' that is not encoded
//   2. percent-encoding is undone, once; a '%' without two hex digits stays
//   3. "." and empty segments go; ".." takes the segment before it along, and "/" is its own parent
//   4. the last slash goes, but for "/"
//   5. with fold_case, ASCII letters become lower case
//   6. bytes that are no UTF-8 become U+FFFD
//
// "//login", "/./login", "/a/../login", "/%6Cogin", "/login/" and "/login;x=1" are "/login".
//
// Errors, for the sender to read: a path on whose meaning servers that normalise disagree. That is
// an encoded slash or a backslash (see EncodedSlash), a control character, "." or ".." with
// parameters ("/..;/"), ".." behind an empty segment ("/a//../b"), and text that does not begin
// with
// '/' and is not "*". They live for ever. After an error something may have been appended.
//
// Idempotent: the normal form, encoded again, has itself as its normal form.
[[nodiscard]] tl::expected<void, std::string_view> AppendNormalPath(std::string& out,
                                                                    std::string_view path,
                                                                    const PathSettings& settings);

}  // namespace sluice::wire
