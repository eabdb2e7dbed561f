#pragma once

#include <string_view>

#include <protozero/data_view.hpp>

namespace sluice::wire {

[[nodiscard]] inline std::string_view View(const protozero::data_view& bytes) {
  return {bytes.data(), bytes.size()};
}

}  // namespace sluice::wire
