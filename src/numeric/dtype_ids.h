// The ids of DType and of Layout as plain integers, for kernels: no standard library
// (ops/cpu/kernel_args.h).
#pragma once

namespace loom::dtype_ids {

enum Id : int {
#define LOOM_DTYPE(id, name, Name, ...) k##Name = id,
#include "numeric/dtypes.def"
};

}  // namespace loom::dtype_ids

namespace loom::layout_ids {

enum Id : int {
#define LOOM_LAYOUT(id, name, Name) k##Name = id,
#include "numeric/layouts.def"
};

}  // namespace loom::layout_ids
