#include "base/random.h"

#include "base/math/philox.h"

namespace loom {

std::array<std::uint32_t, 4> philox4x32(std::array<std::uint32_t, 4> c,
                                        std::array<std::uint32_t, 2> k) {
  PhiloxBlock block(std::uint64_t{c[1]} << 32 | c[0], std::uint64_t{c[3]} << 32 | c[2]);
  philox_rounds(k, block);
  return {block.a, block.b, block.c, block.d};
}

std::uint32_t RandomStream::bits(std::uint64_t index) const {
  const std::uint64_t block = index / 4;
  const auto out =
      philox4x32({static_cast<std::uint32_t>(block), static_cast<std::uint32_t>(block >> 32),
                  static_cast<std::uint32_t>(stream_), static_cast<std::uint32_t>(stream_ >> 32)},
                 {static_cast<std::uint32_t>(seed_), static_cast<std::uint32_t>(seed_ >> 32)});
  return out[index % 4];
}

}  // namespace loom
