#include "doctor/report.h"

#include <algorithm>
#include <array>
#include <cctype>

#include <fmt/format.h>

#include "base/display_text.h"
#include "command.h"
#include "wire/json_writer.h"

namespace sluice::app::doctor {

namespace {

constexpr std::size_t kReportWidth = 100;

std::string PlaceText(const Place& place) {
  if (place.file.empty() || place.line == 0) {
    return place.file;
  }
  return fmt::format("{}:{}:{}", place.file, place.line, place.column);
}

// A sentence: a period at its end, and its first letter in upper case unless it begins a URL.
std::string Sentence(std::string text) {
  if (text.empty()) {
    return text;
  }
  if (text.substr(0, text.find(' ')).find(':') == std::string::npos) {
    text.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(text.front())));
  }
  return text + '.';
}

void AppendFinding(const Finding& finding, std::string& text) {
  const std::string place = PlaceText(finding.place);
  text += fmt::format("\n{}  {}{}{}\n", NameOf(finding.severity), finding.check,
                      place.empty() ? "" : "  ", place);
  const std::string seen = Sentence(finding.seen);
  const std::string follows = Sentence(finding.follows);
  text += Wrapped(seen + (follows.empty() ? "" : " ") + follows, "  ", kReportWidth);
  if (!finding.remedy.empty()) {
    text += Wrapped("Remedy: " + finding.remedy, "  ", kReportWidth);
  }
}

void AppendLooks(const std::vector<Look>& looks, std::string_view heading, std::string& text) {
  if (looks.empty()) {
    return;
  }
  text += fmt::format("{}:\n", heading);
  for (const Look& look : looks) {
    text += fmt::format("  {}: {}\n", look.what, look.found);
  }
}

std::string Summary(const FindingList& findings) {
  std::array<std::size_t, 3> counts{};
  for (const Finding& finding : findings) {
    ++counts[static_cast<std::size_t>(finding.severity)];
  }
  std::string text;
  for (const Severity severity : {Severity::kProblem, Severity::kWarning, Severity::kNote}) {
    const std::size_t count = counts[static_cast<std::size_t>(severity)];
    if (count > 0) {
      text += fmt::format("{}{} {}{}", text.empty() ? "" : ", ", count, NameOf(severity),
                          count == 1 ? "" : "s");
    }
  }
  return text;
}

}  // namespace

std::string ReportText(const Gathered& gathered, const FindingList& findings) {
  std::string text;
  AppendLooks(gathered.looked_at, "looked at", text);
  AppendLooks(gathered.skipped, "not looked at", text);
  AppendLooks(gathered.failed, "could not look at", text);
  for (const Finding& finding : findings) {
    AppendFinding(finding, text);
  }
  const bool all_notes = std::ranges::all_of(
      findings, [](const Finding& finding) { return finding.severity == Severity::kNote; });
  const std::string verdict = all_notes && gathered.failed.empty() ? "nothing wrong" : "";
  if (!findings.empty()) {
    text += fmt::format("\n{}{}{} (docs/doctor.md explains each)\n", verdict,
                        verdict.empty() ? "" : "; ", Summary(findings));
  } else if (!verdict.empty()) {
    text += verdict + "\n";
  }
  return base::DisplayText(text, base::LineFeeds::kKept);
}

std::string ReportJson(const Gathered& gathered, const FindingList& findings) {
  std::string body;
  wire::JsonWriter json(body);
  const auto add_looks = [&](std::string_view name, std::string_view found,
                             const std::vector<Look>& looks) {
    json.Name(name).BeginArray();
    for (const Look& look : looks) {
      json.BeginObject().Name("what").Text(look.what).Name(found).Text(look.found).EndObject();
    }
    json.EndArray();
  };
  json.BeginObject();
  add_looks("looked_at", "found", gathered.looked_at);
  add_looks("skipped", "why", gathered.skipped);
  add_looks("failed", "why", gathered.failed);
  json.Name("findings").BeginArray();
  for (const Finding& finding : findings) {
    json.BeginObject();
    json.Name("check").Text(finding.check);
    json.Name("severity").Text(NameOf(finding.severity));
    json.Name("seen").Text(finding.seen);
    json.Name("follows").Text(finding.follows);
    json.Name("remedy").Text(finding.remedy);
    if (!finding.place.file.empty()) {
      json.Name("file").Text(finding.place.file);
    }
    if (finding.place.line > 0) {
      json.Name("line").Number(finding.place.line).Name("column").Number(finding.place.column);
    }
    json.EndObject();
  }
  json.EndArray().EndObject();
  return body + '\n';
}

}  // namespace sluice::app::doctor
