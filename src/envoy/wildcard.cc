#include "envoy/wildcard.h"

namespace sluice::envoy {

// What stands before the first star and behind the last must be there at the ends, not
// overlapping; each piece between two stars is then taken where it first occurs. The first place
// is as good as any: what comes after it has the most room.
bool MatchesWildcard(std::string_view pattern, std::string_view text) {
  const std::size_t first = pattern.find('*');
  if (first == std::string_view::npos) {
    return pattern == text;
  }
  const std::string_view prefix = pattern.substr(0, first);
  const std::string_view suffix = pattern.substr(pattern.rfind('*') + 1);
  if (text.size() < prefix.size() + suffix.size() || !text.starts_with(prefix) ||
      !text.ends_with(suffix)) {
    return false;
  }
  text.remove_prefix(prefix.size());
  text.remove_suffix(suffix.size());
  pattern.remove_prefix(prefix.size());
  pattern.remove_suffix(suffix.size());  // Begins and ends with a star now.
  while (!pattern.empty()) {
    pattern.remove_prefix(1);
    const std::string_view piece = pattern.substr(0, pattern.find('*'));
    const std::size_t at = text.find(piece);
    if (at == std::string_view::npos) {
      return false;
    }
    text.remove_prefix(at + piece.size());
    pattern.remove_prefix(piece.size());
  }
  return true;
}

}  // namespace sluice::envoy
