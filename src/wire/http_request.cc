#include "wire/http_request.h"

#include <algorithm>
#include <array>

#include "wire/ascii.h"

namespace sluice::wire {

namespace {

// The characters of a URI without a fragment.
constexpr std::array<bool, 256> TargetBytes() {
  std::array<bool, 256> bytes{};
  std::fill(bytes.begin() + 0x21, bytes.begin() + 0x7f, true);
  bytes['#'] = false;
  return bytes;
}
constexpr std::array<bool, 256> kTargetBytes = TargetBytes();

const HttpField* Find(const HttpFields& fields, std::string_view name) {
  for (const HttpField& field : fields) {
    if (EqualsIgnoreCase(field.name, name)) {
      return &field;
    }
  }
  return nullptr;
}

}  // namespace

HttpMethod MethodOf(std::string_view text) {
  if (text == "POST") {
    return HttpMethod::kPost;
  }
  if (text == "GET") {
    return HttpMethod::kGet;
  }
  if (text == "HEAD") {
    return HttpMethod::kHead;
  }
  if (text == "PUT") {
    return HttpMethod::kPut;
  }
  if (text == "PATCH") {
    return HttpMethod::kPatch;
  }
  if (text == "DELETE") {
    return HttpMethod::kDelete;
  }
  return text == "OPTIONS" ? HttpMethod::kOptions : HttpMethod::kOther;
}

bool SplitTarget(HttpRequest& request) {
  std::string_view rest = request.target;
  if (!std::ranges::all_of(rest,
                           [](char c) { return kTargetBytes[static_cast<unsigned char>(c)]; })) {
    return false;
  }
  request.path = {};
  request.query = {};
  if (!rest.starts_with('/')) {
    // The absolute form, which a server must accept (RFC 9112, 3.2.2), or a target without a path:
    // "*", "host:port".
    const std::size_t scheme = EqualsIgnoreCase(rest.substr(0, 7), "http://")    ? 7
                               : EqualsIgnoreCase(rest.substr(0, 8), "https://") ? 8
                                                                                 : 0;
    if (scheme == 0) {
      return true;
    }
    rest.remove_prefix(std::min(rest.find_first_of("/?", scheme), rest.size()));
  }
  const std::size_t mark = rest.find('?');
  request.path = rest.substr(0, mark);
  if (mark != std::string_view::npos) {
    request.query = rest.substr(mark + 1);
  }
  if (request.path.empty()) {
    request.path = "/";
  }
  return true;
}

std::string_view HttpRequest::Field(std::string_view name) const {
  const HttpField* field = Find(fields, name);
  return field != nullptr ? field->value : std::string_view();
}

bool HttpRequest::HasField(std::string_view name) const {
  return Find(fields, name) != nullptr;
}

std::string_view HttpRequest::TraceParent() const {
  return HasSeveral("traceparent") ? std::string_view() : Field("traceparent");
}

bool HttpRequest::HasSeveral(std::string_view name) const {
  return std::ranges::count_if(fields, [name](const HttpField& field) {
           return EqualsIgnoreCase(field.name, name);
         }) > 1;
}

unsigned HttpFields::RareBit(std::string_view name) {
  const auto bit_if = [&](std::string_view rare, RareField field) {
    return EqualsIgnoreCase(name, rare) ? static_cast<unsigned>(field) : 0;
  };
  switch (name.size()) {  // All of these names have different lengths.
    case 6:
      return bit_if("origin", RareField::kOrigin);
    case 11:
      return bit_if("traceparent", RareField::kTraceParent);
    case 12:
      return bit_if("x-request-id", RareField::kRequestId);
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

namespace {

bool ListNames(std::string_view list, std::string_view tag, TagComparison comparison) {
  for (;;) {
    list.remove_prefix(std::min(list.find_first_not_of(" \t,"), list.size()));
    const bool is_weak = list.starts_with("W/");
    list.remove_prefix(is_weak ? 2 : 0);
    const std::size_t end = list.starts_with('"') ? list.find('"', 1) : std::string_view::npos;
    if (end == std::string_view::npos) {
      return false;
    }
    if (list.substr(0, end + 1) == tag && (!is_weak || comparison == TagComparison::kWeak)) {
      return true;
    }
    list.remove_prefix(end + 1);
    if (list.find_first_not_of(" \t") != list.find(',')) {
      return false;  // Unexpected text between a tag and its comma.
    }
  }
}

}  // namespace

bool NamesEntity(const HttpRequest& request, std::string_view name, std::string_view tag,
                 TagComparison comparison) {
  return !tag.empty() && std::ranges::any_of(request.fields, [&](const HttpField& field) {
    return EqualsIgnoreCase(field.name, name) &&
           (field.value == "*" || ListNames(field.value, tag, comparison));
  });
}

}  // namespace sluice::wire
