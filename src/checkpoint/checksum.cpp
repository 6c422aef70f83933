#include "checkpoint/checksum.h"

#include <algorithm>
#include <bit>

#include "base/files/bytes.h"

namespace loom {
namespace {

constexpr std::uint64_t kPrime1 = 0x9E3779B185EBCA87, kPrime2 = 0xC2B2AE3D27D4EB4F,
                        kPrime3 = 0x165667B19E3779F9, kPrime4 = 0x85EBCA77C2B2AE63,
                        kPrime5 = 0x27D4EB2F165667C5;
constexpr std::size_t kStripe = 32;

std::uint64_t round(std::uint64_t lane, std::uint64_t input) {
  return std::rotl(lane + input * kPrime2, 31) * kPrime1;
}

}  // namespace

Xxh64::Xxh64() : lanes_{kPrime1 + kPrime2, kPrime2, 0, 0 - kPrime1} {}

void Xxh64::update(std::span<const std::byte> data) {
  const auto stripe = [this](const std::byte* p) {
    for (std::size_t i = 0; i < 4; ++i)
      lanes_[i] = round(lanes_[i], load_le<std::uint64_t>(p + 8 * i));
  };
  const std::size_t held = total_ % kStripe;
  total_ += data.size();
  if (held + data.size() < kStripe) {
    std::copy(data.begin(), data.end(), rest_.begin() + static_cast<std::ptrdiff_t>(held));
    return;
  }
  if (held > 0) {
    std::copy_n(data.begin(), kStripe - held, rest_.begin() + static_cast<std::ptrdiff_t>(held));
    stripe(rest_.data());
    data = data.subspan(kStripe - held);
  }
  for (; data.size() >= kStripe; data = data.subspan(kStripe)) stripe(data.data());
  std::copy(data.begin(), data.end(), rest_.begin());
}

std::uint64_t Xxh64::finish() const {
  std::uint64_t h = kPrime5;
  if (total_ >= kStripe) {
    h = std::rotl(lanes_[0], 1) + std::rotl(lanes_[1], 7) + std::rotl(lanes_[2], 12) +
        std::rotl(lanes_[3], 18);
    for (const std::uint64_t lane : lanes_) h = (h ^ round(0, lane)) * kPrime1 + kPrime4;
  }
  h += total_;
  std::span<const std::byte> rest(rest_.data(), total_ % kStripe);
  for (; rest.size() >= 8; rest = rest.subspan(8))
    h = std::rotl(h ^ round(0, load_le<std::uint64_t>(rest.data())), 27) * kPrime1 + kPrime4;
  if (rest.size() >= 4) {
    h = std::rotl(h ^ load_le<std::uint32_t>(rest.data()) * kPrime1, 23) * kPrime2 + kPrime3;
    rest = rest.subspan(4);
  }
  for (const std::byte b : rest)
    h = std::rotl(h ^ std::to_integer<std::uint64_t>(b) * kPrime5, 11) * kPrime1;
  h = (h ^ h >> 33) * kPrime2;
  h = (h ^ h >> 29) * kPrime3;
  return h ^ h >> 32;
}

std::uint64_t Xxh64::of(std::span<const std::byte> data) {
  Xxh64 hash;
  hash.update(data);
  return hash.finish();
}

}  // namespace loom
