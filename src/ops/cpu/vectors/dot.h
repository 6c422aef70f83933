// The integer dot products of this instruction set (names: dot_vnni.h).
#pragma once

#include "ops/cpu/vectors/integer_vectors.h"

#if defined(__AVX512VNNI__) || defined(__AVXVNNI__)
#include "ops/cpu/vectors/dot_vnni.h"
#elif defined(__AVX2__)
#include "ops/cpu/vectors/dot_avx2.h"
#elif defined(__ARM_FEATURE_DOTPROD)
#include "ops/cpu/vectors/dot_neon.h"
#elif defined(__wasm_relaxed_simd__)
#include "ops/cpu/vectors/dot_relaxed.h"
#else
#include "ops/cpu/vectors/dot_generic.h"
#endif
