#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "sluice/decision.h"
#include "sluice/time.h"

#include "core/quota.h"
#include "rules/findings.h"
#include "yaml/tree.h"

// Readers of single values of a rule file. After a problem, each reports it with the remedy and
// returns nullopt. `field` is the field's name in the message.
namespace sluice::rules {

// A whole number, 0 to kMaxUnits, written in digits and without quotes.
[[nodiscard]] std::optional<Units> ReadUnits(const yaml::Node& node, std::string_view field,
                                             Reporter& report);

// 250ms, 10s, 15m, 1h, 30d. At most 300 years. 0s is accepted; the caller checks for it.
[[nodiscard]] std::optional<Duration> ReadDuration(const yaml::Node& node, std::string_view field,
                                                   Reporter& report);

[[nodiscard]] std::optional<bool> ReadBool(const yaml::Node& node, std::string_view field,
                                           Reporter& report);

// Any text that is not null; a number or a boolean is the text as written.
[[nodiscard]] std::optional<std::string> ReadText(const yaml::Node& node, std::string_view field,
                                                  Reporter& report);

// A value to compare a request's attribute with. A number without quotes must be written as in
// requests (base/number_text.h), so that it is clear whether 1.50 is the text "1.50" or the number
// 1.5.
[[nodiscard]] std::optional<std::string> ReadAttributeValue(const yaml::Node& node,
                                                            std::string_view field,
                                                            Reporter& report);

// The index of the word in `words`.
[[nodiscard]] std::optional<std::size_t> ReadWord(const yaml::Node& node, std::string_view field,
                                                  std::span<const std::string_view> words,
                                                  Reporter& report);

// [A-Za-z0-9._-]{1,64}
[[nodiscard]] std::optional<std::string> ReadId(const yaml::Node& node, std::string_view field,
                                                Reporter& report);

// exact, lease or local.
[[nodiscard]] std::optional<core::Sync> ReadSync(const yaml::Node& node, Reporter& report);

// A valid attribute name: 1 to 128 printable ASCII characters except blanks, braces and quotes.
// `where` is the node that a problem points at.
[[nodiscard]] bool IsAttributeName(std::string_view name);

// "15m", "1h", "30d": in the longest unit that is exact.
[[nodiscard]] std::string DurationText(Duration duration);

}  // namespace sluice::rules
