#include "images/decode_image.h"

#include <algorithm>
#include <cstdlib>
#include <initializer_list>
#include <memory>
#include <string>

#if defined(LOOM_HAS_STB_IMAGE)
namespace {
// What one request may take while an image is decoded: as much as its header justifies, set by
// whoever knows it.
thread_local std::size_t max_bytes = 0;
thread_local bool asked_for_more = false;
bool may_take(std::size_t bytes) {
  if (bytes <= max_bytes) return true;
  asked_for_more = true;
  return false;
}
}  // namespace

// Whole numbers only, the same on every machine: no instruction sets, no floats. Files are read
// elsewhere; PGM and PPM, too.
#define STB_IMAGE_IMPLEMENTATION
#define STB_IMAGE_STATIC
#define STBI_NO_STDIO
#define STBI_NO_SIMD
#define STBI_NO_HDR
#define STBI_NO_LINEAR
#define STBI_ONLY_PNG
#define STBI_ONLY_JPEG
#define STBI_ONLY_BMP
#define STBI_ONLY_GIF
#define STBI_MAX_DIMENSIONS 65536
#define STBI_FAILURE_USERMSG
// A damaged file may leave tables and pixels unwritten: zeros, not what was in memory before, so
// that even such a file is the same image every time. And a small file may hold much more than
// its image takes: that is not even decoded.
#define STBI_MALLOC(size) (may_take(std::size_t(size)) ? std::calloc(1, size) : nullptr)
#define STBI_REALLOC(p, size) (may_take(std::size_t(size)) ? std::realloc(p, size) : nullptr)
#define STBI_FREE(p) std::free(p)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wunused-but-set-variable"
// Where a JPEG's data ends early it reads zeros, and before version 2.28 shifts them by 32 and
// more: undefined by the letter, and zero on every machine.
#if defined(__clang__)
#pragma clang attribute push(__attribute__((no_sanitize("shift-exponent"))), apply_to = function)
#endif
#include <stb/stb_image.h>
#if defined(__clang__)
#pragma clang attribute pop
#endif
#pragma GCC diagnostic pop
#endif

