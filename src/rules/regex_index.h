#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include <re2/re2.h>
#include <re2/set.h>

#include "rules/condition.h"

namespace sluice::rules {

// The options for every expression over a request's texts. The dot matches any character, because
// an expression has to match a whole value, and clients choose the values. With RE2's default, in
// which the dot does not match a line feed, `/v1/.*` would not match "/v1/a\n", and a client could
// avoid the rule by appending %0a (the cause of CVE-2022-22978). `max_mem` bounds the memory to
// compile and run one expression, in bytes (RE2's default is 8 MiB).
[[nodiscard]] inline re2::RE2::Options RegexOptions(std::int64_t max_mem) {
  re2::RE2::Options options;
  options.set_log_errors(false);
  options.set_dot_nl(true);
  options.set_max_mem(max_mem);
  return options;
}

// Finds which of many expressions match a whole value. A few are tried one by one; more become one
// automaton, whose cost does not grow with their number. For each lookup in it, RE2 allocates a
// list of 12 bytes per expression. This is the only allocation in matching, and cheaper than trying
// more than a few expressions one by one. (Each RE2 expression also has a reader lock, which blocks
// only while its automaton grows.)
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

  // False if the automaton ran out of memory: then each expression is tried.
  bool AskSet(std::string_view value, std::vector<int>& matched) const;
  void AskEach(std::string_view value, std::vector<int>& matched) const;

  std::vector<Entry> entries_;
  std::unique_ptr<re2::RE2::Set> set_;
};

}  // namespace sluice::rules
