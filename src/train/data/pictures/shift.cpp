#include "train/data/pictures/shift.h"

#include <algorithm>
#include <vector>

#include "base/random.h"

namespace loom {

template <class T>
void shift_picture(std::span<T> picture, std::int64_t height, std::int64_t width, std::int64_t most,
                   std::uint64_t seed, std::uint64_t sample) {
  constexpr std::uint64_t kStream = 0x7368696674;  // "shift"
  const RandomStream random(seed, kStream);
  const auto choices = static_cast<std::uint32_t>(2 * most + 1);
  const std::int64_t down = random.below(2 * sample, choices) - most,
                     right = random.below(2 * sample + 1, choices) - most;
  const std::vector<T> before(picture.begin(), picture.end());
  for (std::size_t plane = 0; plane < picture.size();
       plane += static_cast<std::size_t>(height * width))
    for (std::int64_t y = 0; y < height; ++y) {
      const T* from =
          before.data() + plane + std::clamp<std::int64_t>(y - down, 0, height - 1) * width;
      T* to = picture.data() + plane + y * width;
      for (std::int64_t x = 0; x < width; ++x)
        to[x] = from[std::clamp<std::int64_t>(x - right, 0, width - 1)];
    }
}

template void shift_picture(std::span<float>, std::int64_t, std::int64_t, std::int64_t,
                            std::uint64_t, std::uint64_t);
template void shift_picture(std::span<double>, std::int64_t, std::int64_t, std::int64_t,
                            std::uint64_t, std::uint64_t);

}  // namespace loom
