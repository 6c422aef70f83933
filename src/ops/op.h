// The ops, by id: the rows of all <family>/<family>.def. No standard library here: kernel files
// include it. Ids are saved in programs: they are never renumbered.
#pragma once

namespace loom {

enum class Op : unsigned short {
#define LOOM_OP(id, name, ...) name = id,
#include "ops/families.def"
};
inline constexpr int kOpCount = 0
#define LOOM_OP(...) +1
#include "ops/families.def"
    ;

// What executors run: an op, or what lowering makes of one or of several (lowering/lowered.h).
// Never saved, so these ids are free to change; those of ops are their own.
enum class LoweredOp : unsigned short {
#define LOOM_OP(id, name, ...) name = id,
#include "ops/families.def"
  last_op = kOpCount - 1,
#define LOOM_LOWERED(name, ...) name,
#include "ops/families.def"
};
inline constexpr int kLoweredCount = kOpCount
#define LOOM_LOWERED(...) +1
#include "ops/families.def"
    ;

}  // namespace loom
