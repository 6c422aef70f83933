#include "train/data/images/exif.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace loom {
namespace {

// Numbers of a part of a file, in either order of bytes; 0 past its end.
struct Part {
  std::span<const std::byte> bytes;
  bool little = false;
  std::uint32_t number(std::size_t at, std::size_t size) const {
    std::uint32_t value = 0;
    if (at > bytes.size() || bytes.size() - at < size) return 0;
    for (std::size_t i = 0; i < size; ++i)
      value = value << 8 | static_cast<std::uint32_t>(bytes[at + (little ? size - 1 - i : i)]);
    return value;
  }
};

// In the first directory of a TIFF structure, which an Exif segment is.
int orientation_in(std::span<const std::byte> tiff) {
  constexpr std::uint32_t kOrientation = 0x0112, kShort = 3;
  Part part{tiff};
  part.little = part.number(0, 2) == 0x4949;  // "II"; else "MM"
  if ((!part.little && part.number(0, 2) != 0x4D4D) || part.number(2, 2) != 42) return 1;
  const std::size_t directory = part.number(4, 4), entries = part.number(directory, 2);
  for (std::size_t i = 0; i < entries; ++i) {
    const std::size_t at = directory + 2 + 12 * i;
    if (at + 12 > tiff.size()) return 1;
    if (part.number(at, 2) != kOrientation) continue;
    const std::uint32_t value = part.number(at + 8, 2);
    return part.number(at + 2, 2) == kShort && part.number(at + 4, 4) == 1 && value >= 1 &&
                   value <= 8
               ? static_cast<int>(value)
               : 1;
  }
  return 1;
}

}  // namespace

int orientation_of(std::span<const std::byte> jpeg) {
  const Part file{jpeg};
  if (file.number(0, 2) != 0xFFD8) return 1;
  for (std::size_t at = 2; at + 4 <= jpeg.size();) {
    const std::uint32_t marker = file.number(at, 2), length = file.number(at + 2, 2);
    if (marker == 0xFFFF) {  // a byte of filling
      ++at;
      continue;
    }
    // Segments stand before the image's data, which begins with its own.
    if (marker < 0xFFC0 || marker == 0xFFDA || marker == 0xFFD9 || length < 2 ||
        length > jpeg.size() - at - 2)
      return 1;
    const auto segment = jpeg.subspan(at + 4, length - 2);
    if (marker == 0xFFE1 && segment.size() >= 6 && std::memcmp(segment.data(), "Exif\0\0", 6) == 0)
      return orientation_in(segment.subspan(6));
    at += 2 + length;
  }
  return 1;
}

Image upright(Image stored, int orientation) {
  if (orientation == 1) return stored;
  const bool turned = lies(orientation),
             from_last_row =
                 orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7,
             from_last_column =
                 orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8;
  Image seen{turned ? stored.width : stored.height,
             turned ? stored.height : stored.width,
             stored.channels,
             {}};
  seen.values.resize(stored.values.size());
  auto to = seen.values.begin();
  for (std::int64_t y = 0; y < seen.height; ++y)
    for (std::int64_t x = 0; x < seen.width; ++x) {
      const std::int64_t r = turned ? x : y, c = turned ? y : x;
      const std::int64_t row = from_last_row ? stored.height - 1 - r : r,
                         column = from_last_column ? stored.width - 1 - c : c;
      to = std::copy_n(stored.values.begin() + (row * stored.width + column) * stored.channels,
                       stored.channels, to);
    }
  return seen;
}

}  // namespace loom
