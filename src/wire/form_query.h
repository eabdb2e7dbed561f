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
#include "wire/url_encoding.h"

namespace sluice::wire {

// Reads attributes from a request target: the query user_id=u_42&plan=pro, and a path segment. %41
// and + are decoded as in forms (in a path, + is itself). It accepts the same as the body of a
// check: UTF-8, each name once, and the same bounds. Reused from request to request, so it
// allocates nothing once warm. One thread.
class FormQuery {
 public:
  static constexpr ScalarObjectLimits kLimits{};

  // Drops everything that was read.
  void Clear();

  // Adds one attribute whose value is a percent-encoded path segment. `name` outlives this. Errors
  // are texts for the sender, with static lifetime.
  [[nodiscard]] tl::expected<void, std::string_view> AddSegment(std::string_view name,
                                                                std::string_view segment);
  // The same for a client's path: percent-decoded as far as possible, or in its normal form if
  // `settings` are strict. Errors: given before, too many, too long for a value (a truncated text
  // would be another value), or no normal form.
  [[nodiscard]] tl::expected<void, std::string_view> AddPath(std::string_view name,
                                                             std::string_view path,
                                                             const PathSettings& settings);
  // The same for a value that is not encoded. False, with nothing added: given before, too many,
  // too long, or not UTF-8.
  [[nodiscard]] bool AddValue(std::string_view name, std::string_view value);
  [[nodiscard]] tl::expected<void, std::string_view> AddQuery(std::string_view query);

  // Removes a member and returns its value, valid until more is added; nullopt if absent.
  std::optional<std::string_view> Remove(std::string_view name);

  // In order; valid until the next call. Call it after the last Add.
  [[nodiscard]] Attributes attributes();

 private:
  struct Member {
    // Offsets in text_. A name ends where its value begins.
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
