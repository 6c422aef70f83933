// config.json and generation_config.json, as transformers' classes of the families write them; the
// inverse of config/config.cpp.
#include <algorithm>

#include "base/message.h"
#include "llm/config/architecture.h"
#include "llm/export/outgoing.h"

namespace loom {
namespace {

Status put_rope(const RopeSpec& r, Json& j) {
  j.set("rope_theta", r.theta);
  Json scaling;
  if (r.scaling != RopeScaling::none) {
    scaling = Json::object();
    scaling.set("rope_type", r.scaling == RopeScaling::linear ? "linear" : "llama3");
    scaling.set("factor", r.factor);
  }
  if (r.scaling == RopeScaling::llama3) {
    scaling.set("low_freq_factor", r.low_freq_factor);
    scaling.set("high_freq_factor", r.high_freq_factor);
    if (r.original_max_positions !=
        static_cast<double>(static_cast<std::int64_t>(r.original_max_positions)))
      return Status(Code::unsupported, "transformers has whole original positions of rope only");
    scaling.set("original_max_position_embeddings",
                static_cast<std::int64_t>(r.original_max_positions));
  }
  j.set("rope_scaling", std::move(scaling));
  return {};
}

void put_windows(const ModelConfig& c, Json& j) {
  if (c.architecture->windows == Windows::none) return;
  const std::int64_t window =
      c.windows.empty() ? 0 : *std::max_element(c.windows.begin(), c.windows.end());
  j.set("sliding_window", window > 0 ? Json(window) : Json());
  if (c.architecture->windows != Windows::by_layer) return;
  Json types = Json::array();
  for (const std::int64_t w : c.windows) types.push(w > 0 ? "sliding_attention" : "full_attention");
  const auto first =
      std::find_if(c.windows.begin(), c.windows.end(), [](std::int64_t w) { return w > 0; });
  j.set("use_sliding_window", window > 0);
  j.set("max_window_layers", static_cast<std::int64_t>(first - c.windows.begin()));
  j.set("layer_types", std::move(types));
}

void put_ids(const ModelConfig& c, Json& j) {
  j.set("bos_token_id", c.bos ? Json(static_cast<std::int64_t>(*c.bos)) : Json());
  Json list = Json::array();
  for (const std::int32_t id : c.eos) list.push(static_cast<std::int64_t>(id));
  j.set("eos_token_id", c.eos.empty()       ? Json()
                        : c.eos.size() == 1 ? Json(static_cast<std::int64_t>(c.eos[0]))
                                            : std::move(list));
}

}  // namespace

Result<Json> hf_config(const ModelConfig& c, std::string_view torch_dtype) {
  const Architecture& a = *c.architecture;
  Json j = Json::object(), classes = Json::array();
  classes.push(a.hf_class);
  j.set("architectures", std::move(classes));
  j.set("model_type", a.name);
  j.set("vocab_size", c.vocab_size);
  j.set("hidden_size", c.hidden_size);
  j.set("intermediate_size", c.intermediate_size);
  j.set("num_hidden_layers", c.layers);
  j.set("num_attention_heads", c.heads);
  j.set("num_key_value_heads", c.kv_heads);
  j.set("head_dim", c.head_dim);
  j.set("hidden_act", a.activation);
  j.set("max_position_embeddings", c.max_positions);
  j.set("rms_norm_eps", c.norm_eps);
  LOOM_TRY(put_rope(c.rope, j));
  put_windows(c, j);
  if (a.qkv_bias == Bias::by_config) j.set("attention_bias", c.qkv_bias);
  if (a.mlp_bias == Bias::by_config) j.set("mlp_bias", c.mlp_bias);
  j.set("tie_word_embeddings", c.tied);
  put_ids(c, j);
  j.set("attention_dropout", 0.0);
  j.set("torch_dtype", torch_dtype);
  j.set("use_cache", true);
  if (a.ternary) {
    Json q = Json::object(), skipped = Json::array();
    skipped.push("lm_head");
    q.set("quant_method", "bitnet");
    q.set("linear_class", c.ternary == Ternary::divides ? "bitlinear" : "autobitlinear");
    q.set("quantization_mode", c.ternary == Ternary::on_load ? "online" : "offline");
    q.set("modules_to_not_convert", std::move(skipped));
    if (c.ternary != Ternary::none) j.set("quantization_config", std::move(q));
  }
  // A reader of this file must come to the same network.
  LOOM_ASSIGN(const ModelConfig again, config_from_hf(j));
  const std::string difference = topology_difference(decoder_topology(c), decoder_topology(again));
  if (!difference.empty())
    return Status(Code::unsupported, message("transformers' ", a.hf_class,
                                             " has no such model: it differs in ", difference));
  return j;
}

Json hf_generation(const ModelConfig& c) {
  Json j = Json::object();
  put_ids(c, j);
  if (c.temperature || c.top_p || c.top_k || c.min_p) j.set("do_sample", true);
  if (c.temperature) j.set("temperature", *c.temperature);
  if (c.top_k) j.set("top_k", *c.top_k);
  if (c.top_p) j.set("top_p", *c.top_p);
  if (c.min_p) j.set("min_p", *c.min_p);
  if (c.repetition_penalty) j.set("repetition_penalty", *c.repetition_penalty);
  return j;
}

}  // namespace loom
