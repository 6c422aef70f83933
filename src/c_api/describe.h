// What base/fields/describe.h needs to know of the types that options have.
#pragma once

#include "base/fields/describe.h"
#include "c_api/options/options.h"

namespace loom::c_api {

inline const char* described_shape(const TokenIds& ids) { return ids.several ? "ids" : "id"; }

}  // namespace loom::c_api

namespace loom {

inline const char* described_shape(const SamplingAdvice&) { return "sampling"; }

}  // namespace loom
