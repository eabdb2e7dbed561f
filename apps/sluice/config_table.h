#pragma once

#include <span>
#include <string_view>

#include "config_map.h"

// What tables of ConfigField are written with.
namespace sluice::app::table {

using Text = std::string_view;

// A value that can be written so.
constexpr Fallback Is(Text literal) {
  return {literal, true};
}

constexpr ConfigField Value(Text name, Text type, Fallback fallback, Text meaning) {
  return {.name = name, .type = type, .fallback = fallback, .meaning = meaning};
}
constexpr ConfigField Word(Text name, std::span<const Text> words, Fallback fallback,
                           Text meaning) {
  return {.name = name, .type = {}, .fallback = fallback, .meaning = meaning, .words = words};
}
constexpr ConfigField Count(Text name, Units least, Units most, Fallback fallback, Text meaning) {
  return {.name = name,
          .type = {},
          .fallback = fallback,
          .meaning = meaning,
          .least = least,
          .most = most};
}
constexpr ConfigField Map(Text name, const ConfigMap& map, Fallback fallback, Text meaning) {
  return {.name = name, .type = {}, .fallback = fallback, .meaning = meaning, .map = &map};
}
constexpr ConfigField Listed(ConfigField field) {
  field.is_list = true;
  return field;
}
// What guards something: see ConfigField.
constexpr ConfigField Guard(ConfigField field) {
  field.is_guard = true;
  return field;
}
constexpr ConfigField Refused(Text name) {
  return {.name = name,
          .type = {},
          .fallback = {},
          .meaning = {},
          .is_guard = true,
          .is_refused = true};
}

}  // namespace sluice::app::table
