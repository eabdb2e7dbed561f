#include "rules/condition.h"

#include <algorithm>

namespace sluice::rules {

namespace {

re2::StringPiece Piece(std::string_view text) {
  return {text.data(), text.size()};
}

}  // namespace

bool Pattern::Holds(const BoundAttribute& value) const {
  switch (kind) {
    case Kind::kExact:
      return value.text() == text;
    case Kind::kPrefix:
      return value.text().starts_with(text);
    case Kind::kRegex:
      return re2::RE2::FullMatch(Piece(value.text()), *regex);
    case Kind::kCidr:
      break;
  }
  const auto& address = value.address();
  return address.has_value() && cidr.Contains(*address);
}

bool Pattern::Covers(const Pattern& other) const {
  if (kind == other.kind && text == other.text) {
    return true;
  }
  switch (kind) {
    case Kind::kExact:
      return false;
    case Kind::kPrefix:
      return text.empty() || ((other.kind == Kind::kExact || other.kind == Kind::kPrefix) &&
                              other.text.starts_with(text));
    case Kind::kRegex:
      return other.kind == Kind::kExact && re2::RE2::FullMatch(Piece(other.text), *regex);
    case Kind::kCidr:
      break;
  }
  return other.kind == Kind::kCidr && cidr.Contains(other.cidr);
}

bool Pattern::Excludes(const Pattern& other) const {
  if (kind == Kind::kCidr && other.kind == Kind::kCidr) {
    return !cidr.Contains(other.cidr) && !other.cidr.Contains(cidr);
  }
  if (kind == Kind::kExact && other.kind == Kind::kExact) {
    return text != other.text;
  }
  if (kind == Kind::kExact) {
    return (other.kind == Kind::kPrefix || other.kind == Kind::kRegex) && !other.Covers(*this);
  }
  if (other.kind == Kind::kExact) {
    return other.Excludes(*this);
  }
  return kind == Kind::kPrefix && other.kind == Kind::kPrefix && !text.starts_with(other.text) &&
         !other.text.starts_with(text);
}

std::string Pattern::Text() const {
  switch (kind) {
    case Kind::kExact:
      return text;
    case Kind::kPrefix:
      return text + "*";
    case Kind::kRegex:
      return "{regex: " + text + "}";
    case Kind::kCidr:
      break;
  }
  return "{cidr: " + text + "}";
}

bool Condition::Holds(const BoundRequest& request) const {
  const BoundAttribute* value = request.Get(attribute);
  return value != nullptr && std::any_of(any_of.begin(), any_of.end(),
                                         [&](const Pattern& p) { return p.Holds(*value); });
}

bool Condition::Covers(const Condition& other) const {
  return attribute == other.attribute &&
         std::all_of(other.any_of.begin(), other.any_of.end(), [&](const Pattern& theirs) {
           return std::any_of(any_of.begin(), any_of.end(),
                              [&](const Pattern& ours) { return ours.Covers(theirs); });
         });
}

bool Condition::Excludes(const Condition& other) const {
  return attribute == other.attribute &&
         std::all_of(any_of.begin(), any_of.end(), [&](const Pattern& ours) {
           return std::all_of(other.any_of.begin(), other.any_of.end(),
                              [&](const Pattern& theirs) { return ours.Excludes(theirs); });
         });
}

std::string Condition::Text() const {
  std::string joined;
  for (const Pattern& pattern : any_of) {
    joined += (joined.empty() ? "" : ", ") + pattern.Text();
  }
  return any_of.size() == 1 ? joined : "[" + joined + "]";
}

bool AllHold(const Conditions& conditions, const BoundRequest& request) {
  return std::all_of(conditions.begin(), conditions.end(),
                     [&](const Condition& c) { return c.Holds(request); });
}

bool AnyCovered(const Condition& wide, const Conditions& narrow) {
  return std::any_of(narrow.begin(), narrow.end(),
                     [&](const Condition& c) { return wide.Covers(c); });
}

bool Covers(const Conditions& wide, const Conditions& narrow) {
  return std::all_of(wide.begin(), wide.end(),
                     [&](const Condition& c) { return AnyCovered(c, narrow); });
}

std::string TextOf(const Conditions& conditions, const AttributeTable& attributes) {
  std::string joined;
  for (const Condition& condition : conditions) {
    joined += (joined.empty() ? "" : ", ") + attributes.name(condition.attribute) + ": " +
              condition.Text();
  }
  return joined;
}

}  // namespace sluice::rules
