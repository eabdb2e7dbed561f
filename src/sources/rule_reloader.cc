#include "sources/rule_reloader.h"

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

}  // namespace

RuleReloader::RuleReloader(Read read, Publish publish)
    : read_(std::move(read)), publish_(std::move(publish)) {}

RuleReloader::Outcome RuleReloader::Reload() {
  auto sources = read_();
  rules::Findings findings;
  std::shared_ptr<const rules::RuleSet> set;
  std::string text;
  if (sources.has_value()) {
    text = Joined(*sources);
    if (running_ != nullptr && text == running_text_) {
      failed_text_.clear();
      last_error_.clear();
      return Outcome::kUnchanged;
    }
    if (text == failed_text_) {
      ++counters_.failed;
      return Outcome::kStillFailed;
    }
    set = rules::RuleSet::Build(*sources, running_.get(), findings);
  } else {
    text = "unread\n" + sources.error().Text();
    if (text == failed_text_) {
      ++counters_.failed;
      return Outcome::kStillFailed;
    }
    findings.errors.push_back(std::move(sources.error()));
  }
  findings_ = std::move(findings);
  if (set == nullptr) {
    ++counters_.failed;
    failed_text_ = std::move(text);
    last_error_ = findings_.errors.front().Text();
    return Outcome::kFailed;
  }
  ++counters_.succeeded;
  running_ = std::move(set);
  running_text_ = std::move(text);
  failed_text_.clear();
  last_error_.clear();
  publish_(running_, findings_);
  return Outcome::kPublished;
}

}  // namespace sluice::sources
