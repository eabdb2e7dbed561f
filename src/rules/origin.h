#pragma once

#include <cstdint>
#include <string_view>

namespace sluice::rules {

// What kind of source a rule is from. Where several have a rule of one id, the later named here
// is in force and the others are not.
enum class Origin : std::uint8_t { kFile, kEtcd, kApi };

// Of a source of this name: "etcd:..." and "api:..." say what they are, all else is a file.
[[nodiscard]] constexpr Origin OriginOf(std::string_view source) {
  return source.starts_with("api:")    ? Origin::kApi
         : source.starts_with("etcd:") ? Origin::kEtcd
                                       : Origin::kFile;
}

// How operators know it.
[[nodiscard]] constexpr std::string_view NameOf(Origin origin) {
  return origin == Origin::kApi ? "api" : origin == Origin::kEtcd ? "etcd" : "file";
}

}  // namespace sluice::rules
