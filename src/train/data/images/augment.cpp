#include "train/data/images/augment.h"

#include <algorithm>
#include <vector>

#include "base/random.h"

namespace loom {

template <class T>
void random_translate(std::span<T> image, std::int64_t height, std::int64_t width, std::int64_t max,
                      std::uint64_t seed, std::uint64_t sample) {
  constexpr std::uint64_t kStream = 0x7368696674;  // "shift"
  const RandomStream random(seed, kStream);
  const auto choices = static_cast<std::uint32_t>(2 * max + 1);
  const std::int64_t down = random.below(2 * sample, choices) - max,
                     right = random.below(2 * sample + 1, choices) - max;
  const std::vector<T> before(image.begin(), image.end());
  for (std::size_t plane = 0; plane < image.size();
       plane += static_cast<std::size_t>(height * width))
    for (std::int64_t y = 0; y < height; ++y) {
      const T* from =
          before.data() + plane + std::clamp<std::int64_t>(y - down, 0, height - 1) * width;
      T* to = image.data() + plane + y * width;
      for (std::int64_t x = 0; x < width; ++x)
        to[x] = from[std::clamp<std::int64_t>(x - right, 0, width - 1)];
    }
}

template void random_translate(std::span<float>, std::int64_t, std::int64_t, std::int64_t,
                               std::uint64_t, std::uint64_t);
template void random_translate(std::span<double>, std::int64_t, std::int64_t, std::int64_t,
                               std::uint64_t, std::uint64_t);

}  // namespace loom
