#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

#include "sluice/attribute.h"

#include "wire/path_normalizer.h"
#include "wire/scalar_object.h"
#include "wire/url.h"

namespace sluice::wire {

// Attributes out of a request target: the query user_id=u_42&plan=pro, and a path segment.
// %41 and + are decoded, as forms write them (in a path + is itself). What it takes is what the
// body of a check may hold: UTF-8, each name once, and the same bounds. Reused from request to
// request: warm, it allocates nothing. One thread.
class FormQuery {
 public:
  static constexpr ScalarObjectLimits kLimits{};

  // Forgets what was read.
  void Clear();

  // Adds one attribute whose value is a percent-encoded path segment. `name` outlives this.
  // Errors say what is wrong, for the sender to read; they live for ever.
  [[nodiscard]] tl::expected<void, std::string_view> AddSegment(std::string_view name,
                                                                std::string_view segment);
  // The same for a path that anybody may have written: percent-decoded as far as it goes, or in its
  // normal form if `settings` are strict. Errors: given before, too many, too long to be a value
  // (a cut text would be another one), or a path that has no normal form.
  [[nodiscard]] tl::expected<void, std::string_view> AddPath(std::string_view name,
                                                             std::string_view path,
                                                             const PathSettings& settings);
  // The same for a value that is not encoded. False, and nothing added: given before, too many,
  // too long, or no UTF-8.
  [[nodiscard]] bool AddValue(std::string_view name, std::string_view value);
  [[nodiscard]] tl::expected<void, std::string_view> AddQuery(std::string_view query);

  // Takes a member out and gives its value, good until more is added; none if absent.
  std::optional<std::string_view> Remove(std::string_view name);

  // In order; good until the next call. Call once all is added.
  [[nodiscard]] Attributes attributes();

 private:
  struct Member {
    // Places in text_. A name ends where its value begins.
    std::size_t name_begin;
    std::size_t value_begin;
    std::size_t value_end;
  };

  [[nodiscard]] tl::expected<void, std::string_view> AddValue(Member member,
                                                              std::string_view encoded,
                                                              UrlPart part);
  [[nodiscard]] std::string_view NameOf(const Member& member) const;
  [[nodiscard]] std::string_view ValueOf(const Member& member) const;
  [[nodiscard]] bool Has(std::string_view name) const;

  std::string text_;  // All names and values, decoded.
  std::vector<Member> members_;
  std::vector<Attribute> attributes_;
};

}  // namespace sluice::wire
