#include "sources/rule_reloader.h"

#include <algorithm>
#include <utility>

namespace sluice::sources {

namespace {

// Tells apart lists of sources; lengths keep two splits of one text apart.
std::string Joined(const std::vector<rules::SourceText>& sources) {
  std::string joined = "read\n";
  for (const rules::SourceText& source : sources) {
    joined += std::to_string(source.name.size()) + ' ' + std::to_string(source.text.size()) +
              (source.is_configuration ? " c\n" : "\n") + source.name + source.text;
  }
  return joined;
}

bool Same(const std::vector<rules::SourceText>& a, const std::vector<rules::SourceText>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const rules::SourceText& one, const rules::SourceText& other) {
                      return one.is_configuration == other.is_configuration &&
                             one.name == other.name && one.text == other.text;
                    });
}

}  // namespace

RuleReloader::RuleReloader(Read read, Publish publish, Review review)
    : read_(std::move(read)), publish_(std::move(publish)), review_(std::move(review)) {}

std::shared_ptr<const rules::RuleSet> RuleReloader::Build(
    const std::vector<rules::SourceText>& sources, rules::Findings& findings) const {
  auto set = rules::RuleSet::Build(sources, running_.get(), findings);
  if (set != nullptr && review_) {
    review_(*set, findings);
  }
  return findings.errors.empty() ? set : nullptr;
}

RuleReloader::Outcome RuleReloader::Reload() {
  auto sources = read_();
  rules::Findings findings;
  std::shared_ptr<const rules::RuleSet> set;
  std::string text;
  if (sources.has_value()) {
    text = Joined(*sources);
    if (running_ != nullptr && Same(*sources, running_sources_)) {
      failed_text_.clear();
      last_error_.clear();
      return Outcome::kUnchanged;
    }
    if (text == failed_text_) {
      ++counters_.failed;
      last_error_ = failed_error_;
      return Outcome::kStillFailed;
    }
    set = Build(*sources, findings);
  } else {
    text = "unread";
    for (const Error& error : sources.error()) {
      text += '\n' + error.Text();
    }
    if (text == failed_text_) {
      ++counters_.failed;
      last_error_ = failed_error_;
      return Outcome::kStillFailed;
    }
    findings.errors = std::move(sources.error());
  }
  findings_ = std::move(findings);
  if (set == nullptr) {
    ++counters_.failed;
    failed_text_ = std::move(text);
    failed_error_ = findings_.errors.front().Text();
    last_error_ = failed_error_;
    return Outcome::kFailed;
  }
  failed_text_.clear();
  PutInForce(std::move(set), *std::move(sources));
  return Outcome::kPublished;
}

// What was wrong with the sources that are read stays noted: it is not theirs that changed.
RuleReloader::Outcome RuleReloader::Replace(std::vector<rules::SourceText> sources,
                                            const std::function<Result<void>()>& keep) {
  if (running_ != nullptr && Same(sources, running_sources_)) {
    return Outcome::kUnchanged;
  }
  findings_ = {};
  auto set = Build(sources, findings_);
  if (set != nullptr) {
    if (auto kept = keep(); !kept) {
      findings_.errors.push_back(std::move(kept.error()));
      set = nullptr;
    }
  }
  if (set == nullptr) {
    ++counters_.failed;
    last_error_ = findings_.errors.front().Text();
    return Outcome::kFailed;
  }
  PutInForce(std::move(set), std::move(sources));
  return Outcome::kPublished;
}

void RuleReloader::PutInForce(std::shared_ptr<const rules::RuleSet> set,
                              std::vector<rules::SourceText> sources) {
  ++counters_.succeeded;
  running_ = std::move(set);
  running_sources_ = std::move(sources);
  last_error_.clear();
  publish_(running_, findings_);
}

}  // namespace sluice::sources
