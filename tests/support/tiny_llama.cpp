#include "support/tiny_llama.h"

#include <fstream>
#include <iterator>
#include <vector>

#include "base/files/bytes.h"
#include "support/places.h"

namespace loom::test {
namespace {

void write(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

}  // namespace

bool write_tiny_llama(const std::string& folder) {
  write(folder + "/config.json",
        R"({"model_type":"llama","architectures":["LlamaForCausalLM"],"hidden_size":16,
        "intermediate_size":24,"num_hidden_layers":1,"num_attention_heads":2,
        "num_key_value_heads":1,"vocab_size":320,"max_position_embeddings":64,"rms_norm_eps":1e-5,
        "rope_theta":10000.0,"tie_word_embeddings":true,"bos_token_id":0,"eos_token_id":2,
        "hidden_act":"silu"})");
  struct Tensor {
    const char* name;
    std::vector<std::size_t> shape;
  };
  const std::vector<Tensor> tensors = {{"model.embed_tokens.weight", {320, 16}},
                                       {"model.layers.0.input_layernorm.weight", {16}},
                                       {"model.layers.0.mlp.down_proj.weight", {16, 24}},
                                       {"model.layers.0.mlp.gate_proj.weight", {24, 16}},
                                       {"model.layers.0.mlp.up_proj.weight", {24, 16}},
                                       {"model.layers.0.post_attention_layernorm.weight", {16}},
                                       {"model.layers.0.self_attn.k_proj.weight", {8, 16}},
                                       {"model.layers.0.self_attn.o_proj.weight", {16, 16}},
                                       {"model.layers.0.self_attn.q_proj.weight", {16, 16}},
                                       {"model.layers.0.self_attn.v_proj.weight", {8, 16}},
                                       {"model.norm.weight", {16}}};
  std::string header = "{", data;
  for (const Tensor& t : tensors) {
    std::size_t n = 1;
    std::string shape;
    for (const std::size_t d : t.shape) {
      n *= d;
      shape += (shape.empty() ? "" : ",") + std::to_string(d);
    }
    header += std::string(header.size() > 1 ? "," : "") + "\"" + t.name +
              "\":{\"dtype\":\"F32\",\"shape\":[" + shape + "],\"data_offsets\":[" +
              std::to_string(data.size()) + "," + std::to_string(data.size() + 4 * n) + "]}";
    for (std::size_t i = 0; i < n; ++i) {
      char bytes[4];
      store_le<float>(reinterpret_cast<std::byte*>(bytes),
                      static_cast<float>(static_cast<int>((i * 31 + n) % 23) - 11) / 32);
      data.append(bytes, 4);
    }
  }
  header += "}";
  while (header.size() % 8 != 0) header += " ";
  char size[8];
  store_le<std::uint64_t>(reinterpret_cast<std::byte*>(size), header.size());
  write(folder + "/model.safetensors", std::string(size, 8) + header + data);
  for (const char* name : {"tokenizer.json", "tokenizer_config.json"}) {
    std::ifstream in(source_dir() + "/tests/cases/data/tiny." + name, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    if (text.empty()) return false;
    write(folder + "/" + name, text);
  }
  return std::ifstream(folder + "/model.safetensors").good();
}

}  // namespace loom::test
