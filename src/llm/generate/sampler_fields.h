// The settings of a sampler, once (base/fields/fields.h): Sampler::create checks them by this list,
// the C interface reads them by it. S: SamplerOptions, or what recommends them (SamplingAdvice).
#pragma once

#include "base/fields/fields.h"

namespace loom {

template <class V, class S>
void sampling_fields(V& v, S& s) {
  v("temperature", s.temperature,
    {.doc = "divides the logits; 0: greedy, the largest logit", .min = 0, .max = 1e6});
  v("top_k", s.top_k, {.doc = "draws from this number of most probable tokens; 0: all", .min = 0});
  v("top_p", s.top_p,
    {.doc = "draws from the fewest tokens that together have this probability",
     .above = 0,
     .max = 1});
  v("min_p", s.min_p,
    {.doc = "draws from tokens at least this share as probable as the best", .min = 0, .max = 1});
  v("repetition_penalty", s.repetition_penalty,
    {.doc = "divides positive and multiplies negative logits of tokens seen before",
     .min = 1e-3,
     .max = 1e3});
}

}  // namespace loom
