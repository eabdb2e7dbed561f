#pragma once

#include <cstdint>

#include <re2/re2.h>

namespace sluice::rules {

// How every expression over a request's texts is compiled. The dot stands for any character: an
// expression has to match a whole value, and a value is what a client sent. With RE2's default, in
// which the dot is not the line feed, `/v1/.*` would not hold for "/v1/a\n", and whoever appends
// %0a would pass (the same cause as CVE-2022-22978). `max_mem` bounds what one expression may cost
// to compile and to run, in bytes (RE2's own default is 8 MiB).
[[nodiscard]] inline re2::RE2::Options RegexOptions(std::int64_t max_mem) {
  re2::RE2::Options options;
  options.set_log_errors(false);
  options.set_dot_nl(true);
  options.set_max_mem(max_mem);
  return options;
}

}  // namespace sluice::rules
