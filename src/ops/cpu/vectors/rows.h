// How the workers of a kernel share the rows or the elements of its result.
#pragma once

#include "ops/cpu/vectors/simd.h"

namespace loom::cpu::LOOM_ISA {

template <class T, class F>
static inline void each_row(const KernelArgs& k, const TensorArg& y, F f) {
  const Range r = share(y.rows, 1, k.worker, k.workers);
  for (i64 i = r.begin; i < r.end; ++i) f(i);
}
// Few rows, many columns (decoding) are split by columns, so that all workers have work.
// schedule.cpp relies on the cut.
template <class T, class F>
static inline void each_element(const KernelArgs& k, const TensorArg& y, F f) {
  const bool by_rows = y.rows >= k.workers;  // one call of f: it is inlined once
  const Range r = by_rows ? share(y.rows, 1, k.worker, k.workers) : Range{0, y.rows},
              c = by_rows ? Range{0, y.cols} : share(y.cols, 16, k.worker, k.workers);
  for (i64 i = r.begin; i < r.end; ++i) f(i, c.begin, c.end);
}

}  // namespace loom::cpu::LOOM_ISA
