#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <nghttp2/nghttp2.h>

namespace sluice::wire {

// The fields of a header or of trailers as nghttp2 takes them. Views: the texts stay alive and
// unmoved until they are sent.
// NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): only the first size() are read.
class Http2FieldList {
 public:
  // Most answers have fewer; more are cut off, which ours never are.
  static constexpr std::size_t kMost = 64;

  void Add(std::string_view name, std::string_view value) {
    if (size_ < kMost) {
      fields_[size_++] = {.name = Bytes(name),
                          .value = Bytes(value),
                          .namelen = name.size(),
                          .valuelen = value.size(),
                          .flags = NGHTTP2_NV_FLAG_NO_COPY_NAME | NGHTTP2_NV_FLAG_NO_COPY_VALUE};
    }
  }

  [[nodiscard]] const nghttp2_nv* data() const { return fields_.data(); }
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  static std::uint8_t* Bytes(std::string_view text) {
    return reinterpret_cast<std::uint8_t*>(const_cast<char*>(text.data()));
  }

  std::array<nghttp2_nv, kMost> fields_;
  std::size_t size_ = 0;
};

}  // namespace sluice::wire
