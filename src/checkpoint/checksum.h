// XXH64 (the xxHash fast digest algorithm specification, section "XXH64", seed 0): the checksum
// that a tensor's bytes are held against when they are first touched. It runs at memory speed,
// where SHA-256 would cost more than the first token does. It finds damage, not forgery: identity
// is SHA-256's. Plain value, no state shared: any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace loom {

class Xxh64 {
 public:
  Xxh64();
  void update(std::span<const std::byte> data);
  std::uint64_t finish() const;
  static std::uint64_t of(std::span<const std::byte> data);

 private:
  std::array<std::uint64_t, 4> lanes_;
  std::array<std::byte, 32> rest_;  // total_ % 32 bytes that no stripe holds yet
  std::uint64_t total_ = 0;
};

}  // namespace loom
