#include "wire/http_fields.h"

#include "wire/ascii.h"

namespace sluice::wire {

unsigned HttpFields::RareBit(std::string_view name) {
  const auto bit_if = [&](std::string_view rare, RareField field) {
    return EqualsIgnoreCase(name, rare) ? static_cast<unsigned>(field) : 0;
  };
  switch (name.size()) {  // No two of these names are of one length.
    case 6:
      return bit_if("origin", RareField::kOrigin);
    case 14:
      return bit_if("sec-fetch-site", RareField::kSecFetchSite);
    case 15:
      return bit_if("idempotency-key", RareField::kIdempotencyKey);
    case 16:
      return bit_if("content-encoding", RareField::kContentEncoding);
    case 17:
      return bit_if("x-idempotency-key", RareField::kIdempotencyKey);
    default:
      return 0;
  }
}

}  // namespace sluice::wire
