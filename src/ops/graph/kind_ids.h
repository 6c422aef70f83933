// The kinds of the ops of whole graphs by number, for host and kernels. No standard library here.
#pragma once

namespace loom {

enum class Unary : unsigned char {
#define LOOM_UNARY(id, name, text) name = id,
#include "ops/graph/kinds.def"
};
enum class Binary : unsigned char {
#define LOOM_BINARY(id, name, text) name = id,
#include "ops/graph/kinds.def"
};
enum class Reduce : unsigned char {
#define LOOM_REDUCE(id, name, text) name = id,
#include "ops/graph/kinds.def"
};

inline constexpr int kUnaryCount = 0
#define LOOM_UNARY(...) +1
#include "ops/graph/kinds.def"
    ;
inline constexpr int kBinaryCount = 0
#define LOOM_BINARY(...) +1
#include "ops/graph/kinds.def"
    ;
inline constexpr int kReduceCount = 0
#define LOOM_REDUCE(...) +1
#include "ops/graph/kinds.def"
    ;

}  // namespace loom
