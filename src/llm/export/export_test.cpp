#include "llm/export/export.h"

#include <cstring>

#include "formats/safetensors/safetensors.h"
#include "llm/import/entity_model.h"
#include "llm/test_models.h"

namespace loom {
namespace {

using namespace test;

constexpr const char* kFamilies[] = {
    "llama2_untied",  "llama3_scaled_rope", "llama_linear_rope_bias",
    "mistral_window", "qwen2_bias",         "qwen3_qknorm",
};

std::vector<float> logits(const std::string& path, const std::vector<std::int32_t>& ids) {
  Model model = load(path);
  return logits_of(model, ids);
}

class Export : public testing::Test {
 protected:
  std::string to(const char* name) const { return folder_ / name; }
  ModelExport write(const std::string& from, const std::string& out,
                    const std::string& dtype = "") {
    const ModelTarget target = out.ends_with(".gguf") ? ModelTarget::gguf : ModelTarget::folder;
    std::filesystem::remove_all(out);
    ModelExportOptions options;
    options.dtype = dtype;
    auto done = export_model(from, target, out, options);
    EXPECT_TRUE(done.ok()) << from << ": " << done.status().to_string();
    return done.ok() ? *done : ModelExport();
  }
  TempFolder folder_;
};

TEST_F(Export, ReadAgainComputesTheSameBits) {
  for (const char* family : kFamilies) {
    SCOPED_TRACE(family);
    const std::string from = data_path(std::string("families/") + family);
    const std::vector<std::int32_t> ids = read_golden(from).prompt;
    const std::vector<float> expected = logits(from, ids);
    const bool gguf = std::string_view(family) != "mistral_window";
    for (const std::string& out : {to("m.gguf"), to("hf")}) {
      if (out.ends_with(".gguf") && !gguf) continue;
      write(from, out);
      EXPECT_EQ(logits(out, ids), expected);
      // And from what was written to the other, and to itself.
      write(out, to("again"));
      EXPECT_EQ(logits(to("again"), ids), expected);
      if (gguf) {
        write(out, to("again.gguf"));
        EXPECT_EQ(logits(to("again.gguf"), ids), expected);
      }
    }
    Model model = load(from);
    ASSERT_TRUE(save_model(to("m.entity"), model).ok());
    write(to("m.entity"), to("hf"));
    EXPECT_EQ(logits(to("hf"), ids), expected);
    if (!gguf) continue;
    write(to("m.entity"), to("m.gguf"));
    EXPECT_EQ(logits(to("m.gguf"), ids), expected);
  }
}

TEST_F(Export, EveryTypeIsTheSameFromEverySource) {
  for (const char* family : kFamilies) {
    if (std::string_view(family) == "mistral_window") continue;
    SCOPED_TRACE(family);
    const std::string from = data_path(std::string("families/") + family);
    const std::vector<std::int32_t> ids = read_golden(from).prompt;
    for (const char* dtype : {"f32", "f16", "bf16", "q8_0", "q4_0"}) {
      SCOPED_TRACE(dtype);
      write(from, to("m.gguf"), dtype);
      const std::vector<float> expected = logits(to("m.gguf"), ids);
      // What has the type is written as it is.
      write(to("m.gguf"), to("again.gguf"));
      EXPECT_EQ(file_text(to("m.gguf")), file_text(to("again.gguf")));
      if (dtype[0] == 'q') continue;
      write(from, to("hf"), dtype);
      write(to("hf"), to("again"));
      EXPECT_EQ(file_text(to("hf/model.safetensors")), file_text(to("again/model.safetensors")));
    }
  }
}

TEST_F(Export, BlocksOfAnEntityAreWrittenAsTheyLie) {
  const std::string from = data_path("families/llama2_untied");
  const std::vector<std::int32_t> ids = read_golden(from).prompt;
  for (const char* dtype : {"q8_0", "q4_0", "f16", "bf16"}) {
    SCOPED_TRACE(dtype);
    Model model = load(from);
    ASSERT_TRUE(model.network.pack(*parse_weight_format(dtype)).ok());
    ASSERT_TRUE(save_model(to("m.entity"), model).ok());
    const ModelExport done = write(to("m.entity"), to("m.gguf"));
    for (const ExportedTensor& t : done.tensors) EXPECT_EQ(t.error.largest, 0) << t.name;
    auto back = load_model(to("m.gguf"), *parse_weight_format(dtype));
    ASSERT_TRUE(back.ok());
    EXPECT_EQ(logits_of(*back, ids), logits(to("m.entity"), ids));
  }
  Model model = load(from);
  ASSERT_TRUE(model.network.pack(*parse_weight_format("i4")).ok());
  LOOM_EXPECT_ERROR(export_model(model, ModelTarget::gguf, to("i4.gguf"), {}), Code::unsupported,
                    "choose a dtype: f32, f16, bf16, q8_0 or q4_0");
  LOOM_EXPECT_ERROR(export_model(model, ModelTarget::folder, to("i4"), {}), Code::unsupported,
                    "choose a dtype: f32, f16 or bf16");
}

// As blocks of a GGUF file are read by a program that is asked for no format: the bytes of the
// file, with the rows of rotary heads in Loom's order, and so through an .entity file.
TEST_F(Export, BlocksOfGgufRunAsTheyAreStored) {
  for (const char* family : {"llama2_untied", "qwen2_bias"})
    for (const char* dtype : {"q8_0", "q4_0"}) {
      SCOPED_TRACE(family + std::string(" ") + dtype);
      const std::string from = data_path(std::string("families/") + family);
      write(from, to("m.gguf"), dtype);
      auto kept = load_model(to("m.gguf"), {}, GgufBlocks::keep),
           packed = load_model(to("m.gguf"), *parse_weight_format(dtype)),
           decoded = load_model(to("m.gguf"));
      ASSERT_TRUE(kept.ok() && packed.ok() && decoded.ok());
      std::size_t blocks = 0;
      const auto own = kept->network.params(), other = packed->network.params();
      ASSERT_EQ(own.size(), other.size());
      for (std::size_t i = 0; i < own.size(); ++i) {
        WeightStore& store = *own[i].param->store;
        blocks += store.format().scale == ScaleKind::block;
        EXPECT_EQ(store.format().scale == ScaleKind::block, own[i].param->spec.quantized);
        if (store.format() != other[i].param->store->format()) continue;  // q8_0 beside q4_0
        EXPECT_TRUE(
            std::ranges::equal(store.packed()->bytes(), other[i].param->store->packed()->bytes()))
            << own[i].path << ":" << own[i].param->spec.role;
      }
      EXPECT_GT(blocks, 10u);
      EXPECT_LT(2 * kept->network.weight_bytes(), decoded->network.weight_bytes());
      const std::vector<std::int32_t> ids = read_golden(from).prompt;
      ASSERT_TRUE(save_model(to("m.entity"), *kept).ok());
      EXPECT_EQ(logits_of(*kept, ids), logits(to("m.entity"), ids));
    }
}

TEST_F(Export, RefusesByName) {
  const auto refuse = [&](const char* family, ModelTarget target, const char* dtype, Code code,
                          const char* part) {
    ModelExportOptions options;
    options.dtype = dtype;
    const std::string out = to("refused.gguf");
    LOOM_EXPECT_ERROR(
        export_model(data_path(std::string("families/") + family), target, out, options), code,
        part);
    EXPECT_FALSE(std::filesystem::exists(out));
  };
  refuse("mistral_window", ModelTarget::gguf, "", Code::unsupported, "sliding windows (here of 16");
  refuse("qwen2_bias", ModelTarget::gguf, "q5_0", Code::invalid_argument,
         "is written as f32, f16, bf16, q8_0, q4_0, not 'q5_0'");
  refuse("qwen2_bias", ModelTarget::folder, "q8_0", Code::invalid_argument,
         "is written as f32, f16, bf16, not 'q8_0'");
  write(data_path("families/qwen2_bias"), to("hf"));
  LOOM_EXPECT_ERROR(
      export_model(data_path("families/qwen2_bias"), ModelTarget::folder, to("hf"), {}),
      Code::invalid_argument, "holds a model already");
}

TEST_F(Export, ShardsOfAFolder) {
  const std::string from = data_path("families/qwen3_qknorm");
  ModelExportOptions options;
  options.shard_bytes = 300'000;
  ASSERT_TRUE(export_model(from, ModelTarget::folder, to("hf") + "/", options).ok());
  EXPECT_TRUE(std::filesystem::exists(to("hf/model-00002-of-00003.safetensors")) ||
              std::filesystem::exists(to("hf/model.safetensors.index.json")));
  EXPECT_FALSE(std::filesystem::exists(to("hf/model.safetensors")));
  const std::vector<std::int32_t> ids = read_golden(from).prompt;
  EXPECT_EQ(logits(to("hf"), ids), logits(from, ids));
}

TEST_F(Export, TokenizersComeBack) {
  const char* kText = "Once upon a time, 12345 \xE2\x82\xAC <s> x\n\n  don't \xF0\x9F\x98\x80!";
  const std::string from = data_path("tales/tales.gguf");
  Model model = load(from);
  ASSERT_TRUE(model.tokenizer.ok());
  const std::vector<std::int32_t> ids = model.tokenizer->encode(kText);
  const auto same = [&](const std::string& path) {
    Model back = load(path);
    ASSERT_TRUE(back.tokenizer.ok()) << back.tokenizer.status().to_string();
    EXPECT_EQ(back.tokenizer->encode(kText), ids);
    EXPECT_EQ(back.tokenizer->decode(ids), model.tokenizer->decode(ids));
    EXPECT_EQ(back.tokenizer->bos(), model.tokenizer->bos());
    EXPECT_EQ(back.tokenizer->eos(), model.tokenizer->eos());
    EXPECT_EQ(back.config.eos, model.config.eos);
    EXPECT_EQ(logits_of(back, ids), logits_of(model, ids));
  };
  write(from, to("m.gguf"));
  same(to("m.gguf"));
  write(to("m.gguf"), to("hf"));
  same(to("hf"));
  write(to("hf"), to("other.gguf"));
  same(to("other.gguf"));
  ModelExportOptions options;
  options.tokenizer = false;
  ASSERT_TRUE(export_model(from, ModelTarget::gguf, to("none.gguf"), options).ok());
  Model none = load(to("none.gguf"));
  EXPECT_EQ(none.tokenizer.status().code(), Code::not_found);
  EXPECT_EQ(none.config.bos, model.config.bos);
}

}  // namespace
}  // namespace loom
