// Qwen3, the dense ones (transformers' Qwen3ForCausalLM): RMSNorm of each query and key head, heads
// wider than hidden_size / heads.
#include "llm/config/architecture.h"

namespace loom {

extern const Architecture kQwen3;
const Architecture kQwen3 = {
    .name = "qwen3",
    .hf_class = "Qwen3ForCausalLM",
    .gguf = "qwen3",
    .qkv_bias = Bias::by_config,
    .out_bias = Bias::by_config,
    .qk_norm = true,
    .windows = Windows::by_layer,
    .default_kv_heads = 32,
    .default_head_dim = 128,
    .default_max_positions = 32768,
    .default_window = 4096,
    .default_max_window_layers = 28,
};

}  // namespace loom
