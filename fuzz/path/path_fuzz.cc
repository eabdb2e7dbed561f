// Any bytes as a path: the first picks the settings. What has a normal form has one that is rooted,
// has no dot or empty segment and no control character, and is its own normal form.

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/utf8.h"
#include "wire/path_normalizer.h"
#include "wire/url_encoding.h"

namespace {

using namespace sluice::wire;  // NOLINT(google-build-using-namespace)

void Check(bool condition) {
  if (!condition) {
    std::abort();
  }
}

void CheckForm(std::string_view path) {
  Check(path == "*" || path.starts_with('/'));
  Check(sluice::base::IsUtf8(path));
  Check(path == "/" || !path.ends_with('/'));
  Check(std::ranges::none_of(
      path, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }));
  const std::string closed = std::string(path) + "/";
  Check(path == "/" || closed.find("//") == std::string::npos);
  Check(closed.find("/./") == std::string::npos && closed.find("/../") == std::string::npos);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) {
    return 0;
  }
  const PathSettings settings{.strict = true,
                              .fold_case = (data[0] & 1U) != 0,
                              .encoded_slash = static_cast<EncodedSlash>((data[0] >> 1U) % 3)};
  const std::string_view target(reinterpret_cast<const char*>(data) + 1, size - 1);
  std::string first;
  if (!AppendNormalPath(first, PathOfTarget(target), settings)) {
    return 0;
  }
  CheckForm(first);
  if (settings.encoded_slash == EncodedSlash::kKeep || first == "*") {
    return 0;
  }
  std::string again;
  for (std::size_t at = 0; at < first.size();) {
    again += '/';
    const std::size_t end = std::min(first.find('/', ++at), first.size());
    AppendPercentEncoded(again, std::string_view(first).substr(at, end - at));
    at = end;
  }
  std::string second;
  Check(AppendNormalPath(second, again, settings).has_value() && second == first);
  return 0;
}
