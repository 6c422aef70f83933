#include "decode_picture.h"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string>

#if defined(LOOM_HAS_STB_IMAGE)
// Whole numbers only, the same on every machine: no instruction sets, no floats. Files are read elsewhere; PGM and PPM, too.
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
// A damaged file may leave tables and pixels unwritten: zeros, not what was in memory before, so that even such a file is the same picture every time.
#define STBI_MALLOC(size) std::calloc(1, size)
#define STBI_REALLOC(p, size) std::realloc(p, size)
#define STBI_FREE(p) std::free(p)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wunused-but-set-variable"
#include <stb/stb_image.h>
#pragma GCC diagnostic pop
#endif

namespace loom::cli {

#if defined(LOOM_HAS_STB_IMAGE)
namespace {

constexpr const char* kFormats = "PNG, JPEG, BMP or GIF";

const stbi_uc* data_of(std::span<const std::byte> bytes) { return reinterpret_cast<const stbi_uc*>(bytes.data()); }
std::uint32_t byte(std::span<const std::byte> bytes, std::size_t i) { return i < bytes.size() ? static_cast<std::uint32_t>(bytes[i]) : 0; }

Status refused(std::span<const std::byte> bytes) {
  const char* reason = stbi_failure_reason();
  const std::string said = reason ? reason : "";
  if (byte(bytes, 0) == 'R' && byte(bytes, 8) == 'W' && byte(bytes, 9) == 'E') return Status(Code::unsupported, std::string("is a WebP picture, expected ") + kFormats);
  if (said.empty() || said.starts_with("Image not of any known type")) return Status(Code::corrupt, std::string("is no picture that can be read, expected ") + kFormats);
  return Status(Code::corrupt, "cannot be decoded: " + said);
}

// stb_image fills what a JPEG, BMP or GIF lacks at its end; such a picture is none to learn from. And it trusts the lengths of a JPEG's code tables (before
// version 2.28), which the format limits to 256 codes. So both are looked at before it is asked.
Status check_jpeg(std::span<const std::byte> b) {
  std::size_t at = 2;
  while (at + 1 < b.size()) {
    const std::uint32_t marker = byte(b, at + 1);
    if (byte(b, at) != 0xFF || marker == 0xFF) {
      ++at;
    } else if (marker == 0xD9) {
      return {};
    } else if (marker <= 0x01 || (marker >= 0xD0 && marker <= 0xD8)) {  // no segment: a byte of data, a restart
      at += 2;
    } else {
      const std::size_t end = at + 2 + std::max<std::size_t>(byte(b, at + 2) * 256 + byte(b, at + 3), 2);
      for (std::size_t table = at + 4; marker == 0xC4 && table < end;) {
        std::size_t codes = 0;
        for (std::size_t i = 1; i <= 16; ++i) codes += byte(b, table + i);
        if (codes > 256) return Status(Code::corrupt, "cannot be decoded: a table of " + std::to_string(codes) + " codes, the most is 256");
        table += 17 + codes;
      }
      at = end;
    }
  }
  return Status(Code::truncated, "ends before the picture does");
}

Status check_bmp(std::span<const std::byte> b) {
  const auto four = [&](std::size_t i) { return std::uint64_t{byte(b, i)} + byte(b, i + 1) * 256ull + byte(b, i + 2) * 65536ull + byte(b, i + 3) * 16777216ull; };
  const bool old = four(14) == 12;
  const std::uint64_t width = old ? four(18) & 0xFFFF : four(18), bits = old ? byte(b, 24) : byte(b, 28);
  std::uint64_t height = old ? four(20) & 0xFFFF : four(22);
  if (height > 0x7FFFFFFF) height = 0x100000000ull - height;  // below 0: rows from the top
  const bool known = width <= STBI_MAX_DIMENSIONS && height <= STBI_MAX_DIMENSIONS;
  return known && four(10) + (width * bits + 31) / 32 * 4 * height > b.size() ? Status(Code::truncated, "ends before the picture does") : Status();
}

// The blocks up to the end of the first image.
Status check_gif(std::span<const std::byte> b) {
  const auto colors = [&](std::size_t flags) { return byte(b, flags) & 0x80 ? std::size_t{3} << ((byte(b, flags) & 7) + 1) : std::size_t{0}; };
  std::size_t at = 13 + colors(10);
  while (at < b.size()) {
    const bool image = byte(b, at) == 0x2C;
    if (!image && byte(b, at) != 0x21) return {};  // no block: stb_image says so
    at += image ? 11 + colors(at + 9) : 2;
    while (at < b.size() && byte(b, at) != 0) at += 1 + byte(b, at);
    if (at < b.size() && image) return {};
    ++at;
  }
  return Status(Code::truncated, "ends before the picture does");
}

Status check(std::span<const std::byte> b) {
  if (byte(b, 0) == 'G' && byte(b, 1) == 'I' && byte(b, 2) == 'F') return check_gif(b);
  if (byte(b, 0) == 0xFF && byte(b, 1) == 0xD8) return check_jpeg(b);
  if (byte(b, 0) == 'B' && byte(b, 1) == 'M') return check_bmp(b);
  return {};
}

Result<PictureSize> size_of(std::span<const std::byte> bytes) {
  LOOM_TRY(check(bytes));
  int width = 0, height = 0, channels = 0;
  if (!stbi_info_from_memory(data_of(bytes), static_cast<int>(bytes.size()), &width, &height, &channels)) return refused(bytes);
  return PictureSize{height < 0 ? -std::int64_t{height} : height, width};  // a BMP whose rows begin at the top says so by its sign
}

Result<Picture> decode(std::span<const std::byte> bytes) {
  LOOM_TRY(check(bytes));
  int width = 0, height = 0, channels = 0;
  const std::unique_ptr<stbi_uc, void (*)(void*)> values(stbi_load_from_memory(data_of(bytes), static_cast<int>(bytes.size()), &width, &height, &channels, 0), stbi_image_free);
  if (!values) return refused(bytes);
  // A GIF says how many channels its file could have had.
  const bool gif = byte(bytes, 0) == 'G' && byte(bytes, 1) == 'I';
  Picture picture{height, width, gif ? 4 : channels, {}};
  picture.values.assign(values.get(), values.get() + static_cast<std::size_t>(width) * static_cast<std::size_t>(height) * static_cast<std::size_t>(picture.channels));
  return picture;
}

}  // namespace

PictureDecoder picture_decoder() { return {size_of, decode}; }

#else

PictureDecoder picture_decoder() {
  const Status missing(Code::unsupported, "is no PGM or PPM picture, and this program was built without stb_image, which reads PNG, JPEG, BMP and GIF: install it (./dev setup, or Debian's libstb-dev) and build again");
  return {[missing](std::span<const std::byte>) { return Result<PictureSize>(missing); }, [missing](std::span<const std::byte>) { return Result<Picture>(missing); }};
}

#endif

}  // namespace loom::cli
