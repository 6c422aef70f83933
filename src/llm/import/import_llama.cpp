// Llama 1, 2, 3 and what is built like them: TinyLlama, SmolLM2, Vicuna, Yi (transformers'
// LlamaForCausalLM).
#include "llm/config/architecture.h"

namespace loom {

extern const Architecture kLlama;
const Architecture kLlama = {
    .name = "llama",
    .hf_class = "LlamaForCausalLM",
    .gguf = "llama",
    .qkv_bias = Bias::by_config,
    .out_bias = Bias::by_config,
    .mlp_bias = Bias::by_config,
    .gguf_interleaves_qk = true,
    .gguf_optional_biases = true,
    .gguf_rope_divisors = true,
    .default_max_positions = 2048,
};

}  // namespace loom