namespace loom::cli {

#if defined(LOOM_HAS_STB_IMAGE)
namespace {

const stbi_uc* data_of(std::span<const std::byte> bytes) {
  return reinterpret_cast<const stbi_uc*>(bytes.data());
}
std::uint32_t byte(std::span<const std::byte> bytes, std::size_t i) {
  return i < bytes.size() ? static_cast<std::uint32_t>(bytes[i]) : 0;
}

Status refused() {
  const char* reason = stbi_failure_reason();
  return Status(Code::corrupt,
                std::string("cannot be decoded: ") + (reason ? reason : "no reason is given"));
}

// stb_image fills what a JPEG, BMP or GIF lacks at its end; such an image is none to learn from.
// And it trusts the lengths of a JPEG's code tables (before version 2.28), which the format limits
// to 256 codes. So both are looked at before it is asked.
Status check_jpeg(std::span<const std::byte> b) {
  std::size_t at = 2;
  while (at + 1 < b.size()) {
    const std::uint32_t marker = byte(b, at + 1);
    if (byte(b, at) != 0xFF || marker == 0xFF) {
      ++at;
    } else if (marker == 0xD9) {
      return {};
    } else if (marker <= 0x01 ||
               (marker >= 0xD0 && marker <= 0xD8)) {  // no segment: a byte of data, a restart
      at += 2;
    } else {
      const std::size_t end =
          at + 2 + std::max<std::size_t>(byte(b, at + 2) * 256 + byte(b, at + 3), 2);
      for (std::size_t table = at + 4; marker == 0xC4 && table < end;) {
        std::size_t codes = 0;
        for (std::size_t i = 1; i <= 16; ++i) codes += byte(b, table + i);
        if (codes > 256)
          return Status(Code::corrupt, "cannot be decoded: a table of " + std::to_string(codes) +
                                           " codes, the most is 256");
        table += 17 + codes;
      }
      at = end;
    }
  }
  return Status(Code::truncated, "ends before the image does");
}

Status check_bmp(std::span<const std::byte> b) {
  const auto four = [&](std::size_t i) {
    return std::uint64_t{byte(b, i)} + byte(b, i + 1) * 256ull + byte(b, i + 2) * 65536ull +
           byte(b, i + 3) * 16777216ull;
  };
  const bool old = four(14) == 12;
  const std::uint64_t width = old ? four(18) & 0xFFFF : four(18),
                      bits = old ? byte(b, 24) : byte(b, 28);
  std::uint64_t height = old ? four(20) & 0xFFFF : four(22);
  if (height > 0x7FFFFFFF) height = 0x100000000ull - height;  // below 0: rows from the top
  const bool known = width <= STBI_MAX_DIMENSIONS && height <= STBI_MAX_DIMENSIONS;
  return known && four(10) + (width * bits + 31) / 32 * 4 * height > b.size()
             ? Status(Code::truncated, "ends before the image does")
             : Status();
}

// stb_image takes memory for a part before it looks whether the file holds it.
Status check_png(std::span<const std::byte> b) {
  for (std::uint64_t at = 8; at + 12 <= b.size();) {
    std::uint64_t length = 0;
    for (std::size_t i = 0; i < 4; ++i) length = length * 256 + byte(b, at + i);
    if (length > b.size() - at - 12) break;
    if (byte(b, at + 4) == 'I' && byte(b, at + 5) == 'E' && byte(b, at + 6) == 'N' &&
        byte(b, at + 7) == 'D')
      return {};
    at += 12 + length;
  }
  return Status(Code::truncated, "ends before the image does");
}

// The blocks up to the end of the first image.
Status check_gif(std::span<const std::byte> b) {
  const auto colors = [&](std::size_t flags) {
    return byte(b, flags) & 0x80 ? std::size_t{3} << ((byte(b, flags) & 7) + 1) : std::size_t{0};
  };
  std::size_t at = 13 + colors(10);
  while (at < b.size()) {
    const bool image = byte(b, at) == 0x2C;
    if (!image && byte(b, at) != 0x21) return {};  // no block: stb_image says so
    at += image ? 11 + colors(at + 9) : 2;
    while (at < b.size() && byte(b, at) != 0) at += 1 + byte(b, at);
    if (at < b.size() && image) return {};
    ++at;
  }
  return Status(Code::truncated, "ends before the image does");
}

// Nothing that is none of these comes to stb_image, which is less strict about beginnings.
Status check(std::span<const std::byte> b) {
  const auto begins = [&](std::initializer_list<std::uint32_t> with, std::size_t at = 0) {
    return std::all_of(with.begin(), with.end(),
                       [&](std::uint32_t v) { return byte(b, at++) == v; });
  };
  if (begins({0x89, 'P', 'N', 'G', '\r', '\n', 0x1A, '\n'})) return check_png(b);
  if (begins({0xFF, 0xD8})) return check_jpeg(b);
  if (begins({'B', 'M'})) return check_bmp(b);
  if (begins({'G', 'I', 'F', '8'})) return check_gif(b);
  if (begins({'R', 'I', 'F', 'F'}) && begins({'W', 'E', 'B', 'P'}, 8))
    return Status(Code::unsupported, "is a WebP image, expected PNG, JPEG, BMP or GIF");
  return Status(Code::corrupt, "is no image that can be read, expected PNG, JPEG, BMP or GIF");
}

// Tables and the like, of any image.
constexpr std::size_t kAlways = 1 << 20;

Result<ImageSize> size_of(std::span<const std::byte> bytes) {
  LOOM_TRY(check(bytes));
  max_bytes = kAlways + bytes.size();
  int width = 0, height = 0, channels = 0;
  if (!stbi_info_from_memory(data_of(bytes), static_cast<int>(bytes.size()), &width, &height,
                             &channels))
    return refused();
  return ImageSize{height < 0 ? -std::int64_t{height} : height,
                   width};  // a BMP whose rows begin at the top says so by its sign
}

Result<Image> decode(std::span<const std::byte> bytes) {
  LOOM_ASSIGN(const ImageSize size, size_of(bytes));
  // The values as they lie in the file: of 16 bits twice as many bytes, and GIF is decoded with a
  // background of its own beside.
  const std::uint64_t pixels =
      static_cast<std::uint64_t>(size.height) * static_cast<std::uint64_t>(size.width);
  const std::uint64_t each =
      stbi_is_16_bit_from_memory(data_of(bytes), static_cast<int>(bytes.size())) ? 8 : 4;
  const auto named = [&] {
    return std::to_string(size.height) + " x " + std::to_string(size.width) + " pixels";
  };
  if (pixels * each > 4 * static_cast<std::uint64_t>(kMaxPixels))
    return Status(Code::out_of_range, named() + " of " + std::to_string(each) +
                                          " bytes, the most is " + std::to_string(kMaxPixels) +
                                          " of 4");
  // JPEG pads to whole blocks. Rows of a PNG begin with a byte of their own; where they are
  // interlaced they have more of them than stb_image expects, and it then takes twice the room.
  const bool interlaced = byte(bytes, 0) == 0x89 && byte(bytes, 28) != 0;
  const std::uint64_t padded = (static_cast<std::uint64_t>(size.height) + 32) *
                               (static_cast<std::uint64_t>(size.width) + 32);
  max_bytes = kAlways +
              std::max<std::size_t>(2 * bytes.size(),
                                    static_cast<std::size_t>(padded * each * (interlaced ? 2 : 1)));
  asked_for_more = false;
  int width = 0, height = 0, channels = 0;
  const std::unique_ptr<stbi_uc, void (*)(void*)> values(
      stbi_load_from_memory(data_of(bytes), static_cast<int>(bytes.size()), &width, &height,
                            &channels, 0),
      stbi_image_free);
  if (!values && asked_for_more)
    return Status(Code::corrupt, "cannot be decoded: its data are more than " + named() + " take");
  if (!values) return refused();
  // A GIF says how many channels its file could have had.
  const bool gif = byte(bytes, 0) == 'G' && byte(bytes, 1) == 'I';
  Image image{height, width, gif ? 4 : channels, {}};
  image.values.assign(values.get(), values.get() + static_cast<std::size_t>(width) *
                                                       static_cast<std::size_t>(height) *
                                                       static_cast<std::size_t>(image.channels));
  return image;
}

}  // namespace

ImageDecoder image_decoder() { return {size_of, decode}; }

#else

ImageDecoder image_decoder() {
  const Status missing(
      Code::unsupported,
      "is no PGM or PPM image, and this program was built without stb_image, which reads PNG, "
      "JPEG, BMP and GIF: install it (./dev setup, or Debian's libstb-dev) and build again");
  return {[missing](std::span<const std::byte>) { return Result<ImageSize>(missing); },
          [missing](std::span<const std::byte>) { return Result<Image>(missing); }};
}

#endif

}  // namespace loom::cli
