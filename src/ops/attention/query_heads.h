// Queries of the inference forms of attention: rows x heads, and how workers share them.
#pragma once

#include "ops/attention/attention_scores.h"
#include "ops/cpu/vectors/rows.h"

namespace loom::cpu::LOOM_ISA {

// One head of one query row, for both inference forms: unit u of rows x heads; blocks first..last
// hold the positions it may see.
struct QueryHead {
  i64 row, head, kv_head, position, first, last;
  const unsigned* pages;
};
static inline QueryHead query_head(const KernelArgs& a, i64 u) {
  const i64 heads = a.ints[0], window = a.ints[3], capacity = a.pages_per_sequence * kBlock,
            i = u / heads, h = u % heads;
  const i64 given = *row<unsigned>(a.t[3], i),
            p = given < capacity ? given : capacity - 1;  // the executor has refused such positions
  return {i,
          h,
          h / (heads / a.ints[1]),
          p,
          window > 0 && p - window + 1 > 0 ? (p - window + 1) / kBlock : 0,
          p / kBlock,
          a.page_table + *row<unsigned>(a.t[2], i) * a.pages_per_sequence};
}

// Calls each(u) for this worker's units of rows x heads. A later row sees more positions, so
// workers take them in turn; of a single row each takes heads that follow one another, and share
// keys.
template <class F>
static inline void each_query(const KernelArgs& a, i64 rows, F each) {
  const i64 units = rows * a.ints[0];
  const Range r = share(units, 1, a.worker, a.workers);
  if (rows == 1)
    for (i64 u = r.begin; u < r.end; ++u) each(u);
  else
    for (i64 u = a.worker; u < units; u += a.workers) each(u);
}

}  // namespace loom::cpu::LOOM_ISA
