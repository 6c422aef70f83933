// Which kernels run: the best instruction set of this machine, or the one asked for by name.
#pragma once

#include <string_view>
#include <vector>

#include "base/status.h"
#include "ops/cpu/kernel_table.h"

namespace loom::cpu {

// Names this machine can run, best first; "generic" is always the last.
std::vector<std::string_view> available_isas();
// "" is the best. An unknown name, or one this machine lacks, is an error that lists the others.
Result<const KernelTable*> select_kernels(std::string_view isa);

}  // namespace loom::cpu
