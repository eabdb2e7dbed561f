#pragma once

#include <cstdint>

namespace sluice::frontend {

// How it went with what a caller handed in: hold_redemption.h, charge_redemption.h.
enum class Redeemed : std::uint8_t {
  kDone,
  kNotFound,     // Nothing that was given out could be this, or it is over.
  kUnsupported,  // The store in use cannot do this.
  kUnavailable,  // The store did not answer: whether it was done is not known.
};

}  // namespace sluice::frontend
