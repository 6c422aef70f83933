// Images of bytes, and how one becomes the input of a network: its largest centred part of the
// wanted proportions, scaled by area averages in whole numbers, so that every machine has the same
// bytes. PGM and PPM are read here; every other format is the caller's decoder's work. Plain data.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/json/json.h"
#include "base/status.h"

namespace loom {

struct ImageSize {
  std::int64_t height = 0, width = 0;
};

// Rows of pixels, top first, the channels of a pixel together.
struct Image {
  std::int64_t height = 0, width = 0;
  std::int64_t channels = 1;  // 1: grey, 2: grey and alpha, 3: red, green, blue, 4: those and alpha
  std::vector<std::uint8_t> values;
};

// As the file stores it: what a JPEG says of how it was held (exif.h) is not the decoder's work.
// Both take the bytes of a file, and say of bad ones what is wrong, without a name. Empty: no
// format but PGM and PPM is read.
struct ImageDecoder {
  std::function<Result<ImageSize>(std::span<const std::byte>)> size;  // without decoding it
  std::function<Result<Image>(std::span<const std::byte>)> decode;    // of that size
};

inline constexpr std::int64_t kMaxPixels = std::int64_t{64} << 20;  // of one image

// As a person sees it. Errors: unsupported where there is no decoder for it; out_of_range: more
// than kMaxPixels; else what is wrong with the bytes.
Result<ImageSize> image_size(std::span<const std::byte> bytes, const ImageDecoder& decoder);
// Colour, or grey where no pixel has one; what is transparent lies on white.
Result<Image> read_image(std::span<const std::byte> bytes, const ImageDecoder& decoder);

// What a network takes: channels x height x width.
struct ImageForm {
  std::int64_t channels = 1, height = 0, width = 0;
  std::int64_t values() const { return channels * height * width; }
  Json to_json() const;
  static Result<ImageForm> from_json(const Json& json);
};

// One size for a collection. A single size with no side over 64 stays; a larger single size is
// scaled so that its longer side is 64. Several sizes become a square: its side is the median of
// the shorter sides, rounded down to a multiple of 8, from 8 to 64. Precondition: sizes.
ImageSize common_size(std::span<const ImageSize> sizes);

// Fills out[channels][height][width] from the largest centred part of the form's proportions. Each
// value is the mean of the area it covers, rounded to nearest, halves up. Grey of a colour is (77
// red + 150 green + 29 blue) / 256. Preconditions: `image` as read_image gives it, out.size()
// == form.values().
void fit(const Image& image, const ImageForm& form, std::span<std::uint8_t> out);

}  // namespace loom
