#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::logs {

// Finds a text in JSON objects, such as the line of a log that a log shipper put into one. One
// thread.
class JsonTextMember {
 public:
  // `names`: of the member, most wanted first.
  explicit JsonTextMember(std::vector<std::string> names);
  ~JsonTextMember();

  // The decoded text of the object's own member with the first of the names that it has; it lives
  // until the next call. nullopt if `line` is no JSON object, or none of them is a text.
  [[nodiscard]] std::optional<std::string_view> Find(std::string_view line);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace sluice::logs
