// The pipeline members of tokenizer.json as steps. What this build does not have is refused by
// name.
#pragma once

#include <cstdint>
#include <vector>

#include "base/json/json.h"
#include "text/pipeline/step.h"

namespace loom::text {

// Append to `steps`; null adds nothing, a Sequence adds its items.
Status read_normalizer(const Json& json, std::vector<Step>* steps);
Status read_pre_tokenizer(const Json& json, std::vector<Step>* steps);
Status read_decoder(const Json& json, std::vector<Step>* steps);
// The ids around a single text. `is_template`: the file says what stands there, be it nothing.
Status read_post_processor(const Json& json, std::vector<std::uint32_t>* prefix,
                           std::vector<std::uint32_t>* suffix, bool* is_template);

}  // namespace loom::text
