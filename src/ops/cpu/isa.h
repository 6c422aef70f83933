// Which kernels run: the best instruction set of this machine, or the one asked for by name.
#pragma once

#include <string_view>
#include <vector>

#include "base/status.h"
#include "ops/cpu/kernel_table.h"

namespace loom::cpu {

// Names this machine can run, best first; "generic" is always the last.
std::vector<std::string_view> available_isas();
// Those with products of the fast profile (docs/reference/numerics.md), best first: "avx2-fast".
// None on machines without fused multiply-adds.
std::vector<std::string_view> fast_isas();
// "" is the best portable one, "fast" the best of the fast ones. An unknown name, or one this
// machine lacks, is an error that lists the others.
Result<const KernelTable*> select_kernels(std::string_view isa);
// What results of this choice may claim: "portable", or "fast" for the bits of this instruction set
// alone.
std::string_view numerics_of(std::string_view isa);

}  // namespace loom::cpu
