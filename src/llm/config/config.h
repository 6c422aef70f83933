// What a decoder-only language model is made of, whatever file it comes from. Plain data; read
// once, then constant.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/json.h"
#include "base/status.h"
#include "formats/gguf/gguf.h"
#include "ops/attention/rope.h"

namespace loom {

struct Architecture;  // llm/config/architecture.h

// How a checkpoint has the matrices of its blocks where they are -1, 0 and 1 times a number
// ("quantization_config" of bitnet).
enum class Ternary : std::uint8_t {
  none,
  on_load,     // as floats that become so, by the mean magnitude of the matrix
  multiplies,  // four to a byte, times "weight_scale"
  divides,     // four to a byte, divided by it
};

// What the model's authors recommend (generation_config.json).
struct SamplingAdvice {
  std::optional<double> temperature, top_p, min_p, repetition_penalty;
  std::optional<std::int64_t> top_k;
};

struct ModelConfig : SamplingAdvice {
  const Architecture* architecture = nullptr;
  std::int64_t vocab_size = 0, hidden_size = 0, intermediate_size = 0, layers = 0;
  std::int64_t heads = 0, kv_heads = 0, head_dim = 0;
  std::int64_t max_positions = 0;  // that the model was trained for
  double norm_eps = 0;
  RopeSpec rope;
  std::vector<std::int64_t> windows;  // per layer: positions a query sees, its own included; 0: all
  bool qkv_bias = false, out_bias = false, mlp_bias = false;
  bool qk_norm = false;
  Ternary ternary = Ternary::none;
  bool tied = false;  // the output projection is the embedding table

  std::optional<std::int32_t> bos;
  std::vector<std::int32_t> eos;  // any of them ends a text
};

// From a HuggingFace config.json, in the older form (rope_theta, rope_scaling) or the newer
// (rope_parameters). A setting that changes the computation and is not supported is `unsupported`
// and named, as is an unknown architecture; a wrong or missing one is `corrupt`. Absent keys have
// the defaults of transformers' configuration classes.
Result<ModelConfig> config_from_hf(const Json& config);
// Adds generation_config.json: end ids and recommended sampling.
Status add_generation_config(const Json& generation, ModelConfig* config);
// From the metadata and the tensor list of a GGUF file.
Result<ModelConfig> config_from_gguf(const Gguf& file);

// The topology (docs/reference/topology.md) of the model: embedding, one cell per block, norm (the
// head cell), output projection.
Json decoder_topology(const ModelConfig& config);

}  // namespace loom
