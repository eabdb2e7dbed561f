#include <algorithm>
#include <vector>

#include "core/shape.h"
#include "rules/rule_index.h"
#include "rules/value_reader.h"

namespace sluice::rules {

namespace {

constexpr std::string_view kNoWindow = "0ns";

std::string WindowText(const core::Quota& quota) {
  return quota.calendar != nullptr ? std::string(quota.calendar->shape())
                                   : DurationText(quota.window);
}

std::string KeyText(const Rule& rule) {
  std::string text;
  for (const KeyAttribute& attribute : rule.key) {
    text += '{' + attribute.name + (attribute.type == core::AttributeType::kIp ? " (ip)}" : "}");
  }
  return text.empty() ? "one shared key" : text;
}

std::string Change(std::string_view what, const std::string& before, const std::string& next) {
  return "its " + std::string(what) + " was " + before + " and is now " + next;
}

}  // namespace

std::optional<std::string> FreshStart(const Rule& before, const Rule& next, bool kinds_differ) {
  const core::Quota& was = before.quota;
  const core::Quota& is = next.quota;
  const core::Shape old_shape = core::ShapeOf(was);
  const core::Shape new_shape = core::ShapeOf(is);
  if (old_shape.algorithm != new_shape.algorithm) {
    return Change("algorithm", std::string(core::NameOf(was.algorithm)),
                  std::string(core::NameOf(is.algorithm)));
  }
  const bool same_key =
      std::equal(before.key.begin(), before.key.end(), next.key.begin(), next.key.end(),
                 [](const auto& a, const auto& b) { return a.name == b.name && a.type == b.type; });
  if (!same_key) {
    return Change("key", KeyText(before), KeyText(next));
  }
  if (kinds_differ) {
    return "an attribute of its key is declared differently";
  }
  // An unlimited rule may have no window, and its own numbers keep no state.
  const bool windowless = (was.unlimited && WindowText(was) == kNoWindow) ||
                          (is.unlimited && WindowText(is) == kNoWindow);
  if (!windowless &&
      (old_shape.window != new_shape.window || old_shape.calendar != new_shape.calendar)) {
    return Change("window", WindowText(was), WindowText(is));
  }
  if (old_shape.segments != new_shape.segments) {
    return Change("segments", std::to_string(old_shape.segments),
                  std::to_string(new_shape.segments));
  }
  return std::nullopt;
}

}  // namespace sluice::rules
