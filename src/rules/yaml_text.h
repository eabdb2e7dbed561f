#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/result.h"

namespace sluice::rules {

// `text` as a YamlParser wants it: UTF-8 without a byte order mark, each line ended by '\n', no
// other control character but tabs. nullopt, and a problem with its place in `file` is appended,
// where that is not what it is, or where it is larger than kMaxTextBytes.
[[nodiscard]] std::optional<std::string> PlainYamlText(std::string_view text,
                                                       const std::string& file,
                                                       std::vector<Error>& problems);

}  // namespace sluice::rules
