// Counter-based randomness: Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1,
// 2, 3", SC11). A draw is a pure function of (seed, stream, index): threads, batches and tiles
// cannot shift it. No clock, no global state.
#pragma once

#include <array>
#include <cstdint>

namespace loom {

std::array<std::uint32_t, 4> philox4x32(std::array<std::uint32_t, 4> counter,
                                        std::array<std::uint32_t, 2> key);

class RandomStream {
 public:
  RandomStream(std::uint64_t seed, std::uint64_t stream) : seed_(seed), stream_(stream) {}

  std::uint32_t bits(std::uint64_t index) const;
  // In [0, 1), a multiple of 2^-24.
  float uniform(std::uint64_t index) const {
    return static_cast<float>(bits(index) >> 8) * 0x1p-24f;
  }
  // In [0, bound), bound > 0; multiply-shift, so the same on every target.
  std::uint32_t below(std::uint64_t index, std::uint32_t bound) const {
    return static_cast<std::uint32_t>((std::uint64_t{bits(index)} * bound) >> 32);
  }

 private:
  std::uint64_t seed_, stream_;
};

}  // namespace loom
