#include "ops/cpu/isa.h"

#include <string>

#if defined(__aarch64__) && defined(__linux__)
#include <sys/auxv.h>
#endif
#if defined(__x86_64__) && defined(__linux__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace loom::cpu {

#if defined(__x86_64__)
namespace {

// Whether this process may use the tiles of AMX, which the kernel of Linux lends on request: a
// thread's state grows by 8 kB with its first tile (Documentation/arch/x86/xstate.rst).
bool request_tiles() {
#if defined(__linux__)
  constexpr unsigned kTile = 1u << 24, kInt8 = 1u << 25;       // of leaf 7
  constexpr long kRequestPermission = 0x1023, kTileData = 18;  // ARCH_REQ_XCOMP_PERM
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || (~d & (kTile | kInt8))) return false;
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
#else
  return false;
#endif
}

}  // namespace
#endif

std::vector<std::string_view> available_isas() {
  std::vector<std::string_view> list;
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vnni")) {
    static const bool tiles = request_tiles();
    if (tiles) list.push_back("amx");
    list.push_back("avx512");
  }
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("avxvnni"))
    list.push_back("avxvnni");
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

namespace {

const KernelTable& portable_kernels(std::string_view isa) {
#if defined(__x86_64__)
  if (isa == "amx") return kernels_amx();
  if (isa == "avx512") return kernels_avx512();
  if (isa == "avxvnni") return kernels_avxvnni();
  if (isa == "avx2") return kernels_avx2();
#endif
#if defined(__aarch64__)
  if (isa == "dotprod") return kernels_dotprod();
#endif
  return kernels_generic();
}

KernelTable fused(const KernelTable& portable, void (*fuse)(KernelTable&), const char* name) {
  KernelTable t = portable;
  fuse(t);
  t.isa = name;
  t.portable = false;
  return t;
}

// Of the instruction sets of this machine, best first.
const std::vector<KernelTable>& fast_kernels() {
  static const std::vector<KernelTable> tables = [] {
    std::vector<KernelTable> list;
    for ([[maybe_unused]] const std::string_view isa : available_isas()) {
#if defined(__x86_64__)
      if (!__builtin_cpu_supports("fma")) break;
      if (isa == "amx") list.push_back(fused(kernels_amx(), fuse_avx512, "amx-fast"));
      if (isa == "avx512") list.push_back(fused(kernels_avx512(), fuse_avx512, "avx512-fast"));
      if (isa == "avxvnni") list.push_back(fused(kernels_avxvnni(), fuse_avx2, "avxvnni-fast"));
      if (isa == "avx2") list.push_back(fused(kernels_avx2(), fuse_avx2, "avx2-fast"));
#elif defined(__aarch64__)
      if (isa == "dotprod") list.push_back(fused(kernels_dotprod(), fuse_dotprod, "dotprod-fast"));
#endif
    }
    return list;
  }();
  return tables;
}

}  // namespace

std::vector<std::string_view> fast_isas() {
  std::vector<std::string_view> list;
  for (const KernelTable& t : fast_kernels()) list.push_back(t.isa);
  return list;
}

Result<const KernelTable*> select_kernels(std::string_view isa) {
  const std::vector<std::string_view> list = available_isas();
  if (isa.empty()) return &portable_kernels(list.front());
  std::string names;
  for (const std::string_view name : list) {
    if (name == isa) return &portable_kernels(name);
    names += (names.empty() ? "" : ", ") + std::string(name);
  }
  for (const KernelTable& t : fast_kernels()) {
    if (isa == "fast" || isa == t.isa) return &t;
    names += ", " + std::string(t.isa);
  }
  return Status(Code::invalid_argument, "instruction set '" + std::string(isa) +
                                            "' is not available here: this machine has " + names);
}

std::string_view numerics_of(std::string_view isa) {
  const auto kernels = select_kernels(isa);
  return !kernels.ok() || (*kernels)->portable ? "portable" : "fast";
}

}  // namespace loom::cpu
