#include "rules/spelling.h"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace sluice::rules {

namespace {

// Edit distance in which swapped neighbours count as one error (optimal string alignment).
std::size_t Distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) {
    last[j] = j;
  }
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, change});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
    before.swap(last);
    last.swap(row);
  }
  return last[b.size()];
}

constexpr std::size_t kLongestWord = 64;  // Longer words are not typing errors.

}  // namespace

std::string DidYouMean(std::string_view word, std::span<const std::string_view> known) {
  if (word.empty() || word.size() > kLongestWord) {
    return "";
  }
  std::string_view best;
  std::size_t best_distance = std::max<std::size_t>(1, word.size() / 3) + 1;
  for (const std::string_view candidate : known) {
    if (candidate.size() <= kLongestWord) {
      if (const std::size_t d = Distance(word, candidate); d < best_distance) {
        best_distance = d;
        best = candidate;
      }
    }
  }
  return best.empty() ? "" : ", did you mean " + std::string(best) + "?";
}

std::string KnownOnes(std::string_view word, std::span<const std::string_view> known) {
  constexpr std::size_t kShown = 8;
  std::string text = DidYouMean(word, known);
  if (!text.empty() || known.empty()) {
    return text;
  }
  for (std::size_t i = 0; i < std::min(known.size(), kShown); ++i) {
    text += i == 0 ? " (known: " : ", ";
    text += known[i];
  }
  return text + (known.size() > kShown ? ", ...)" : ")");
}

std::string OneOf(std::span<const std::string_view> words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    text += i == 0 ? "" : i + 1 == words.size() ? " or " : ", ";
    text += words[i];
  }
  return text;
}

}  // namespace sluice::rules
