#if defined(__x86_64__)
#define LOOM_LANES 16
#include "numeric/packed/native4_wide.h"

namespace loom::native4 {
// S4 is no faster in sixteen lanes.
extern const Search search_avx512 = {&find<16>, &find_s4_avx2};
}  // namespace loom::native4
#endif
