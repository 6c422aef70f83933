// Host side of noise.def: shapes, memory, devices, calls.
#include "ops/op_check.h"
#include "ops/program_builder.h"

namespace loom {
namespace {

bool noise_shape(OpCheck& c) {
  for (int i = 0; i < 4; ++i)
    if (!c.require(c.integer(i) >= 0 && c.integer(i) <= UINT32_MAX, "seed and stream are words"))
      return false;
  return c.require(c.alike({0, 1}), "x and y differ in type or shape");
}
bool gumbel_shape(OpCheck& c) { return noise_shape(c); }
bool dropout_shape(OpCheck& c) {
  if (!noise_shape(c)) return false;
  return c.require(c.integer(4) >= 0 && c.integer(4) <= 1 << 24, "drop is above 2^24");
}
std::int64_t word(std::uint64_t v) { return static_cast<std::int64_t>(v & 0xFFFFFFFF); }

}  // namespace

View ProgramBuilder::dropout(View x, const Noise& noise, double rate) {
  const View y = like(x, x.cols);
  append(Op::dropout, {x, y},
         {word(noise.seed), word(noise.seed >> 32), word(noise.stream), word(noise.stream >> 32),
          static_cast<std::int64_t>(rate * 0x1p24 + 0.5)},
         {1 / (1 - rate)}, {noise.run});
  return y;
}
View ProgramBuilder::gumbel(View x, const Noise& noise) {
  const View y = like(x, x.cols);
  append(Op::gumbel, {x, y},
         {word(noise.seed), word(noise.seed >> 32), word(noise.stream), word(noise.stream >> 32)},
         {}, {noise.run});
  return y;
}

#define LOOM_FAMILY noise
#define LOOM_FAMILY_ROWS "ops/noise/noise.def"
#include "ops/op_rows.h"

}  // namespace loom
