// A model family in a few lines of data: how transformers and llama.cpp call it, and where it
// differs from Llama. One file per family, import_<name>.cpp; a new one also goes into the list in
// architecture.cpp. Constants; any thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace loom {

enum class Bias : std::uint8_t { never, by_config, always };

// Which layers see only a window of positions.
enum class Windows : std::uint8_t {
  none,      // no such setting: "sliding_window" must be absent or have no effect
  all,       // every layer, where "sliding_window" is a number
  by_layer,  // "use_sliding_window", then "layer_types" or all layers from "max_window_layers" on
};

struct Architecture {
  std::string_view name;      // "model_type" of config.json
  std::string_view hf_class;  // "architectures" of config.json
  std::string_view
      gguf;  // "general.architecture"; "" where GGUF files call it by another family's name
  std::string_view gguf_family = "";  // that name, where llama.cpp has the family
  // Attention projections that carry biases; by_config reads "attention_bias".
  Bias qkv_bias = Bias::never, out_bias = Bias::never;
  Bias mlp_bias = Bias::never;  // by_config reads "mlp_bias"
  bool qk_norm = false;
  bool sub_norms = false;                // of what the output and down projections take
  std::string_view activation = "silu";  // "hidden_act"; of the gate
  bool ternary =
      false;  // "quantization_config" may say that the blocks' matrices are ternary (Ternary)
  Windows windows = Windows::none;
  // llama.cpp stores the rows of q and k interleaved for rotary pairs (2i, 2i+1); everywhere else
  // pairs are (i, i + head_dim/2).
  bool gguf_interleaves_qk = false;
  // Whether llama.cpp reads biases where a file has them (otherwise those that are always there),
  // and divisors of rotary frequencies.
  bool gguf_optional_biases = false, gguf_rope_divisors = false;
  // transformers' defaults where config.json is silent; 0: heads, hidden_size / heads, no window.
  std::int64_t default_kv_heads = 0, default_head_dim = 0, default_max_positions = 0,
               default_window = 0, default_max_window_layers = 0;
};

std::span<const Architecture* const> architectures();
const Architecture* find_architecture(std::string_view model_type);
const Architecture* find_gguf_architecture(std::string_view name);
// "'gemma2' is not supported: known are llama, ...; it would need
// src/llm/import/import_gemma2.cpp".
std::string unknown_architecture(std::string_view name);

// A tensor of a model file and the parameter it fills. `place`: child of the block's cell, or of
// the model where `global`.
enum class RowOrder : std::uint8_t { plain, query_heads, key_heads };
struct TensorName {
  std::string_view place, role;
  std::string_view hf, gguf;
  RowOrder order = RowOrder::plain;
};
// Tensors of block N: "model.layers.N." + hf, "blk.N." + gguf.
std::span<const TensorName> block_tensors();
// Tensors outside of blocks; place is "embedding", "norm" or "output".
std::span<const TensorName> model_tensors();

}  // namespace loom
