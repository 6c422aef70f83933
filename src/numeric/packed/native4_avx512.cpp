#if defined(__x86_64__)
#define LOOM_LANES 16
#include "numeric/packed/native4_wide.h"

namespace loom::native4 {
// Few blocks, as rows end with, take as long as sixteen.
static void find_a4(const Tables& tables, const float* t, int blocks, Choice* best) {
  if (blocks > 8) find<16>(tables, t, blocks, best);
  else search_avx2.a4(tables, t, blocks, best);
}
// S4 is no faster in sixteen lanes.
extern const Search search_avx512 = {&find_a4, &find_s4_avx2};
}  // namespace loom::native4
#endif
