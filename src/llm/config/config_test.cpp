#include "llm/config/config.h"

#include <gtest/gtest.h>

#include "formats/test_files.h"
#include "llm/config/architecture.h"

namespace loom {
namespace {

constexpr const char* kBase =
    R"({"model_type": "llama", "vocab_size": 64, "hidden_size": 32, "intermediate_size": 48,
  "num_hidden_layers": 4, "num_attention_heads": 4, "num_key_value_heads": 2, "max_position_embeddings": 128})";

// The base configuration with the members of `changes` set; a member that is {} is left out.
Json with(const char* changes) {
  Json json = *Json::parse(kBase);
  const Json other = *Json::parse(changes);
  for (const auto& [key, value] : other.as_object()) {
    if (!value.is_object() || !value.as_object().empty()) json.set(key, value);
    else std::erase_if(json.as_object(), [&](const Json::Member& m) { return m.first == key; });
  }
  return json;
}
ModelConfig config(const char* changes) {
  auto c = config_from_hf(with(changes));
  EXPECT_TRUE(c.ok()) << c.status().to_string();
  return c.ok() ? *c : ModelConfig{};
}

TEST(Config, defaults_are_those_of_transformers) {
  const ModelConfig llama = config("{}");
  EXPECT_EQ(llama.head_dim, 8);
  EXPECT_EQ(llama.norm_eps, 1e-6);
  EXPECT_EQ(llama.rope, RopeSpec{});
  EXPECT_EQ(llama.windows, (std::vector<std::int64_t>(4, 0)));
  EXPECT_FALSE(llama.tied || llama.qkv_bias || llama.out_bias || llama.mlp_bias || llama.qk_norm);
  EXPECT_EQ(config(R"({"num_key_value_heads": {}})").kv_heads, 4);
  EXPECT_EQ(config(R"({"num_key_value_heads": null})").kv_heads, 4);
  EXPECT_EQ(config(R"({"max_position_embeddings": {}})").max_positions, 2048);
  EXPECT_EQ(
      config(R"({"model_type": "mistral", "num_key_value_heads": {}, "num_attention_heads": 16})")
          .kv_heads,
      8);
  EXPECT_EQ(config(R"({"model_type": "qwen3"})").head_dim, 128);
  EXPECT_EQ(config(R"({"model_type": "qwen3", "head_dim": null})").head_dim, 8);
  EXPECT_EQ(
      config(R"({"model_type": {}, "architectures": ["Qwen2ForCausalLM"]})").architecture->name,
      "qwen2");
}

TEST(Config, both_forms_of_rope_settings) {
  const RopeSpec llama3{500000, RopeScaling::llama3, 8, 1, 4, 64};
  EXPECT_EQ(
      config(
          R"({"rope_theta": 500000.0, "rope_scaling": {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0,
    "high_freq_factor": 4.0, "original_max_position_embeddings": 64}})")
          .rope,
      llama3);
  EXPECT_EQ(
      config(
          R"({"rope_parameters": {"rope_theta": 500000.0, "rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0,
    "high_freq_factor": 4.0, "original_max_position_embeddings": 64}})")
          .rope,
      llama3);
  const ModelConfig old = config(R"({"rope_scaling": {"type": "linear", "factor": 2}})");
  EXPECT_EQ(old.rope.scaling, RopeScaling::linear);
  EXPECT_EQ(old.rope.factor, 2);
  EXPECT_EQ(
      config(
          R"({"rope_parameters": {"rope_theta": 1e6, "rope_type": "default", "partial_rotary_factor": 1.0}})")
          .rope.theta,
      1e6);
}

TEST(Config, windows) {
  using W = std::vector<std::int64_t>;
  EXPECT_EQ(config(R"({"model_type": "mistral", "sliding_window": 16})").windows, W(4, 16));
  EXPECT_EQ(config(R"({"model_type": "mistral", "sliding_window": null})").windows, W(4, 0));
  EXPECT_EQ(config(R"({"model_type": "mistral"})").windows, W(4, 4096));
  EXPECT_EQ(config(R"({"model_type": "qwen2", "sliding_window": 16, "use_sliding_window": false})")
                .windows,
            W(4, 0));
  EXPECT_EQ(
      config(
          R"({"model_type": "qwen2", "sliding_window": 16, "use_sliding_window": true, "max_window_layers": 3})")
          .windows,
      (W{0, 0, 0, 16}));
  EXPECT_EQ(config(R"({"model_type": "qwen3", "sliding_window": 16, "use_sliding_window": true,
    "layer_types": ["sliding_attention", "full_attention", "sliding_attention", "full_attention"]})")
                .windows,
            (W{16, 0, 16, 0}));
  EXPECT_EQ(config(R"({"sliding_window": 128})").windows, W(4, 0));
}

