// Rows walk down trees, several at a time: a walk waits for one load after another, so that its
// lanes are other rows, or other trees of the same row where rows are few.
#pragma once

#include "ops/cpu/vectors/rows.h"
#include "ops/cpu/vectors/simd.h"
#include "ops/trees/layout.h"

namespace loom::cpu::LOOM_ISA {

inline constexpr int kTreeLanes = 8;

struct TreeForest {
  const unsigned* heads;
  const unsigned* nodes;
  int bits;
};

// Moves every lane from the node at[i] to its leaf.
template <int L, bool Missing>
static inline void descend(const TreeForest& f, const float* const* x, unsigned* at) {
  const unsigned features = (1u << f.bits) - 1;
  const int shift = f.bits + 1;
  unsigned leaves;
  do {
    leaves = ~0u;
    LOOM_UNROLL for (int i = 0; i < L; ++i) {
      const unsigned* node = f.nodes + 2 * static_cast<unsigned long long>(at[i]);
      const unsigned word = node[1];
      const float value = x[i][word & features], threshold = __builtin_bit_cast(float, node[0]);
      bool right = !(value <= threshold);
      if (Missing) right &= !(value != value && (word >> f.bits & 1));
      at[i] += static_cast<unsigned>(static_cast<int>(word) >> shift) + right;
      leaves &= word;
    }
  } while (static_cast<int>(leaves) >= 0);
}

template <int L>
static inline void descend(const TreeForest& f, const float* const* x, unsigned* at, bool missing) {
  if (missing) descend<L, true>(f, x, at);
  else descend<L, false>(f, x, at);
}

struct TreeSums {
  i64 trees, outputs;
  bool single;
  const TreeForest& forest;

  // Adds what the leaf at node `at` of tree t holds.
  template <class T>
  void add(i64 t, unsigned at, const T* values, double* sum) const {
    const i64 leaf = forest.heads[t * kTreeWords + 2] +
                     (forest.nodes[2 * static_cast<unsigned long long>(at)] & kLeafNumber);
    if (single) {
      sum[t % outputs] += values[leaf];
      return;
    }
    for (i64 o = 0; o < outputs; ++o) sum[o] += values[leaf * outputs + o];
  }
  // All trees of one row.
  template <class T>
  void row(const float* x, bool missing, const T* values, double* sum) const {
    const float* rows[kTreeLanes];
    for (int i = 0; i < kTreeLanes; ++i) rows[i] = x;
    for (i64 t0 = 0; t0 < trees; t0 += kTreeLanes) {
      unsigned at[kTreeLanes];
      for (int i = 0; i < kTreeLanes; ++i)
        at[i] = forest.heads[min(t0 + i, trees - 1) * kTreeWords];
      descend<kTreeLanes>(forest, rows, at, missing);
      for (int i = 0; i < kTreeLanes && t0 + i < trees; ++i) add(t0 + i, at[i], values, sum);
    }
  }
  // All trees of `count` rows, a multiple of the lanes.
  template <class T>
  void block(const float* x, i64 stride, i64 count, const unsigned char* missing, const T* values,
             double* sums) const {
    for (i64 t = 0; t < trees; ++t)
      for (i64 r = 0; r < count; r += kTreeLanes) {
        const float* rows[kTreeLanes];
        unsigned at[kTreeLanes];
        for (int i = 0; i < kTreeLanes; ++i) {
          rows[i] = x + (r + i) * stride;
          at[i] = forest.heads[t * kTreeWords];
        }
        descend<kTreeLanes>(forest, rows, at, missing[r / kTreeLanes]);
        for (int i = 0; i < kTreeLanes; ++i) add(t, at[i], values, sums + (r + i) * outputs);
      }
  }
};

// Whether one of n values is none.
static inline bool any_missing(const float* x, i64 n) {
  int found = 0;
  for (i64 i = 0; i < n; ++i) found |= x[i] != x[i];
  return found != 0;
}

template <class T>
static void trees(const KernelArgs& k) {
  const TensorArg &x = k.t[0], &y = k.t[4];
  const unsigned* table = reinterpret_cast<const unsigned*>(k.t[1].data);
  const T *values = reinterpret_cast<const T*>(k.t[2].data), *base = row<T>(k.t[3], 0);
  const i64 trees = k.ints[0], outputs = y.cols;
  const TreeForest forest{table, table + trees * kTreeWords, static_cast<int>(k.ints[4])};
  const TreeSums sum{trees, outputs, k.ints[1] != 0, forest};
  const double over =
      k.ints[2] == 0 ? 1.0 : static_cast<double>(sum.single ? trees / outputs : trees);
  const i64 block = tree_rows(k.t[1].cols, trees, outputs);
  auto* sums = reinterpret_cast<double*>(k.scratch);
  auto* missing = reinterpret_cast<unsigned char*>(sums + block * outputs);
  auto* copies = reinterpret_cast<float*>(missing + (block + 63) / 64 * 64);
  const Range range = share(y.rows, kTreeLanes, k.worker, k.workers);
  for (i64 r0 = range.begin; r0 < range.end; r0 += block) {
    const i64 count = min(block, range.end - r0), lanes = count / kTreeLanes * kTreeLanes;
    const float* from = reinterpret_cast<const float*>(row<T>(x, r0));
    i64 stride = x.stride;
    if (sizeof(T) == 8) {
      for (i64 r = 0; r < count; ++r)
        for (i64 c = 0; c < x.cols; ++c)
          copies[r * x.cols + c] = static_cast<float>(row<T>(x, r0 + r)[c]);
      from = copies;
      stride = x.cols;
    }
    for (i64 r = 0; r < count; ++r)
      for (i64 o = 0; o < outputs; ++o) sums[r * outputs + o] = base[o];
    for (i64 g = 0; g < (count + kTreeLanes - 1) / kTreeLanes; ++g) {
      missing[g] = 0;
      for (i64 r = g * kTreeLanes; k.ints[3] && r < min(count, (g + 1) * kTreeLanes); ++r)
        missing[g] |= any_missing(from + r * stride, x.cols);
    }
    sum.block(from, stride, lanes, missing, values, sums);
    for (i64 r = lanes; r < count; ++r)
      sum.row(from + r * stride, missing[r / kTreeLanes], values, sums + r * outputs);
    for (i64 r = 0; r < count; ++r)
      for (i64 o = 0; o < outputs; ++o)
        row<T>(y, r0 + r)[o] = stored(static_cast<T>(sums[r * outputs + o] / over));
  }
}

}  // namespace loom::cpu::LOOM_ISA
