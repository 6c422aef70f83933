// Images: PGM and PPM, and, where stb_image is, every other format as the program decodes it. The
// same bytes are the same picture, and a picture fits.
#include "train/data/pictures/picture.h"

#include <algorithm>

#include "fuzz.h"

#if __has_include(<stb/stb_image.h>)
#define LOOM_HAS_STB_IMAGE
#endif
#include "../../apps/cli/decode_picture.cpp"

FUZZ_TARGET(data, size) {
  using namespace loom;
  const std::vector<std::byte> bytes(reinterpret_cast<const std::byte*>(data),
                                     reinterpret_cast<const std::byte*>(data) + size);
  const PictureDecoder decoder = cli::picture_decoder();
  const auto said = picture_size(bytes, decoder);
  if (!said.ok()) {
    fuzz::check_refusal(said.status().at("input"));
    return;
  }
  FUZZ_CHECK(said->height > 0 && said->width > 0 && said->height <= kMostPixels / said->width);
  if (said->height * said->width > 1 << 18)
    return;  // memory is what the picture takes, however small the file
  const auto picture = read_picture(bytes, decoder), again = read_picture(bytes, decoder);
  FUZZ_CHECK(picture.status().to_string() == again.status().to_string());
  if (!picture.ok()) {
    fuzz::check_refusal(picture.status().at("input"));
    return;
  }
  FUZZ_CHECK(picture->values == again->values && picture->height == said->height &&
             picture->width == said->width);
  FUZZ_CHECK(static_cast<std::int64_t>(picture->values.size()) ==
             picture->height * picture->width * picture->channels);
  std::vector<std::uint8_t> out(3 * 8 * 16);
  fit(*picture, {3, 8, 16}, out);
  // Means lie between the least and the largest.
  FUZZ_CHECK(*std::max_element(out.begin(), out.end()) <=
             *std::max_element(picture->values.begin(), picture->values.end()));
  FUZZ_CHECK(*std::min_element(out.begin(), out.end()) >=
             *std::min_element(picture->values.begin(), picture->values.end()));
}
