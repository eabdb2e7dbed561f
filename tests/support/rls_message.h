#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <protozero/pbf_reader.hpp>
#include <protozero/pbf_writer.hpp>

// Messages of envoy.service.ratelimit.v3 as a client writes and reads them.
namespace sluice::support {

struct RlsDescriptorText {
  std::vector<std::pair<std::string, std::string>> entries;
  std::optional<std::pair<std::uint32_t, std::uint32_t>> limit{};  // Requests, unit.
  std::optional<std::uint64_t> hits{};
  bool negative = false;
};

inline std::string RlsRequestMessage(const std::string& domain,
                                     const std::vector<RlsDescriptorText>& descriptors,
                                     std::uint32_t hits = 0) {
  std::string bytes;
  protozero::pbf_writer request(bytes);
  request.add_string(1, domain);
  for (const RlsDescriptorText& text : descriptors) {
    protozero::pbf_writer descriptor(request, 2);
    for (const auto& [key, value] : text.entries) {
      protozero::pbf_writer entry(descriptor, 1);
      entry.add_string(1, key);
      entry.add_string(2, value);
    }
    if (text.limit) {
      protozero::pbf_writer limit(descriptor, 2);
      limit.add_uint32(1, text.limit->first);
      limit.add_enum(2, static_cast<int>(text.limit->second));
    }
    if (text.hits) {
      protozero::pbf_writer value(descriptor, 3);
      value.add_uint64(1, *text.hits);
    }
    if (text.negative) {
      descriptor.add_bool(4, true);
    }
  }
  if (hits != 0) {
    request.add_uint32(3, hits);
  }
  return bytes;
}

// The overall code of a response; 0 where it has none.
inline int RlsOverallCode(const std::string& bytes) {
  protozero::pbf_reader response(bytes);
  return response.next(1) ? static_cast<int>(response.get_enum()) : 0;
}

}  // namespace sluice::support
