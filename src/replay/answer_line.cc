#include <array>
#include <charconv>

#include "sluice/reason.h"

#include "replay/events.h"

namespace sluice::replay {

namespace {

void AppendInteger(std::string& out, std::int64_t value) {
  std::array<char, 24> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  out.append(digits.data(), end);
}

void AppendUnits(std::string& out, Units units) {
  if (units == kUnlimited) {
    out += "null";
  } else {
    AppendInteger(out, units);
  }
}

void AppendWait(std::string& out, Duration wait) {
  if (wait >= Decision::kUnknown) {  // Unknown and never.
    out += "null";
  } else {
    AppendInteger(out, wait.count());
  }
}

void AppendTruth(std::string& out, bool truth) {
  out += truth ? "true" : "false";
}

// As a JSON string (RFC 8259, section 7). Bytes that are not UTF-8 are written unchanged.
void AppendText(std::string& out, std::string_view text) {
  constexpr std::string_view kHex = "0123456789abcdef";
  out += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += "\\u00";
      out += kHex[static_cast<unsigned char>(c) >> 4U];
      out += kHex[static_cast<unsigned char>(c) & 0xFU];
    } else {
      out += c;
    }
  }
  out += '"';
}

void AppendNumbers(std::string& out, const Decision& decision, Duration wait) {
  out += ", \"limit\": ";
  AppendUnits(out, decision.limit);
  out += ", \"remaining\": ";
  AppendUnits(out, decision.remaining);
  out += ", \"retry_after_ns\": ";
  AppendWait(out, decision.retry_after);
  out += ", \"reset_after_ns\": ";
  AppendWait(out, decision.reset_after);
  out += ", \"wait_ns\": ";
  AppendWait(out, wait);
}

void AppendDecision(std::string& out, const service::RuleDecision& made) {
  out += "{\"name\": ";
  AppendText(out, made.rule->id);
  out += ", \"allowed\": ";
  AppendTruth(out, made.decision.allowed);
  AppendNumbers(out, made.decision, made.decision.wait);
  out += ", \"reason\": ";
  AppendText(out, RowOf(made.decision.reason).name);
  out += ", \"shadow\": ";
  AppendTruth(out, made.decision.shadow);
  out += '}';
}

}  // namespace

void AppendAnswer(std::string& out, WallInstant at, const service::Verdict& verdict) {
  out += "{\"t_ns\": ";
  AppendInteger(out, at.time_since_epoch().count());
  out += ", \"allowed\": ";
  AppendTruth(out, verdict.allowed);
  // If no enforced rule applies, nothing is counted, as if everything were unlimited.
  const service::RuleDecision* governing = verdict.governing_decision();
  AppendNumbers(out,
                governing == nullptr ? Decision{.limit = kUnlimited, .remaining = kUnlimited}
                                     : governing->decision,
                verdict.wait);
  out += ", \"decisions\": [";
  for (std::size_t i = 0; i < verdict.decisions.size(); ++i) {
    if (i != 0) {
      out += ", ";
    }
    AppendDecision(out, verdict.decisions[i]);
  }
  out += "]}\n";
}

void AppendBadLine(std::string& out, std::int64_t line, std::string_view error) {
  out += "{\"line\": ";
  AppendInteger(out, line);
  out += ", \"error\": ";
  AppendText(out, error);
  out += "}\n";
}

}  // namespace sluice::replay
