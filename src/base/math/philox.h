// The rounds of Philox4x32-10 (base/random.h), for those that draw several blocks at once.
#pragma once

#include <array>
#include <cstdint>

namespace loom {

// A block begins as its counter and is its four numbers after the rounds.
struct PhiloxBlock {
  std::uint32_t a, b, c, d;

  PhiloxBlock(std::uint64_t index, std::uint64_t stream)
      : a(static_cast<std::uint32_t>(index)),
        b(static_cast<std::uint32_t>(index >> 32)),
        c(static_cast<std::uint32_t>(stream)),
        d(static_cast<std::uint32_t>(stream >> 32)) {}

  void round(std::uint32_t key_0, std::uint32_t key_1) {
    const std::uint64_t p = std::uint64_t{0xD2511F53u} * a;
    const std::uint64_t q = std::uint64_t{0xCD9E8D57u} * c;
    a = static_cast<std::uint32_t>(q >> 32) ^ b ^ key_0;
    b = static_cast<std::uint32_t>(q);
    c = static_cast<std::uint32_t>(p >> 32) ^ d ^ key_1;
    d = static_cast<std::uint32_t>(p);
  }
};

// The ten rounds of all blocks. Those of one block wait for each other: two take little longer.
template <class... Blocks>
inline void philox_rounds(std::array<std::uint32_t, 2> key, Blocks&... blocks) {
  for (int i = 0; i < 10; ++i) {
    (blocks.round(key[0], key[1]), ...);
    key[0] += 0x9E3779B9u;
    key[1] += 0xBB67AE85u;
  }
}

}  // namespace loom
