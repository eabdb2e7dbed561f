#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sluice/result.h"

#include "rules/rule_set.h"

namespace sluice::sources {

// Keeps the running rule set in step with its sources: a good change is put in force, a bad one
// leaves the running set as it is. One thread at a time.
class RuleReloader {
 public:
  // Gives all sources' texts as they are now, in declaration order, or why they cannot be had.
  using Sources = tl::expected<std::vector<rules::SourceText>, std::vector<Error>>;
  using Read = std::function<Sources()>;
  // Puts a new set in force. The findings hold its warnings.
  using Publish =
      std::function<void(std::shared_ptr<const rules::RuleSet>, const rules::Findings&)>;

  // Looks at a set that is good in itself, before it is put in force: adds warnings, or errors that
  // refuse it. For what its texts cannot say, such as who is to be judged by it.
  using Review = std::function<void(const rules::RuleSet&, rules::Findings&)>;

  enum class Outcome : std::uint8_t {
    kPublished,    // A new set is in force.
    kUnchanged,    // The texts are those of the running set: nothing was done.
    kFailed,       // Something is wrong, and it is news: findings() says what.
    kStillFailed,  // The same texts, or the same trouble in reading them, as last time.
  };

  struct Counters {
    std::uint64_t succeeded = 0;  // Sets put in force, the first among them.
    std::uint64_t failed = 0;     // Attempts that changed nothing because something was wrong.
  };

  RuleReloader(Read read, Publish publish, Review review = {});

  // Reads, builds, and publishes what is good. Called once at the start, where any outcome but
  // kPublished is the caller's to refuse, and then at every sign of a change.
  Outcome Reload();

  // Puts `sources` in force instead of the running ones, because an operator says so. Once they
  // are found good, `keep` writes down what must outlive the process; where it fails, nothing
  // has changed and its error is the finding. kPublished, kUnchanged or kFailed.
  Outcome Replace(std::vector<rules::SourceText> sources,
                  const std::function<Result<void>()>& keep);

  // Of the last attempt that was not kUnchanged or kStillFailed: errors where it failed.
  [[nodiscard]] const rules::Findings& findings() const { return findings_; }
  // The first error of the last attempt; "" after a good one.
  [[nodiscard]] const std::string& last_error() const { return last_error_; }
  [[nodiscard]] const Counters& counters() const { return counters_; }
  [[nodiscard]] const std::shared_ptr<const rules::RuleSet>& running() const { return running_; }
  // The texts of the running set.
  [[nodiscard]] const std::vector<rules::SourceText>& running_sources() const {
    return running_sources_;
  }

 private:
  // nullptr if `findings` got an error.
  [[nodiscard]] std::shared_ptr<const rules::RuleSet> Build(
      const std::vector<rules::SourceText>& sources, rules::Findings& findings) const;
  void PutInForce(std::shared_ptr<const rules::RuleSet> set,
                  std::vector<rules::SourceText> sources);

  Read read_;
  Publish publish_;
  Review review_;
  std::shared_ptr<const rules::RuleSet> running_;
  std::vector<rules::SourceText> running_sources_;
  std::string failed_text_;   // Of the last Reload() that failed; "" after one that did not.
  std::string failed_error_;  // Its first error.
  rules::Findings findings_;
  std::string last_error_;
  Counters counters_;
};

}  // namespace sluice::sources
