// Readers on real files: names, shapes and bytes against each other and against the raw file.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/files/bytes.h"
#include "base/json/json.h"
#include "formats/gguf/gguf.h"
#include "formats/safetensors/safetensors.h"
#include "support/data.h"

namespace loom {
namespace {

std::vector<float> all_f32(const TensorInfo& tensor) {
  std::vector<float> values(tensor.elements());
  const Status status = read_f32(tensor, 0, values);
  EXPECT_TRUE(status.ok()) << status.to_string();
  return values;
}

Result<Gguf> open_gguf(const std::string& path) {
  LOOM_ASSIGN(SourcePtr source, open_source(path));
  return Gguf::open(std::move(source));
}

// HF rotates halves, llama2.c neighbors: row 2i + j of a head is HF's row i + j * half.
static std::vector<float> neighbors_of_halves(const std::vector<float>& rows, std::size_t cols) {
  constexpr std::size_t kHead = 8, kHalf = kHead / 2;
  std::vector<float> back(rows.size());
  for (std::size_t row = 0; row < rows.size() / cols; ++row) {
    const std::size_t head = row / kHead, in = row % kHead;
    std::copy_n(
        rows.begin() + static_cast<std::ptrdiff_t>((head * kHead + in / 2 + in % 2 * kHalf) * cols),
        cols, back.begin() + static_cast<std::ptrdiff_t>(row * cols));
  }
  return back;
}

// llama2.c keeps all weights as plain f32 behind a 28-byte header: a third form of the same network
// that neither reader made.
TEST(Formats, StoriesTensorsEqualTheRawCheckpoint) {
  LOOM_TEST_FILE(folder, "stories260K/hf");
  LOOM_TEST_FILE(gguf_path, "stories260K/stories260K.gguf");
  LOOM_TEST_FILE(raw_path, "stories260K/stories260K.bin");
  auto hf = Safetensors::open_folder(folder);
  ASSERT_TRUE(hf.ok()) << hf.status().to_string();
  auto gguf = open_gguf(gguf_path);
  ASSERT_TRUE(gguf.ok()) << gguf.status().to_string();
  auto raw_source = open_source(raw_path);
  ASSERT_TRUE(raw_source.ok());
  constexpr std::size_t kDim = 64, kHidden = 172, kLayers = 5, kVocab = 512, kKv = 32;
  std::size_t at = 28;
  const auto next = [&](std::size_t count) {
    std::vector<std::byte> bytes(count * 4);
    EXPECT_TRUE((*raw_source)->read(at, bytes).ok());
    at += bytes.size();
    std::vector<float> values(count);
    for (std::size_t i = 0; i < count; ++i) values[i] = load_le<float>(bytes.data() + i * 4);
    return values;
  };
  const auto check = [&](const std::string& hf_name, const std::string& gguf_name,
                         std::vector<std::int64_t> shape, const std::vector<float>& want) {
    const TensorInfo* g = gguf->find(gguf_name);
    ASSERT_TRUE(g) << gguf_name;
    EXPECT_EQ(g->shape, shape) << gguf_name;
    EXPECT_EQ(all_f32(*g), want) << gguf_name;
    const TensorInfo* h = hf->find(hf_name);
    ASSERT_TRUE(h) << hf_name;
    EXPECT_EQ(h->shape, shape) << hf_name;
    std::vector<float> got = all_f32(*h);
    if (hf_name.find("q_proj") != hf_name.npos || hf_name.find("k_proj") != hf_name.npos)
      got = neighbors_of_halves(got, kDim);
    EXPECT_EQ(got, want) << hf_name;
  };
  check("model.embed_tokens.weight", "token_embd.weight", {kVocab, kDim}, next(kVocab * kDim));
  struct Kind {
    const char *hf, *gguf;
    std::vector<std::int64_t> shape;
  };
  const Kind kinds[] = {{"input_layernorm", "attn_norm", {kDim}},
                        {"self_attn.q_proj", "attn_q", {kDim, kDim}},
                        {"self_attn.k_proj", "attn_k", {kKv, kDim}},
                        {"self_attn.v_proj", "attn_v", {kKv, kDim}},
                        {"self_attn.o_proj", "attn_output", {kDim, kDim}},
                        {"post_attention_layernorm", "ffn_norm", {kDim}},
                        {"mlp.gate_proj", "ffn_gate", {kHidden, kDim}},
                        {"mlp.down_proj", "ffn_down", {kDim, kHidden}},
                        {"mlp.up_proj", "ffn_up", {kHidden, kDim}}};
  for (const Kind& kind : kinds) {
    for (std::size_t layer = 0; layer < kLayers; ++layer) {
      const std::string n = std::to_string(layer);
      check("model.layers." + n + "." + kind.hf + ".weight",
            "blk." + n + "." + kind.gguf + ".weight", kind.shape, next(*element_count(kind.shape)));
    }
  }
  check("model.norm.weight", "output_norm.weight", {kDim}, next(kDim));
}

TEST(Formats, GgufMetadata) {
  LOOM_TEST_FILE(path, "tales/tales.gguf");
  auto file = open_gguf(path);
  ASSERT_TRUE(file.ok()) << file.status().to_string();
  EXPECT_EQ(file->version(), 3u);
  EXPECT_EQ(file->tensors().size(), 47u);
  EXPECT_EQ(*file->get_string("general.architecture"), "llama");
  EXPECT_EQ(*file->get_u32("llama.block_count"), 5u);
  EXPECT_EQ(*file->get_u32("llama.attention.head_count_kv"), 4u);
  EXPECT_FLOAT_EQ(*file->get_f32("llama.attention.layer_norm_rms_epsilon"), 1e-5f);
  auto tokens = file->get_strings("tokenizer.ggml.tokens");
  ASSERT_TRUE(tokens.ok());
  EXPECT_EQ(tokens->size(), 512u);
  EXPECT_EQ((*tokens)[1], "<s>");
  EXPECT_EQ(file->get_floats("tokenizer.ggml.scores")->size(), 512u);
  EXPECT_EQ(file->get_integers("tokenizer.ggml.token_type")->size(), 512u);
}

class FamilyFolder : public testing::TestWithParam<const char*> {};

TEST_P(FamilyFolder, HoldsWhatItPromises) {
  LOOM_TEST_FILE(index, std::string("families/") + GetParam());
  auto file = Safetensors::open_folder(std::filesystem::path(index).parent_path().string());
  ASSERT_TRUE(file.ok()) << file.status().to_string();
  EXPECT_GT(file->tensors().size(), 10u);
}

INSTANTIATE_TEST_SUITE_P(Formats, FamilyFolder,
                         testing::Values("qwen2_bias/model.safetensors.index.json",
                                         "mistral_window/model.safetensors",
                                         "llama3_scaled_rope/model.safetensors.index.json",
                                         "gemma2/model.safetensors.index.json"),
                         [](const auto& test) {
                           const std::string path = test.param;
                           return path.substr(0, path.find('/'));
                         });

}  // namespace
}  // namespace loom
