#pragma once

#include <cstdint>
#include <span>

namespace sluice::base {

// SplitMix64 (Steele, Lea, Flood 2014): one addition and two multiplications a number. For jitter,
// for choices among equals and for names that only have to differ. From one number the others can
// be computed, so unguessable values come from FillWithSecretBytes(). One thread.
class Random {
 public:
  // Equal seeds give equal numbers.
  explicit Random(std::uint64_t seed) : state_(seed) {}

  // Any number of 64 bits; each once in 2^64.
  [[nodiscard]] std::uint64_t Next() {
    std::uint64_t z = (state_ += 0x9E3779B97F4A7C15U);
    z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
    return z ^ (z >> 31U);
  }

  // From `least` to `most`, both included. `least` <= `most`, less than 2^63 apart. Even, but for
  // what the width of the range is to 2^64.
  [[nodiscard]] std::int64_t Between(std::int64_t least, std::int64_t most) {
    __extension__ using Wide = unsigned __int128;
    const auto width = static_cast<std::uint64_t>(most - least) + 1;
    return least + static_cast<std::int64_t>((Wide{Next()} * width) >> 64U);
  }

  // From 0 up to, and not including, 1.
  [[nodiscard]] double Fraction() { return static_cast<double>(Next() >> 11U) * 0x1p-53; }

 private:
  std::uint64_t state_;
};

// The calling thread's own generator, seeded by the kernel.
[[nodiscard]] Random& ThreadRandom();

// A number that no call in any thread returned before, as likely as 2^64 numbers can tell; never 0.
[[nodiscard]] std::uint64_t UniqueNumber();

// Unguessable bytes from the kernel (getrandom). For secrets and for seeds of hashes whose
// collisions a client could search for. Any thread.
void FillWithSecretBytes(std::span<std::uint8_t> bytes);

}  // namespace sluice::base
