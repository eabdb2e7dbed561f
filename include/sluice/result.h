#pragma once

#include <cstdint>
#include <string>

#include <tl/expected.hpp>

namespace sluice {

// Where a text (a rule file, a request body) has a problem. Lines and columns count
// from 1; 0 means unknown.
struct Place {
  std::string file;
  int line = 0;
  int column = 0;
};

// A problem of the world outside, for a person to read: what is wrong, where, and what
// to do about it. Used for configuration and start-up, never on the decision path.
struct Error {
  std::string message;
  Place place{};

  // "rules.yaml:3:5: unknown field perid, did you mean period?" Fit for a terminal: what is not
  // displayable is written out, for a message may quote a text that a client chose.
  [[nodiscard]] std::string Text() const;
};

template <class T>
using Result = tl::expected<T, Error>;

}  // namespace sluice
