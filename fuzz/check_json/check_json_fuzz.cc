// Any bytes as the body of a check: an answer or a problem with a place; and what is read,
// written again as JSON, reads as the same.

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "wire/check_json.h"
#include "wire/json_writer.h"

namespace {

using sluice::Attribute;
using sluice::wire::CheckJson;
using sluice::wire::CheckRequest;
using sluice::wire::JsonWriter;

void Check(bool condition) {
  if (!condition) {
    std::abort();
  }
}

std::string Written(const CheckRequest& request) {
  std::string text;
  JsonWriter json(text);
  json.BeginObject().Name("cost").Number(request.cost.units);
  json.Name("peek").Truth(request.peek).Name("wait").Truth(request.wait);
  json.Name("reserve").Truth(request.reserve).Name("receipt").Truth(request.receipt);
  json.Name("attributes").BeginObject();
  for (const Attribute& attribute : request.attributes) {
    json.EscapedName(attribute.name).Text(attribute.value);
  }
  json.EndObject().EndObject();
  return text;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static CheckJson check;  // Reused, as a connection reuses it: nothing may be left over.
  const std::string_view body(reinterpret_cast<const char*>(data), size);
  const auto parsed = check.Parse(body);
  if (!parsed) {
    Check(parsed.error().offset <= size && parsed.error().line > 0 && parsed.error().column > 0);
    Check(!parsed.error().message.empty());
    return 0;
  }
  Check(check.request().cost.units >= 0 && check.request().cost.units <= sluice::kMaxUnits);
  const std::string once = Written(check.request());
  CheckJson again;
  Check(again.Parse(once).has_value());
  Check(Written(again.request()) == once);
  return 0;
}
