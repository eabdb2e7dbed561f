#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace sluice::wire {

// One header field; the value without the white space around it.
struct HttpField {
  std::string_view name;
  std::string_view value;
};

// Names that every check is asked for and that few requests have. Whether a field of such a name
// is there is noted when it is added, so that checks need not search for it.
enum class RareField : std::uint8_t {
  kOrigin = 1,
  kSecFetchSite = 2,
  kContentEncoding = 4,
  kIdempotencyKey = 8,  // X-Idempotency-Key too.
};

// The fields of one header, in order.
class HttpFields {
 public:
  void push_back(const HttpField& field) {
    rare_ |= RareBit(field.name);
    fields_.push_back(field);
  }
  void clear() {
    rare_ = 0;
    fields_.clear();
  }
  void reserve(std::size_t count) { fields_.reserve(count); }

  [[nodiscard]] bool Has(RareField name) const {
    return (rare_ & static_cast<unsigned>(name)) != 0;
  }

  [[nodiscard]] std::size_t size() const { return fields_.size(); }
  [[nodiscard]] auto begin() const { return fields_.begin(); }
  [[nodiscard]] auto end() const { return fields_.end(); }
  [[nodiscard]] auto rbegin() const { return fields_.rbegin(); }
  [[nodiscard]] auto rend() const { return fields_.rend(); }

  // Lets `move` put each name and value elsewhere. It keeps their bytes as they are.
  template <typename Move>
  void MoveTexts(const Move& move) {
    for (HttpField& field : fields_) {
      move(field.name);
      move(field.value);
    }
  }

 private:
  // The bit of a RareField, 0 of any other name.
  [[nodiscard]] static unsigned RareBit(std::string_view name);

  std::vector<HttpField> fields_;
  unsigned rare_ = 0;
};

}  // namespace sluice::wire
