#include "genome/units.h"

namespace loom::genome {

double dot(const float* a, const float* b, std::int64_t count) {
  double chain[8] = {};
  std::int64_t i = 0;
  for (; i + 8 <= count; i += 8)
    for (int k = 0; k < 8; ++k) chain[k] += double{a[i + k]} * double{b[i + k]};
  for (int k = 0; i < count; ++i, ++k) chain[k] += double{a[i]} * double{b[i]};
  return ((chain[0] + chain[4]) + (chain[1] + chain[5])) +
         ((chain[2] + chain[6]) + (chain[3] + chain[7]));
}

}  // namespace loom::genome
