// Mistral 7B and its successors (transformers' MistralForCausalLM); llama.cpp writes them as
// "llama".
#include "llm/config/architecture.h"

namespace loom {

extern const Architecture kMistral;
const Architecture kMistral = {
    .name = "mistral",
    .hf_class = "MistralForCausalLM",
    .gguf_family = "llama",
    .windows = Windows::all,
    .default_kv_heads = 8,
    .default_max_positions = 131072,
    .default_window = 4096,
};

}  // namespace loom
