#pragma once

#include <cstdint>
#include <string_view>

namespace sluice::app {

// Why files are read.
enum class ReloadCause : std::uint8_t {
  kStart,
  kFilesChanged,
  kOperator,  // SIGHUP. It gets an answer in the log each time, also where nothing is new.
};

// As the log names it.
[[nodiscard]] constexpr std::string_view NameOf(ReloadCause cause) {
  switch (cause) {
    case ReloadCause::kStart:
      return "start";
    case ReloadCause::kFilesChanged:
      return "files changed";
    case ReloadCause::kOperator:
      return "SIGHUP";
  }
  return "";
}

}  // namespace sluice::app
