// Images that move a little each time they are seen, so that a network learns what they show and
// not where.
#pragma once

#include <cstdint>
#include <span>

namespace loom {

// Moves an image [..., height, width] by 0 to `most` pixels up or down and left or right; what
// comes in repeats the edge. How far is a function of (seed, sample):
// docs/reference/training-spec.md, "Order of samples".
template <class T>  // float or double
void random_translate(std::span<T> image, std::int64_t height, std::int64_t width, std::int64_t max,
                      std::uint64_t seed, std::uint64_t sample);

}  // namespace loom
