#include "c_api/calls/images.h"

#include "c_api/call.h"

using namespace loom;
using namespace loom::c_api;

namespace {

// A decoder of the host's; shared by the trainings that were opened with it.
class HostDecoder {
 public:
  explicit HostDecoder(const loom_image_decoder& host) : host_(host) {}
  HostDecoder(const HostDecoder&) = delete;
  HostDecoder& operator=(const HostDecoder&) = delete;
  ~HostDecoder() {
    if (host_.release) host_.release(host_.user);
  }
  Result<ImageSize> measure(std::span<const std::byte> file) const {
    loom_error error{};
    ImageSize size;
    LOOM_TRY(status_of(
        host_.measure(host_.user, file.data(), file.size(), &size.height, &size.width, &error),
        error));
    return size;
  }
  Result<Image> decode(std::span<const std::byte> file) const {
    loom_error error{};
    Image image;
    loom_bytes pixels = 0;
    LOOM_TRY(status_of(host_.decode(host_.user, file.data(), file.size(), &image.height,
                                    &image.width, &image.channels, &pixels, &error),
                       error));
    NewHandle owned(pixels);
    LOOM_ASSIGN(const auto bytes, get<Bytes>(pixels));
    LOOM_ASSIGN(const std::int64_t area, product("image", image.height, image.width));
    LOOM_ASSIGN(const std::int64_t values, product("image", area, image.channels));
    LOOM_TRY(expect_count("image", bytes->size, values));
    const auto* first = reinterpret_cast<const std::uint8_t*>(bytes->data);
    image.values.assign(first, first + bytes->size);
    return image;
  }

 private:
  static Status status_of(std::int32_t code, loom_error& error) {
    if (code == LOOM_OK) return {};
    error.message[sizeof error.message - 1] = 0;
    const bool known = code > LOOM_OK && code <= LOOM_BUSY;
    return Status(known ? static_cast<Code>(code) : Code::internal,
                  error.message[0] != 0 ? error.message : "failed, without a message");
  }
  loom_image_decoder host_;
};

struct Registered {
  locks::mutex mutex;
  std::shared_ptr<const HostDecoder> decoder;
};
Registered& registered() {
  static Registered one;
  return one;
}

}  // namespace

ImageDecoder c_api::image_decoder() {
  Registered& r = registered();
  const locks::unique_lock lock(r.mutex);
  if (!r.decoder) return {};
  return {[d = r.decoder](std::span<const std::byte> file) { return d->measure(file); },
          [d = r.decoder](std::span<const std::byte> file) { return d->decode(file); }};
}

extern "C" {

int32_t loom_image_decoder_register(const loom_image_decoder* decoder, loom_error* error) {
  return call(error, [&]() -> Status {
    if (!decoder || decoder->size != sizeof(loom_image_decoder) || !decoder->measure ||
        !decoder->decode)
      return Status(Code::invalid_argument,
                    "decoder: expects a loom_image_decoder with its size, measure and decode");
    auto made = std::make_shared<const HostDecoder>(*decoder);
    Registered& r = registered();
    {
      const locks::unique_lock lock(r.mutex);
      std::swap(r.decoder, made);
    }
    return {};  // the one before is released outside the lock
  });
}

int32_t loom_image_decoder_unregister(loom_error* error) {
  return call(error, [&]() -> Status {
    std::shared_ptr<const HostDecoder> before;
    Registered& r = registered();
    const locks::unique_lock lock(r.mutex);
    std::swap(r.decoder, before);
    return {};
  });
}

}  // extern "C"
