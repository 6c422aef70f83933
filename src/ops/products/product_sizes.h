// Sizes that products and those who plan for them agree on. No standard library here.
#pragma once

#include "ops/cpu/kernel_args.h"

namespace loom::cpu {

// Class I products of at most this number of rows read the packed weights directly, their outputs
// shared in panels of 16; schedule.cpp relies on it.
inline constexpr i64 kGemvRows = 2;

// Products copy panels whose values lie apart, kPackedSums of their sums at a time; of dense rows
// only for kPackedRows rows of results or more.
inline constexpr i64 kPackedSums = 2048, kPackedRows = 16,
                     kPackedPanels = 2;  // panels at once, at most

// Weight gradients over at most kPackedOuter rows copy their operands: kPackedOuterValues values of
// gy at once, and all rows of kPackedPanels panels of x.
inline constexpr i64 kPackedOuter = 1024, kPackedOuterValues = 32768;

inline constexpr i64 kBlockRows =
    16;  // of activations, that share the unpacked codes of a panel (kBlockForm)

}  // namespace loom::cpu
