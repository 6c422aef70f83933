// Images: PGM and PPM, and, where stb_image is, every other format as the program decodes it. The
// same bytes are the same image, and an image fits.
#include "train/data/images/image.h"

#include <algorithm>

#include "fuzz.h"

#if __has_include(<stb/stb_image.h>)
#define LOOM_HAS_STB_IMAGE
#endif
#include "../../apps/cli/images/decode_image.cpp"

FUZZ_TARGET(data, size) {
  using namespace loom;
  const std::vector<std::byte> bytes(reinterpret_cast<const std::byte*>(data),
                                     reinterpret_cast<const std::byte*>(data) + size);
  const ImageDecoder decoder = cli::image_decoder();
  const auto message = image_size(bytes, decoder);
  if (!message.ok()) {
    fuzz::check_refusal(message.status().at("input"));
    return;
  }
  FUZZ_CHECK(message->height > 0 && message->width > 0 &&
             message->height <= kMaxPixels / message->width);
  if (message->height * message->width > 1 << 18)
    return;  // memory is what the image takes, however small the file
  const auto image = read_image(bytes, decoder), again = read_image(bytes, decoder);
  FUZZ_CHECK(image.status().to_string() == again.status().to_string());
  if (!image.ok()) {
    fuzz::check_refusal(image.status().at("input"));
    return;
  }
  FUZZ_CHECK(image->values == again->values && image->height == message->height &&
             image->width == message->width);
  FUZZ_CHECK(static_cast<std::int64_t>(image->values.size()) ==
             image->height * image->width * image->channels);
  std::vector<std::uint8_t> out(3 * 8 * 16);
  fit(*image, {3, 8, 16}, out);
  // Means lie between the least and the largest.
  FUZZ_CHECK(*std::max_element(out.begin(), out.end()) <=
             *std::max_element(image->values.begin(), image->values.end()));
  FUZZ_CHECK(*std::min_element(out.begin(), out.end()) >=
             *std::min_element(image->values.begin(), image->values.end()));
}
