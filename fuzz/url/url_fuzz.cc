// Any bytes as the query and the path segment of a status: what is read, encoded and read again
// is the same, and within its bounds.

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "wire/form_query.h"
#include "wire/url_encoding.h"

namespace {

using sluice::Attribute;
using sluice::wire::FormQuery;

bool Same(FormQuery& a, FormQuery& b) {
  const auto first = a.attributes();
  const auto second = b.attributes();
  return std::equal(first.begin(), first.end(), second.begin(), second.end(),
                    [](const Attribute& x, const Attribute& y) {
                      return x.name == y.name && x.value == y.value;
                    });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  FormQuery segment;
  if (segment.AddSegment("user_id", text)) {
    std::string encoded;
    sluice::wire::AppendPercentEncoded(encoded, segment.attributes()[0].value);
    FormQuery again;
    if (!again.AddSegment("user_id", encoded) || !Same(segment, again)) {
      std::abort();
    }
  }
  FormQuery query;
  if (query.AddQuery(text)) {
    std::string encoded;
    for (const Attribute& attribute : query.attributes()) {
      if (attribute.name.size() > FormQuery::kLimits.name_bytes ||
          attribute.value.size() > FormQuery::kLimits.value_bytes) {
        std::abort();
      }
      sluice::wire::AppendPercentEncoded(encoded, attribute.name);
      encoded.push_back('=');
      sluice::wire::AppendPercentEncoded(encoded, attribute.value);
      encoded.push_back('&');
    }
    FormQuery again;
    if (query.attributes().size() > FormQuery::kLimits.members || !again.AddQuery(encoded) ||
        !Same(query, again)) {
      std::abort();
    }
  }
  return 0;
}
