#include "wire/entity_tag.h"

#include <algorithm>

#include "wire/ascii.h"

namespace sluice::wire {

namespace {

bool ListNames(std::string_view list, std::string_view tag, TagComparison comparison) {
  for (;;) {
    list.remove_prefix(std::min(list.find_first_not_of(" \t,"), list.size()));
    const bool is_weak = list.starts_with("W/");
    list.remove_prefix(is_weak ? 2 : 0);
    const std::size_t end = list.starts_with('"') ? list.find('"', 1) : std::string_view::npos;
    if (end == std::string_view::npos) {
      return false;
    }
    if (list.substr(0, end + 1) == tag && (!is_weak || comparison == TagComparison::kWeak)) {
      return true;
    }
    list.remove_prefix(end + 1);
    if (list.find_first_not_of(" \t") != list.find(',')) {
      return false;  // Something stands between a tag and its comma.
    }
  }
}

}  // namespace

bool NamesEntity(const HttpRequest& request, std::string_view name, std::string_view tag,
                 TagComparison comparison) {
  return !tag.empty() && std::ranges::any_of(request.fields, [&](const HttpField& field) {
    return EqualsIgnoreCase(field.name, name) &&
           (field.value == "*" || ListNames(field.value, tag, comparison));
  });
}

}  // namespace sluice::wire
