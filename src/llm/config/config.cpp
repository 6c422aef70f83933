// config.json and generation_config.json of HuggingFace folders, and the topology that a
// configuration means.
#include "llm/config/config.h"

#include <algorithm>

#include "base/message.h"
#include "formats/tensor_file.h"
#include "llm/config/architecture.h"

namespace loom {
namespace {

Status unsupported(std::string what) {
  return Status(Code::unsupported, message("config.json: ", what));
}
Status corrupt(std::string what) { return Status(Code::corrupt, message("config.json: ", what)); }

std::string quoted_value(const Json& value) {
  const std::string text = value.dump();
  return text.size() <= 60 ? text : text.substr(0, 57) + "...";
}

// Settings that change the computation, with the value that does not. Any other value is refused.
struct Neutral {
  std::string_view key;
  Json value;
};
const std::vector<Neutral>& neutral_settings() {
  static const std::vector<Neutral> list = {
      {"partial_rotary_factor", 1},
      {"rope_interleaved", false},
      {"rotary_pct", 1},
      {"attn_logit_softcapping", nullptr},
      {"final_logit_softcapping", nullptr},
      {"logit_scale", 1},
      {"logits_scaling", 1},
      {"embedding_multiplier", 1},
      {"residual_multiplier", 1},
      {"attention_multiplier", nullptr},
      {"query_pre_attn_scalar", nullptr},
      {"scale_attn_weights", true},
      {"clip_qkv", nullptr},
      {"attention_chunk_size", nullptr},
      {"no_rope_layers", nullptr},
      {"use_qk_norm", false},
      {"qk_layernorm", false},
      {"alibi", false},
      {"num_experts", 0},
      {"num_local_experts", 0},
      {"n_routed_experts", 0},
      {"is_encoder_decoder", false},
      {"add_cross_attention", false},
      {"use_bidirectional_attention", false},
      {"compression_config", nullptr},
      {"block_configs", nullptr},
  };
  return list;
}

bool same(const Json& a, const Json& b) {
  if (a.is_number() && b.is_number()) return a.as_number() == b.as_number();
  if (a.is_bool() && b.is_bool()) return a.as_bool() == b.as_bool();
  return a.is_string() && b.is_string() && a.as_string() == b.as_string();
}

// Ternary matrices, as transformers' quantizer "bitnet" describes them; other quantizers are
// refused.
Result<Ternary> ternary_of(const Json& config, const Architecture& a) {
  const Json* q = config.find("quantization_config");
  if (!q || q->is_null()) return Ternary::none;
  const auto value_of = [&](std::string_view key, std::string_view absent) {
    const Json* value = q->is_object() ? q->find(key) : nullptr;
    return value && value->is_string() ? value->as_string() : std::string(absent);
  };
  const std::string linear = value_of("linear_class", "bitlinear"),
                    mode = value_of("quantization_mode", "offline");
  const Json* norm = q->is_object() ? q->find("use_rms_norm") : nullptr;
  if (!a.ternary || value_of("quant_method", "") != "bitnet" ||
      (norm && !same(*norm, Json(false))) || (linear != "bitlinear" && linear != "autobitlinear") ||
      (mode != "offline" && mode != "online"))
    return unsupported(
        "\"quantization_config\": " + quoted_value(*q) + " is not supported" +
        (a.ternary
             ? ", only \"quant_method\": \"bitnet\" without \"use_rms_norm\", \"linear_class\" "
               "bitlinear or autobitlinear, \"quantization_mode\" offline or online"
             : ""));
  if (linear == "bitlinear") return Ternary::divides;
  return mode == "online" ? Ternary::on_load : Ternary::multiplies;
}

Status check_neutral(const Json& config, const Architecture& a) {
  std::vector<Neutral> settings = neutral_settings();
  for (const char* key : {"hidden_act", "hidden_activation"})
    settings.push_back({key, Json(a.activation)});
  for (const Neutral& n : settings) {
    const Json* value = config.find(n.key);
    if (!value || value->is_null() || same(*value, n.value)) continue;
    // A switch that is off says nothing.
    if (n.value.is_null() && value->is_bool() && !value->as_bool()) continue;
    return unsupported("\"" + std::string(n.key) + "\": " + quoted_value(*value) +
                       " is not supported" + (n.value.is_null() ? "" : ", only " + n.value.dump()));
  }
  return {};
}

Result<std::int64_t> positive(const Json& config, std::string_view key, std::int64_t fallback) {
  LOOM_ASSIGN(const std::int64_t value, config.get_integer(key, fallback));
  if (value == 0 && !config.find(key)) return corrupt(message("\"", key, "\" is missing"));
  if (value < 1 || value > INT32_MAX)
    return corrupt(message("\"", key, "\" must be in 1..2^31-1, it is ", value));
  return value;
}

// A key that transformers reads as "absent: the class default, null: derived from others".
Result<std::int64_t> derived(const Json& config, std::string_view key, std::int64_t absent,
                             std::int64_t when_null) {
  const Json* value = config.find(key);
  if (value && !value->is_null()) return positive(config, key, 0);
  return value || absent == 0 ? when_null : absent;
}

Result<const Architecture*> architecture_of(const Json& config) {
  LOOM_ASSIGN(const std::string type, config.get_string("model_type", ""));
  std::string hf_class;
  const Json* list = config.find("architectures");
  if (list && list->is_array() && !list->as_array().empty() && list->as_array()[0].is_string())
    hf_class = list->as_array()[0].as_string();
  if (type.empty() && hf_class.empty())
    return corrupt(
        "neither \"model_type\" nor \"architectures\": this is not the configuration of a language "
        "model");
  for (const Architecture* a : architectures()) {
    if (type.empty() ? a->hf_class != hf_class : a->name != type) continue;
    if (!hf_class.empty() && hf_class != a->hf_class) {
      return unsupported("a '" + std::string(a->name) + "' of class " + quoted(hf_class) +
                         " is not supported, only " + std::string(a->hf_class));
    }
    return a;
  }
  return unsupported(unknown_architecture(type.empty() ? hf_class : type));
}

Result<bool> bias(const Json& config, Bias rule, std::string_view key) {
  if (rule == Bias::always) return true;
  LOOM_ASSIGN(const bool set, config.get_bool(key, false));
  if (rule == Bias::never && set)
    return unsupported("\"" + std::string(key) + "\": true is not supported for this architecture");
  return set;
}

// rope_parameters (newer) or rope_theta and rope_scaling (older).
Result<RopeSpec> rope_of(const Json& config) {
  RopeSpec spec;
  LOOM_ASSIGN(spec.theta, config.get_number("rope_theta", spec.theta));
  const Json* r = config.find("rope_parameters");
  const char* where = "rope_parameters";
  if (!r || r->is_null()) {
    r = config.find("rope_scaling");
    where = "rope_scaling";
  }
  if (!r || r->is_null()) return spec;
  if (!r->is_object()) return corrupt(message("\"", where, "\" must be an object or null"));
  static constexpr std::string_view known[] = {"rope_theta",
                                               "rope_type",
                                               "type",
                                               "factor",
                                               "low_freq_factor",
                                               "high_freq_factor",
                                               "original_max_position_embeddings",
                                               "partial_rotary_factor"};
  for (const auto& [key, value] : r->as_object()) {
    if (value.is_object())
      return unsupported("\"" + std::string(where) +
                         "\" that differ by layer are not supported: " + quoted(key));
  }
  LOOM_ASSIGN(std::string type, r->get_string("rope_type", ""));
  if (type.empty()) {
    LOOM_ASSIGN(type, r->get_string("type", "default"));
  }
  if (type == "linear") spec.scaling = RopeScaling::linear;
  else if (type == "llama3") spec.scaling = RopeScaling::llama3;
  else if (type != "default")
    return unsupported("rope_type " + quoted(type) +
                       " is not supported: known are default, linear, llama3");
  for (const auto& [key, value] : r->as_object()) {
    if (std::find(std::begin(known), std::end(known), key) == std::end(known))
      return unsupported("\"" + std::string(where) + "\": unknown setting " + quoted(key));
  }
  LOOM_ASSIGN(const double partial, r->get_number("partial_rotary_factor", 1));
  if (partial != 1)
    return unsupported("\"partial_rotary_factor\": " + format_double(partial) +
                       " is not supported, only 1");
  LOOM_ASSIGN(spec.theta, r->get_number("rope_theta", spec.theta));
  if (spec.scaling == RopeScaling::none) return spec;
  auto need = [&](std::string_view key, double* out) -> Status {
    const Json* value = r->find(key);
    if (!value || !value->is_number())
      return corrupt(message("rope_type ", quoted(type), " needs a number \"", key, "\""));
    *out = value->as_number();
    return {};
  };
  LOOM_TRY(need("factor", &spec.factor));
  if (spec.scaling == RopeScaling::llama3) {
    LOOM_TRY(need("low_freq_factor", &spec.low_freq_factor));
    LOOM_TRY(need("high_freq_factor", &spec.high_freq_factor));
    LOOM_TRY(need("original_max_position_embeddings", &spec.original_max_positions));
  }
  return spec;
}

Result<std::vector<std::int64_t>> windows_of(const Json& config, const Architecture& a,
                                             std::int64_t layers, std::int64_t max_positions) {
  std::vector<std::int64_t> windows(static_cast<std::size_t>(layers), 0);
  const Json* given = config.find("sliding_window");
  std::int64_t window = given ? 0 : a.default_window;
  if (given && !given->is_null()) {
    LOOM_ASSIGN(window, positive(config, "sliding_window", 0));
  }
  const Json* types = config.find("layer_types");
  if (types && types->is_null()) types = nullptr;
  if (types && (!types->is_array() || types->as_array().size() != windows.size()))
    return corrupt(message("\"layer_types\" must be a list of ", layers, " names, one per layer"));
  bool use = a.windows == Windows::all;
  if (a.windows == Windows::by_layer) {
    LOOM_ASSIGN(use, config.get_bool("use_sliding_window", false));
  }
  if (a.windows == Windows::none && window > 0 && window < max_positions)
    return unsupported("\"sliding_window\": " + std::to_string(window) +
                       " is not supported for a '" + std::string(a.name) + "'");
  if (!use) window = 0;
  LOOM_ASSIGN(const std::int64_t first,
              config.get_integer("max_window_layers", a.default_max_window_layers));
  for (std::int64_t i = 0; i < layers; ++i) {
    bool slides = use && (a.windows == Windows::all || i >= first);
    if (types) {
      const Json& name = types->as_array()[static_cast<std::size_t>(i)];
      if (!name.is_string() ||
          (name.as_string() != "full_attention" && name.as_string() != "sliding_attention"))
        return unsupported("\"layer_types\": " + quoted_value(name) +
                           " is not supported: known are full_attention, sliding_attention");
      slides = name.as_string() == "sliding_attention";
      if (slides && window == 0)
        return corrupt(
            "\"layer_types\" has sliding_attention, but no \"sliding_window\" is in use");
    }
    if (slides) windows[static_cast<std::size_t>(i)] = window;
  }
  return windows;
}

// eos_token_id: a number, a list of numbers, or null.
Status read_ids(const Json& json, std::string_view key, std::vector<std::int32_t>* ids) {
  const Json* value = json.find(key);
  if (!value || value->is_null()) return {};
  const Json::Array one{*value};
  const Json::Array& list = value->is_array() ? value->as_array() : one;
  ids->clear();
  for (const Json& id : list) {
    if (!id.is_integer() || id.as_integer() < 0 || id.as_integer() > INT32_MAX)
      return corrupt(message("\"", key, "\": expected a token id or a list of them, got ",
                             quoted_value(*value)));
    ids->push_back(static_cast<std::int32_t>(id.as_integer()));
  }
  return {};
}

}  // namespace

Result<ModelConfig> config_from_hf(const Json& json) {
  if (!json.is_object()) return corrupt("expected a JSON object");
  ModelConfig c;
  LOOM_ASSIGN(c.architecture, architecture_of(json));
  const Architecture& a = *c.architecture;
  LOOM_TRY(check_neutral(json, a));
  LOOM_ASSIGN(c.ternary, ternary_of(json, a));
  LOOM_ASSIGN(c.vocab_size, positive(json, "vocab_size", 0));
  LOOM_ASSIGN(c.hidden_size, positive(json, "hidden_size", 0));
  LOOM_ASSIGN(c.intermediate_size, positive(json, "intermediate_size", 0));
  LOOM_ASSIGN(c.layers, positive(json, "num_hidden_layers", 0));
  if (c.layers > 65536)
    return corrupt(message("\"num_hidden_layers\" is ", c.layers, ", at most 65536 are read"));
  LOOM_ASSIGN(c.heads, positive(json, "num_attention_heads", 0));
  LOOM_ASSIGN(c.kv_heads, derived(json, "num_key_value_heads", a.default_kv_heads, c.heads));
  LOOM_ASSIGN(c.head_dim, derived(json, "head_dim", a.default_head_dim, c.hidden_size / c.heads));
  if (c.head_dim < 1)
    return corrupt(message(c.heads, " heads cannot share a \"hidden_size\" of ", c.hidden_size));
  LOOM_ASSIGN(c.max_positions, positive(json, "max_position_embeddings", a.default_max_positions));
  LOOM_ASSIGN(c.norm_eps, json.get_number("rms_norm_eps", 1e-6));
  LOOM_ASSIGN(c.rope, rope_of(json));
  LOOM_ASSIGN(c.windows, windows_of(json, a, c.layers, c.max_positions));
  LOOM_ASSIGN(c.qkv_bias, bias(json, a.qkv_bias, "attention_bias"));
  c.out_bias = false;
  if (a.out_bias != Bias::never) {
    LOOM_ASSIGN(c.out_bias, bias(json, a.out_bias, "attention_bias"));
  }
  LOOM_ASSIGN(c.mlp_bias, bias(json, a.mlp_bias, "mlp_bias"));
  c.qk_norm = a.qk_norm;
  LOOM_ASSIGN(c.tied, json.get_bool("tie_word_embeddings", false));
  std::vector<std::int32_t> bos;
  LOOM_TRY(read_ids(json, "bos_token_id", &bos));
  if (!bos.empty()) c.bos = bos[0];
  LOOM_TRY(read_ids(json, "eos_token_id", &c.eos));
  return c;
}

Status add_generation_config(const Json& g, ModelConfig* c) {
  if (!g.is_object()) return Status(Code::corrupt, "expected a JSON object");
  LOOM_TRY(read_ids(g, "eos_token_id", &c->eos));
  auto number = [&](std::string_view key, std::optional<double>* out) -> Status {
    if (const Json* v = g.find(key); v && !v->is_null()) {
      LOOM_ASSIGN(*out, g.get_number(key, 0));
    }
    return {};
  };
  LOOM_TRY(number("temperature", &c->temperature));
  LOOM_TRY(number("top_p", &c->top_p));
  LOOM_TRY(number("min_p", &c->min_p));
  LOOM_TRY(number("repetition_penalty", &c->repetition_penalty));
  if (const Json* v = g.find("top_k"); v && !v->is_null()) {
    LOOM_ASSIGN(c->top_k, g.get_integer("top_k", 0));
  }
  return {};
}

Json decoder_topology(const ModelConfig& c) {
  using Object = Json::Object;
  auto norm = [&] { return Json(Object{{"type", "rms_norm"}, {"eps", c.norm_eps}}); };
  auto sequential = [](Json::Array layers) {
    return Json(Object{{"type", "sequential"}, {"layers", Json(std::move(layers))}});
  };
  const Json residual(Object{{"type", "residual"}});

  Json::Array cells;
  auto put = [&](std::int64_t l, const Json& cell) {
    Object members{{"at", Json(Json::Array{0, 0, 0, l})}};
    members.insert(members.end(), cell.as_object().begin(), cell.as_object().end());
    cells.emplace_back(std::move(members));
  };
  put(0, Json(Object{{"type", "embedding"}, {"out", c.hidden_size}}));
  constexpr std::string_view kScaling[] = {"none", "linear", "llama3"};
  for (std::int64_t i = 0; i < c.layers; ++i) {
    Json attention(Object{{"type", "attention"},
                          {"heads", c.heads},
                          {"kv_heads", c.kv_heads},
                          {"head_dim", c.head_dim},
                          {"window", c.windows[static_cast<std::size_t>(i)]},
                          {"qkv_bias", c.qkv_bias},
                          {"out_bias", c.out_bias},
                          {"qk_norm", c.qk_norm},
                          {"qk_norm_eps", c.norm_eps},
                          {"rope_theta", c.rope.theta},
                          {"rope_scaling", kScaling[static_cast<std::size_t>(c.rope.scaling)]}});
    Json mlp(Object{{"type", "swiglu"}, {"hidden", c.intermediate_size}, {"bias", c.mlp_bias}});
    if (c.architecture && c.architecture->sub_norms) {
      for (Json* layer : {&attention, &mlp}) {
        layer->set("sub_norm", true);
        layer->set("sub_norm_eps", c.norm_eps);
      }
      mlp.set("activation", c.architecture->activation);
    }
    if (c.rope.scaling != RopeScaling::none) attention.set("rope_factor", c.rope.factor);
    if (c.rope.scaling == RopeScaling::llama3) {
      attention.set("rope_low_freq_factor", c.rope.low_freq_factor);
      attention.set("rope_high_freq_factor", c.rope.high_freq_factor);
      attention.set("rope_original_positions", c.rope.original_max_positions);
    }
    put(1 + i, sequential({sequential({norm(), std::move(attention)}), residual,
                           sequential({norm(), mlp}), residual}));
  }
  put(1 + c.layers, norm());
  Json output(Object{{"type", "dense"}, {"out", c.vocab_size}, {"bias", false}});
  if (c.tied) output.set("tie", "0.0.0.0:weight");
  put(2 + c.layers, output);
  const Json input(Object{{"ids", c.vocab_size}}), head(Json::Array{0, 0, 0, c.layers + 1});
  return Json(Object{{"format", "loom-topology"},
                     {"version", 1},
                     {"layers_per_cell", c.layers + 3},
                     {"input", input},
                     {"head", head},
                     {"cells", Json(std::move(cells))}});
}

}  // namespace loom
