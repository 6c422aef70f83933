// SHA-256 (FIPS 180-4). Names numerics results, programs, tensors and files.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace loom {

class Sha256 {
 public:
  using Digest = std::array<std::uint8_t, 32>;

  Sha256();
  void update(std::span<const std::byte> data);
  // Values are hashed as their little-endian bytes, whatever the host.
  void update_f32(std::span<const float> values);
  void update_f64(std::span<const double> values);
  void update_u64(std::uint64_t value);
  // Length-prefixed, so that ("a","bc") and ("ab","c") differ.
  void update_text(std::string_view text);
  Digest finish();  // the object is spent afterwards

  static Digest of(std::span<const std::byte> data);
  static std::string hex(const Digest& digest);

 private:
  void block(const std::uint8_t* p);
  std::array<std::uint32_t, 8> h_;
  std::array<std::uint8_t, 64> buffer_{};
  std::size_t used_ = 0;
  std::uint64_t total_ = 0;
};

}  // namespace loom
