// Qwen2 and Qwen2.5 (transformers' Qwen2ForCausalLM): biases on q, k and v that no setting
// mentions.
#include "llm/config/architecture.h"

namespace loom {

extern const Architecture kQwen2;
const Architecture kQwen2 = {
    .name = "qwen2",
    .hf_class = "Qwen2ForCausalLM",
    .gguf = "qwen2",
    .qkv_bias = Bias::always,
    .windows = Windows::by_layer,
    .default_kv_heads = 32,
    .default_max_positions = 32768,
    .default_window = 4096,
    .default_max_window_layers = 28,
};

}  // namespace loom
