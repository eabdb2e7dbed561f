// Any bytes as a List: it ends; Strings and Integers that are read, written again, read as
// the same.

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <variant>

#include "wire/structured_field.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using sluice::wire::ParseSfList;
  const auto list = ParseSfList({reinterpret_cast<const char*>(data), size});
  if (!list) {
    return 0;
  }
  std::string text;
  sluice::wire::SfListWriter writer(text);
  std::size_t members = 0;
  for (const auto& item : *list) {
    const auto* name = std::get_if<std::string>(&item.value);
    if (name == nullptr) {
      continue;
    }
    writer.Member(*name);
    ++members;
    for (const auto& [key, value] : item.params) {
      if (const auto* number = std::get_if<std::int64_t>(&value)) {
        writer.Param(key, *number);
      } else if (const auto* string = std::get_if<std::string>(&value)) {
        writer.Param(key, *string);
      }
    }
  }
  const auto again = ParseSfList(text);
  if (!again || again->size() != members) {
    std::abort();
  }
  std::size_t next = 0;
  for (const auto& item : *list) {
    if (!std::holds_alternative<std::string>(item.value)) {
      continue;
    }
    const auto& read = (*again)[next++];
    if (read.value != item.value) {
      std::abort();
    }
    for (const auto& [key, value] : read.params) {
      if (*item.Param(key) != value) {
        std::abort();
      }
    }
  }
  return 0;
}