TEST(Config, biases_norms_ties_and_ids) {
  const ModelConfig c = config(
      R"({"attention_bias": true, "mlp_bias": true, "tie_word_embeddings": true, "bos_token_id": 1, "eos_token_id": [2, 5]})");
  EXPECT_TRUE(c.qkv_bias && c.out_bias && c.mlp_bias && c.tied);
  EXPECT_EQ(c.bos, 1);
  EXPECT_EQ(c.eos, (std::vector<std::int32_t>{2, 5}));
  const ModelConfig q2 = config(R"({"model_type": "qwen2", "eos_token_id": 7})");
  EXPECT_TRUE(q2.qkv_bias && !q2.out_bias && !q2.qk_norm);
  ModelConfig q3 = config(R"({"model_type": "qwen3", "eos_token_id": 7})");
  EXPECT_TRUE(!q3.qkv_bias && !q3.out_bias && q3.qk_norm);
  ASSERT_TRUE(
      add_generation_config(
          *Json::parse(
              R"({"eos_token_id": [8, 9], "temperature": 0.6, "top_k": 20, "top_p": 0.95})"),
          &q3)
          .ok());
  EXPECT_EQ(q3.eos, (std::vector<std::int32_t>{8, 9}));
  EXPECT_EQ(q3.temperature, 0.6);
  EXPECT_EQ(q3.top_k, 20);
  EXPECT_EQ(q3.top_p, 0.95);
  EXPECT_FALSE(q3.min_p);
}

TEST(Config, what_is_not_supported_is_named) {
  const struct {
    const char* changes;
    Code code;
    const char* text;
  } cases[] = {
      {R"({"model_type": "gpt2"})", Code::unsupported, "src/llm/import/import_gpt2.cpp"},
      {R"({"model_type": "../../x"})", Code::unsupported, "'______x'"},
      {R"({"architectures": ["LlamaForSequenceClassification"]})", Code::unsupported,
       "only LlamaForCausalLM"},
      {R"({"hidden_act": "gelu"})", Code::unsupported,
       "\"hidden_act\": \"gelu\" is not supported, only \"silu\""},
      {R"({"rope_scaling": {"type": "dynamic", "factor": 2}})", Code::unsupported,
       "rope_type 'dynamic'"},
      {R"({"rope_scaling": {"rope_type": "yarn", "factor": 2, "beta_fast": 32}})",
       Code::unsupported, "rope_type 'yarn'"},
      {R"({"rope_parameters": {"rope_type": "longrope"}})", Code::unsupported,
       "rope_type 'longrope'"},
      {R"({"rope_parameters": {"full_attention": {"rope_theta": 1}}})", Code::unsupported,
       "differ by layer"},
      {R"({"rope_parameters": {"rope_type": "default", "mrope_section": [1]}})", Code::unsupported,
       "'mrope_section'"},
      {R"({"rope_scaling": {"type": "linear"}})", Code::corrupt, "needs a number \"factor\""},
      {R"({"partial_rotary_factor": 0.5})", Code::unsupported, "partial_rotary_factor"},
      {R"({"rope_interleaved": true})", Code::unsupported, "rope_interleaved"},
      {R"({"attn_logit_softcapping": 50.0})", Code::unsupported, "attn_logit_softcapping"},
      {R"({"quantization_config": {"quant_method": "gptq"}})", Code::unsupported,
       "quantization_config"},
      {R"({"num_local_experts": 8})", Code::unsupported, "num_local_experts"},
      {R"({"sliding_window": 16})", Code::unsupported, "\"sliding_window\": 16"},
      {R"({"model_type": "mistral", "attention_bias": true})", Code::unsupported, "attention_bias"},
      {R"({"model_type": "qwen2", "layer_types": ["full_attention"]})", Code::corrupt,
       "a list of 4 names"},
      {R"({"model_type": "qwen2", "layer_types": ["x", "x", "x", "x"]})", Code::unsupported,
       "\"x\" is not supported"},
      {R"({"model_type": "qwen2", "layer_types": ["sliding_attention", "full_attention", "full_attention", "full_attention"]})",
       Code::corrupt, "no \"sliding_window\""},
      {R"({"vocab_size": {}})", Code::corrupt, "\"vocab_size\" is missing"},
      {R"({"hidden_size": -3})", Code::corrupt, "it is -3"},
      {R"({"num_hidden_layers": 99999999})", Code::corrupt, "at most 65536"},
      {R"({"num_attention_heads": 64})", Code::corrupt, "64 heads cannot share"},
      {R"({"eos_token_id": "x"})", Code::corrupt, "eos_token_id"},
  };
  for (const auto& c : cases) LOOM_EXPECT_ERROR(config_from_hf(with(c.changes)), c.code, c.text);
  LOOM_EXPECT_ERROR(config_from_hf(Json::array()), Code::corrupt, "expected a JSON object");
  LOOM_EXPECT_ERROR(config_from_hf(Json::object()), Code::corrupt,
                    "neither \"model_type\" nor \"architectures\"");
}

}  // namespace
}  // namespace loom
