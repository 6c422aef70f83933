#include "images/register_decoder.h"

#include <loom/loom.h>

#include <algorithm>
#include <cstring>

#include "images/decode_image.h"

namespace loom::cli {
namespace {

std::int32_t report(const Status& status, loom_error* error) {
  error->code = static_cast<std::int32_t>(status.code());
  std::strncpy(error->message, status.message().c_str(), sizeof error->message - 1);
  return error->code;
}

std::span<const std::byte> bytes_of(const void* file, std::size_t size) {
  return {static_cast<const std::byte*>(file), size};
}

std::int32_t measure(void*, const void* file, std::size_t size, std::int64_t* height,
                     std::int64_t* width, loom_error* error) {
  const auto found = image_decoder().size(bytes_of(file, size));
  if (!found.ok()) return report(found.status(), error);
  *height = found->height;
  *width = found->width;
  return LOOM_OK;
}

std::int32_t decode(void*, const void* file, std::size_t size, std::int64_t* height,
                    std::int64_t* width, std::int64_t* channels, loom_bytes* pixels,
                    loom_error* error) {
  const auto image = image_decoder().decode(bytes_of(file, size));
  if (!image.ok()) return report(image.status(), error);
  *height = image->height;
  *width = image->width;
  *channels = image->channels;
  loom_bytes made = 0;
  void* data = nullptr;
  std::uint64_t count = 0;
  if (const auto code = loom_bytes_create(image->values.size(), &made, error); code != LOOM_OK)
    return code;
  if (const auto code = loom_bytes_data(made, &data, &count, error); code != LOOM_OK) return code;
  std::copy(image->values.begin(), image->values.end(), static_cast<std::uint8_t*>(data));
  *pixels = made;
  return LOOM_OK;
}

}  // namespace

void register_image_decoder() {
  loom_image_decoder decoder{};
  decoder.size = sizeof decoder;
  decoder.measure = measure;
  decoder.decode = decode;
  loom_image_decoder_register(&decoder, nullptr);
}

}  // namespace loom::cli
