// Fills a table with the kernels of one instruction set: included by kernels_<isa>.cpp after the
// definitions that prelude.h lists. To keep the library small, an instruction set makes anew only
// what gains by it, and takes the rest from the table of a narrower one. A row of a <family>.def
// says how much its op gains:
//   products        float products, the only ones that are worth kernels of their own in double
//   hot, warm       what takes time, what takes some
//   cold            the rest
//   ..._f32         the same of ops without results in double
//   integer         products of integers, which each instruction set has its own instructions for
//   none            no kernel: a device's alone
// LOOM_F32_KERNELS and LOOM_F64_KERNELS are how far down that list this instruction set goes.
#include "ops/families_kernels.h"

namespace loom::cpu::LOOM_ISA {

enum Tier : int { kNone = 0, kProducts, kHot, kWarm, kCold };

static void fill_table(KernelTable& t) {
#define LOOM_KERNEL(name, tier)                                                                    \
  if constexpr (LOOM_F32_KERNELS >= tier) t.f32[static_cast<int>(LoweredOp::name)] = &name<float>; \
  if constexpr (LOOM_F64_KERNELS >= tier) t.f64[static_cast<int>(LoweredOp::name)] = &name<double>;
#define LOOM_KERNEL_F32(name, tier) \
  if constexpr (LOOM_F32_KERNELS >= tier) t.f32[static_cast<int>(LoweredOp::name)] = &name<float>;
#define LOOM_TIER_products(name) LOOM_KERNEL(name, kProducts)
#define LOOM_TIER_hot(name) LOOM_KERNEL(name, kHot)
#define LOOM_TIER_warm(name) LOOM_KERNEL(name, kWarm)
#define LOOM_TIER_cold(name) LOOM_KERNEL(name, kCold)
#define LOOM_TIER_products_f32(name) LOOM_KERNEL_F32(name, kProducts)
#define LOOM_TIER_hot_f32(name) LOOM_KERNEL_F32(name, kHot)
#define LOOM_TIER_warm_f32(name) LOOM_KERNEL_F32(name, kWarm)
#ifdef LOOM_FUSED
#define LOOM_TIER_integer(name) (void)&name;  // of the portable table
#else
#define LOOM_TIER_integer(name) t.f32[static_cast<int>(LoweredOp::name)] = &name;
#endif
#define LOOM_TIER_none(name)
#define LOOM_OP(id, name, tier, ...) LOOM_TIER_##tier(name)
#define LOOM_LOWERED(name, tier, ...) LOOM_TIER_##tier(name)
#include "ops/families.def"
}

}  // namespace loom::cpu::LOOM_ISA

// Defines kernels_<name>(), the table of this file's kernels and those of `base`, a statement on
// the table t.
#define LOOM_KERNEL_TABLE(name, base)                         \
  const loom::cpu::KernelTable& loom::cpu::kernels_##name() { \
    static const KernelTable table = [] {                     \
      KernelTable t;                                          \
      base;                                                   \
      LOOM_ISA::fill_table(t);                                \
      t.isa = #name;                                          \
      return t;                                               \
    }();                                                      \
    return table;                                             \
  }
// Defines fuse_<name>(), which puts fused products into a portable table of this instruction set.
#define LOOM_FUSE(name) \
  void loom::cpu::fuse_##name(KernelTable& table) { LOOM_ISA::fill_table(table); }
