// What a CPU kernel gets. Plain data and no standard library: kernel files are compiled once per
// instruction set, and an inline function of a header compiled for AVX-512 must never be the copy
// that the linker keeps for everybody.
#pragma once

#include "numeric/dtype_ids.h"
#include "ops/lowering/weight_arg.h"

namespace loom::cpu {

using i64 = long long;

struct TensorArg {
  char* data = nullptr;
  i64 rows = 0;    // in this run
  i64 cols = 0;    // of the view
  i64 stride = 0;  // elements between rows; the view's first element is at data
};

using enum dtype_ids::Id;
using enum layout_ids::Id;
struct KernelArgs {
  TensorArg t[12];
  bool has[12];
  const WeightArg* weight = nullptr;  // operand 0 of the ops that take a weight matrix
  bool partial =
      false;  // sums over rows go on in another instruction, which needs them as they are
  const void* attributes = nullptr;  // of lowered ops that have their own (lowering/lowered.h)
  i64 ints[24];
  double reals[5];
  unsigned u32s[5];
  double register_reals[5];
  const unsigned* page_table = nullptr;  // kv ops: page of (sequence, block of 64 positions)
  i64 pages_per_sequence = 0;
  unsigned* dynamic_rows = nullptr;  // route_rows: where its count goes
  char* scratch = nullptr;           // this worker's own
  int worker = 0, workers = 1;
};

using Kernel = void (*)(const KernelArgs&);

// The rows, or other units, [begin, end) of n that a worker owns; `grain` keeps a unit of work
// together.
struct Range {
  i64 begin, end;
};
static inline Range share(i64 n, i64 grain, int worker, int workers) {
  const i64 units = (n + grain - 1) / grain;
  const i64 begin = units * worker / workers * grain, end = units * (worker + 1) / workers * grain;
  return {begin < n ? begin : n, end < n ? end : n};
}

// What goes to memory when an instruction writes x: an f32 below 2^-40 as 0, so that no product or
// sum of stored values is subnormal on any device (numerics rule 8), and every NaN as the one
// canonical NaN (rule 8).
template <int Exponent>
static inline float stored_above(float x) {
  constexpr float kFirst = __builtin_bit_cast(float, (127 + Exponent) << 23);
  const float settled = __builtin_fabsf(x) < kFirst ? 0 : x;
  return x == x ? settled : __builtin_nanf("");
}
template <int>
static inline double stored_above(double x) {
  return x == x ? x : __builtin_bit_cast(double, 0x7FF8000000000000ll);
}
template <class T>
static inline T stored(T x) {
  return stored_above<-40>(x);
}

}  // namespace loom::cpu
