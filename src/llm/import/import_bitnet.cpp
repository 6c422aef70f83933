// BitNet b1.58 (Ma et al., arXiv 2402.17764; transformers' BitNetForCausalLM): ternary projections,
// squared ReLU, a norm before the output and down projections.
#include "llm/config/architecture.h"

namespace loom {

extern const Architecture kBitnet;
const Architecture kBitnet = {
    .name = "bitnet",
    .hf_class = "BitNetForCausalLM",
    .gguf = "",
    .sub_norms = true,
    .activation = "relu2",
    .ternary = true,
    .default_max_positions = 2048,
};

}  // namespace loom
