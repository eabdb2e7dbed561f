#include "wire/json_place.h"

#include <algorithm>

namespace sluice::wire {
namespace {

std::size_t SkipSpace(std::string_view json, std::size_t at) {
  return std::min(json.find_first_not_of(" \t\r\n", at), json.size());
}

// `at` is an opening quote; the result is behind the closing one.
std::size_t SkipString(std::string_view json, std::size_t at) {
  for (++at; at < json.size() && json[at] != '"'; ++at) {
    if (json[at] == '\\') {
      ++at;
    }
  }
  return std::min(at + 1, json.size());
}

}  // namespace

std::size_t PlaceOfMember(std::string_view json, std::size_t ordinal, MemberPart part) {
  std::size_t members = 0;
  bool name_next = false;
  for (std::size_t at = SkipSpace(json, 0); at < json.size(); at = SkipSpace(json, at)) {
    const char c = json[at];
    if (c != '"') {
      name_next = c == '{' || c == ',';
      ++at;
      continue;
    }
    const std::size_t begin = at;
    at = SkipString(json, at);
    if (!name_next) {
      continue;
    }
    name_next = false;
    if (members++ == ordinal) {
      if (part == MemberPart::kName) {
        return begin;
      }
      at = SkipSpace(json, at);  // At the colon.
      return at < json.size() ? SkipSpace(json, at + 1) : at;
    }
  }
  return json.size();
}

}  // namespace sluice::wire
