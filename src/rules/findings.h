#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sluice/result.h"

#include "yaml/tree.h"

namespace sluice::rules {

// The problems found by building a set. A set with errors is not built; warnings do not prevent it.
struct Findings {
  std::vector<Error> errors;
  std::vector<Error> warnings;
};

// Collects the problems of one source with their positions. Every problem is recorded, up to a
// bound, so that a hostile text cannot make the list grow without limit.
class Reporter {
 public:
  static constexpr std::size_t kMaxPerList = 1000;

  Reporter(std::string file, Findings& findings) : file_(std::move(file)), findings_(&findings) {}

  void Fail(const yaml::Node& node, std::string message) {
    Fail(node.line, node.column, std::move(message));
  }
  void Fail(int line, int column, std::string message) {
    Note(findings_->errors, {std::move(message), {file_, line, column}});
  }
  void Warn(const yaml::Node& node, std::string message) {
    Note(findings_->warnings, {std::move(message), PlaceOf(node)});
  }

  [[nodiscard]] Place PlaceOf(const yaml::Node& node) const {
    return {file_, node.line, node.column};
  }
  [[nodiscard]] const std::string& file() const { return file_; }
  [[nodiscard]] std::size_t error_count() const { return findings_->errors.size(); }
  [[nodiscard]] Findings& findings() { return *findings_; }

 private:
  static void Note(std::vector<Error>& list, Error error) {
    if (list.size() < kMaxPerList) {
      list.push_back(std::move(error));
    } else if (list.size() == kMaxPerList) {
      list.push_back({"more problems follow; they are not listed", {}});
    }
  }

  std::string file_;
  Findings* findings_;
};

}  // namespace sluice::rules
