#include "llm/config/architecture.h"

#include <array>

namespace loom {

extern const Architecture kLlama, kMistral, kQwen2, kQwen3, kBitnet;

namespace {

constexpr std::array<const Architecture*, 5> kList = {&kLlama, &kMistral, &kQwen2, &kQwen3,
                                                      &kBitnet};

// Children of a block's cell (decoder_topology): /0 is [norm, attention], /2 is [norm, swiglu].
constexpr TensorName kBlock[] = {
    {"/0/0", "gain", "input_layernorm.weight", "attn_norm.weight"},
    {"/0/1", "q", "self_attn.q_proj.weight", "attn_q.weight", RowOrder::query_heads},
    {"/0/1", "k", "self_attn.k_proj.weight", "attn_k.weight", RowOrder::key_heads},
    {"/0/1", "v", "self_attn.v_proj.weight", "attn_v.weight"},
    {"/0/1", "o", "self_attn.o_proj.weight", "attn_output.weight"},
    {"/0/1", "q_bias", "self_attn.q_proj.bias", "attn_q.bias", RowOrder::query_heads},
    {"/0/1", "k_bias", "self_attn.k_proj.bias", "attn_k.bias", RowOrder::key_heads},
    {"/0/1", "v_bias", "self_attn.v_proj.bias", "attn_v.bias"},
    {"/0/1", "o_bias", "self_attn.o_proj.bias", "attn_output.bias"},
    {"/0/1", "q_norm", "self_attn.q_norm.weight", "attn_q_norm.weight"},
    {"/0/1", "k_norm", "self_attn.k_norm.weight", "attn_k_norm.weight"},
    {"/0/1", "sub_norm", "self_attn.attn_sub_norm.weight", "attn_sub_norm.weight"},
    {"/2/0", "gain", "post_attention_layernorm.weight", "ffn_norm.weight"},
    {"/2/1", "gate", "mlp.gate_proj.weight", "ffn_gate.weight"},
    {"/2/1", "up", "mlp.up_proj.weight", "ffn_up.weight"},
    {"/2/1", "down", "mlp.down_proj.weight", "ffn_down.weight"},
    {"/2/1", "sub_norm", "mlp.ffn_sub_norm.weight", "ffn_sub_norm.weight"},
    {"/2/1", "gate_bias", "mlp.gate_proj.bias", "ffn_gate.bias"},
    {"/2/1", "up_bias", "mlp.up_proj.bias", "ffn_up.bias"},
    {"/2/1", "down_bias", "mlp.down_proj.bias", "ffn_down.bias"},
};

constexpr TensorName kModel[] = {
    {"embedding", "weight", "model.embed_tokens.weight", "token_embd.weight"},
    {"norm", "gain", "model.norm.weight", "output_norm.weight"},
    {"output", "weight", "lm_head.weight", "output.weight"},
};

}  // namespace

std::span<const Architecture* const> architectures() { return kList; }

const Architecture* find_architecture(std::string_view model_type) {
  for (const Architecture* a : kList)
    if (a->name == model_type) return a;
  return nullptr;
}

const Architecture* find_gguf_architecture(std::string_view name) {
  for (const Architecture* a : kList)
    if (!a->gguf.empty() && a->gguf == name) return a;
  return nullptr;
}

std::string unknown_architecture(std::string_view name) {
  std::string known, file;
  for (const Architecture* a : kList) known += (known.empty() ? "" : ", ") + std::string(a->name);
  // The name comes from a file: only what can stand in a file name is repeated.
  for (const char c : name.substr(0, 40)) {
    if (c >= 'A' && c <= 'Z') file += static_cast<char>(c - 'A' + 'a');
    else file += (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ? c : '_';
  }
  return "the architecture '" + file + "' is not supported: known are " + known +
         "; it would need src/llm/import/import_" + file + ".cpp";
}

std::span<const TensorName> block_tensors() { return kBlock; }
std::span<const TensorName> model_tensors() { return kModel; }

}  // namespace loom
