// Every one of the 2^32 floats to f16, bf16, fp8e4m3, fp8e5m2 and fp4 against a rounding written
// with doubles; prints a line per type. Run by hand at a release (minutes):
//   c++ -std=c++20 -O2 -ffp-contract=off -Isrc tests/release/codecs_all.cpp -o codecs_all &&
//   ./codecs_all
#include <cmath>
#include <cstdio>

#include "numeric/codec.h"

namespace {

using namespace loom;

// x rounded to the format's grid: adding and subtracting 1.5 * 2^52 units rounds a double to a
// multiple of the unit, ties to even.
float reference(float x, const SmallFloat& f) {
  const double a = std::fabs(static_cast<double>(x));
  int e = 0;
  std::frexp(a, &e);
  int unit = e - 1 - f.mantissa_bits;
  if (unit < 1 - f.bias - f.mantissa_bits) unit = 1 - f.bias - f.mantissa_bits;
  const double magic = std::ldexp(1.5, 52 + unit);
  double y = (a + magic) - magic;
  const double top = static_cast<double>(decode_small_float(f.max_code, f));
  if (y > top) y = f.over_code == f.max_code ? top : HUGE_VAL;
  return static_cast<float>(std::copysign(y, static_cast<double>(x)));
}

int check(const char* name, const SmallFloat& f) {
  std::uint64_t wrong = 0;
  for (std::uint64_t u = 0; u < std::uint64_t{1} << 32; ++u) {
    const float x = std::bit_cast<float>(static_cast<std::uint32_t>(u));
    const std::uint32_t code = encode_small_float(x, f);
    if (x != x) {
      wrong += code != f.nan_code;
      continue;
    }
    wrong += std::bit_cast<std::uint32_t>(decode_small_float(code, f)) !=
             std::bit_cast<std::uint32_t>(reference(x, f));
  }
  std::printf("%-8s 4294967296 inputs, %llu wrong\n", name, static_cast<unsigned long long>(wrong));
  std::fflush(stdout);
  return wrong != 0;
}

}  // namespace

int main() {
  return check("f16", kF16) | check("bf16", kBf16) | check("fp8e4m3", kFp8e4m3) |
         check("fp8e5m2", kFp8e5m2) | check("fp4", kFp4);
}
