#if defined(__x86_64__)
#define LOOM_LANES 8
#include "numeric/packed/native4_wide.h"

namespace loom::native4 {
void find_s4_avx2(const Tables& tables, const float* t, int blocks, Choice* best) {
  find<32>(tables, t, blocks, best);
}
extern const Search search_avx2 = {&find<16>, &find_s4_avx2};
}  // namespace loom::native4
#endif
