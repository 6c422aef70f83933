#include "ops/cpu/isa.h"

#include <string>

#if defined(__aarch64__) && defined(__linux__)
#include <sys/auxv.h>
#endif

namespace loom::cpu {

std::vector<std::string_view> available_isas() {
  std::vector<std::string_view> list;
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vnni"))
    list.push_back("avx512");
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("avxvnni")) list.push_back("avxvnni");
  if (__builtin_cpu_supports("avx2")) list.push_back("avx2");
#endif
#if defined(__aarch64__) && defined(__linux__)
  if (getauxval(AT_HWCAP) & 1ul << 20) list.push_back("dotprod");  // HWCAP_ASIMDDP
#elif defined(__ARM_FEATURE_DOTPROD)
  list.push_back("dotprod");  // every machine the build is for has it
#endif
  list.push_back("generic");
  return list;
}

Result<const KernelTable*> select_kernels(std::string_view isa) {
  const auto list = available_isas();
  std::string names;
  for (std::string_view name : list) {
    names += (names.empty() ? "" : ", ") + std::string(name);
    if (!isa.empty() && name != isa) continue;
#if defined(__x86_64__)
    if (name == "avx512") return &kernels_avx512();
    if (name == "avxvnni") return &kernels_avxvnni();
    if (name == "avx2") return &kernels_avx2();
#endif
#if defined(__aarch64__)
    if (name == "dotprod") return &kernels_dotprod();
#endif
    if (name == "generic") return &kernels_generic();
  }
  return Status(Code::invalid_argument, "instruction set '" + std::string(isa) + "' is not available here: this machine has " + names);
}

}  // namespace loom::cpu
