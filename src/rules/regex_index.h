#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include <re2/re2.h>
#include <re2/set.h>

#include "rules/condition.h"

namespace sluice::rules {

// Which of many expressions a value matches whole. A few are tried one by one; more become one
// automaton, whose cost does not grow with their number. At each call of it RE2 allocates a list
// of 12 bytes an expression, whatever the caller does: the only allocation in matching, and
// cheaper than to ask more than a few one by one. (RE2 also has a reader's lock of its own in
// each expression, which is waited for only while its automaton grows.)
class RegexIndex {
 public:
  // Before Seal().
  void Add(const Pattern& pattern, std::uint32_t rule);
  void Seal();

  // Calls found(rule); a rule may be found more than once. `scratch` is reused room.
  template <class Found>
  void Find(std::string_view value, std::vector<int>& scratch, const Found& found) const {
    if (entries_.empty()) {
      return;
    }
    if (set_ == nullptr || !AskSet(value, scratch)) {
      scratch.clear();
      AskEach(value, scratch);
    }
    for (const int index : scratch) {
      for (const std::uint32_t rule : entries_[static_cast<std::size_t>(index)].rules) {
        found(rule);
      }
    }
  }

 private:
  struct Entry {
    std::shared_ptr<const re2::RE2> regex;
    std::vector<std::uint32_t> rules;
  };

  // False where the automaton ran out of its memory: then each is asked.
  bool AskSet(std::string_view value, std::vector<int>& matched) const;
  void AskEach(std::string_view value, std::vector<int>& matched) const;

  std::vector<Entry> entries_;
  std::unique_ptr<re2::RE2::Set> set_;
};

}  // namespace sluice::rules
