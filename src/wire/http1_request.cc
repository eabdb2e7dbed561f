#include "wire/http1_request.h"

#include "wire/ascii.h"

namespace sluice::wire {
namespace {

const HttpField* Find(const std::vector<HttpField>& fields, std::string_view name) {
  for (const HttpField& field : fields) {
    if (EqualsIgnoreCase(field.name, name)) {
      return &field;
    }
  }
  return nullptr;
}

}  // namespace

std::string_view Http1Request::Field(std::string_view name) const {
  const HttpField* field = Find(fields, name);
  return field != nullptr ? field->value : std::string_view();
}

bool Http1Request::HasField(std::string_view name) const {
  return Find(fields, name) != nullptr;
}

}  // namespace sluice::wire
