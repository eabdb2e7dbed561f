#include "doctor/spellings.h"

#include <algorithm>

#include "rules/ip_address.h"
#include "wire/ascii.h"
#include "wire/url_encoding.h"

namespace sluice::app::doctor {

namespace {

std::string Decoded(std::string_view text) {
  std::string decoded;
  wire::AppendPercentDecodedLeniently(decoded, text);
  return decoded;
}

std::string InLowerCase(std::string text) {
  std::ranges::transform(text, text.begin(), wire::ToLower);
  return text;
}

// An address in its one form, without a port; any other text as it is.
std::string WithPlainAddress(std::string text) {
  const auto address = rules::IpAddress::Parse(text);
  return address ? std::string(address->Text().view()) : text;
}

std::string WithoutEnd(std::string text) {
  while (text.size() > 1 && (text.back() == '/' || text.back() == '.')) {
    text.pop_back();
  }
  return text;
}

}  // namespace

std::string PlainSpelling(std::string_view text) {
  return WithPlainAddress(WithoutEnd(InLowerCase(Decoded(text))));
}

std::string_view DifferenceOf(std::string_view one, std::string_view other) {
  if (InLowerCase(std::string(one)) == InLowerCase(std::string(other))) {
    return "case";
  }
  if (WithoutEnd(std::string(one)) == WithoutEnd(std::string(other))) {
    return "a slash or dot at the end";
  }
  if (Decoded(one) == Decoded(other)) {
    return "percent-encoding";
  }
  if (rules::IpAddress::Parse(one) && rules::IpAddress::Parse(other)) {
    return "the form of an address, or its port";
  }
  return "several of case, encoding and ending";
}

}  // namespace sluice::app::doctor
