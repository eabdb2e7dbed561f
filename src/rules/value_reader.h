#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "sluice/decision.h"
#include "sluice/time.h"

#include "core/quota.h"
#include "rules/findings.h"
#include "rules/yaml_tree.h"

// Readers of single values of a rule file. Each notes what is wrong, with the remedy, and then
// returns nullopt; `field` is the name that the message speaks of.
namespace sluice::rules {

// A whole number, 0 to kMaxUnits, written in digits and without quotes.
[[nodiscard]] std::optional<Units> ReadUnits(const YamlNode& node, std::string_view field,
                                             Reporter& report);

// 250ms, 10s, 15m, 1h, 30d. At most 300 years; 0s is read and left to its user to judge.
[[nodiscard]] std::optional<Duration> ReadDuration(const YamlNode& node, std::string_view field,
                                                   Reporter& report);

[[nodiscard]] std::optional<bool> ReadBool(const YamlNode& node, std::string_view field,
                                           Reporter& report);

// Any text that is not null; a number or a boolean is the text as written.
[[nodiscard]] std::optional<std::string> ReadText(const YamlNode& node, std::string_view field,
                                                  Reporter& report);

// A value that a request's attribute is compared with. A number without quotes must be written as a
// request's number is written (base/number_text.h), so that no reader has to guess whether 1.50 is
// the text "1.50" or the number 1.5.
[[nodiscard]] std::optional<std::string> ReadAttributeValue(const YamlNode& node,
                                                            std::string_view field,
                                                            Reporter& report);

// The position in `words` of the word that stands there.
[[nodiscard]] std::optional<std::size_t> ReadWord(const YamlNode& node, std::string_view field,
                                                  std::span<const std::string_view> words,
                                                  Reporter& report);

// [A-Za-z0-9._-]{1,64}
[[nodiscard]] std::optional<std::string> ReadId(const YamlNode& node, std::string_view field,
                                                Reporter& report);

// exact, lease or local.
[[nodiscard]] std::optional<core::Sync> ReadSync(const YamlNode& node, Reporter& report);

// What an attribute may be called: 1 to 128 printable ASCII characters but blank, braces,
// quotes. `where` is the node that a complaint points at.
[[nodiscard]] bool IsAttributeName(std::string_view name);

// "15m", "1h", "30d": the longest unit that says it exactly.
[[nodiscard]] std::string DurationText(Duration duration);

}  // namespace sluice::rules
