// Adapters of language models: the names PEFT gives them, and logits with the adapter beside and
// inside the weights.
#include "llm/adapter.h"

#include <filesystem>

#include "base/random.h"
#include "formats/safetensors/safetensors.h"
#include "llm/generate/generate.h"
#include "llm/test_models.h"

namespace loom {
namespace {

using namespace test;

class LlmAdapter : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(folder); }
  void TearDown() override { std::filesystem::remove_all(folder); }
  const std::string folder =
      (std::filesystem::temp_directory_path() / ("loom_llm_adapter_" + std::to_string(::getpid())))
          .string();
};

Adapter random_adapter(Model& model, const std::vector<std::string>& targets) {
  auto adapter = Adapter::create(model.network, adapter_places(model),
                                 {.rank = 8, .alpha = 16, .targets = targets}, 3);
  EXPECT_TRUE(adapter.ok()) << adapter.status().to_string();
  std::uint64_t stream = 0;
  for (const Adapter::Target& t : adapter->targets) {
    const RandomStream random(8, stream++);
    std::size_t i = 0;
    for (float& v : t.b->mutable_master()) v = 0.1f * normal(random, i++);
    t.b->touch();
  }
  return std::move(*adapter);
}

// Written by hand from PEFT's layout for a LlamaForCausalLM: module names of transformers behind
// "base_model.model.", A [r, in], B [out, r]. The model has 5 layers of width 64, 8 heads and 4 key
// heads of 8, and 172 hidden values.
TEST_F(LlmAdapter, KeysAndShapesArePefts) {
  LOOM_TEST_FILE(path, "tales/hf");
  Model model = load(path);
  const Adapter adapter = random_adapter(model, {});
  ASSERT_TRUE(save_adapter(folder, adapter, adapter_places(model), {model.name, true}).ok());
  std::vector<std::string> want, got;
  const struct {
    const char* module;
    int in, out;
  } kModules[] = {{"self_attn.q_proj", 64, 64}, {"self_attn.k_proj", 64, 32},
                  {"self_attn.v_proj", 64, 32}, {"self_attn.o_proj", 64, 64},
                  {"mlp.gate_proj", 64, 172},   {"mlp.up_proj", 64, 172},
                  {"mlp.down_proj", 172, 64}};
  for (int layer = 0; layer < 5; ++layer)
    for (const auto& m : kModules) {
      const std::string stem =
          "base_model.model.model.layers." + std::to_string(layer) + "." + m.module;
      want.push_back(stem + ".lora_A.weight [8, " + std::to_string(m.in) + "] f32");
      want.push_back(stem + ".lora_B.weight [" + std::to_string(m.out) + ", 8] f32");
    }
  const auto file = Safetensors::open(*open_source(folder + "/adapter_model.safetensors"));
  ASSERT_TRUE(file.ok());
  for (const TensorInfo& t : file->tensors())
    got.push_back(t.name + " " + shape_text(t.shape) + " " + std::string(name(t.type)));
  std::sort(want.begin(), want.end());
  std::sort(got.begin(), got.end());
  EXPECT_EQ(got, want);
  const auto config = Json::parse(file_text(folder + "/adapter_config.json"));
  ASSERT_TRUE(config.ok());
  EXPECT_EQ(config->find("target_modules")->dump(),
            R"(["down_proj","gate_proj","k_proj","o_proj","q_proj","up_proj","v_proj"])");
  EXPECT_EQ(config->find("task_type")->as_string(), "CAUSAL_LM");
  EXPECT_EQ(config->find("peft_type")->as_string(), "LORA");
  EXPECT_EQ(config->find("r")->as_integer(), 8);
  EXPECT_EQ(config->find("lora_alpha")->as_integer(), 16);

  // A single module of several of its name goes by its full name.
  ASSERT_TRUE(save_adapter(folder,
                           random_adapter(model, {"v_proj", "model.layers.2.self_attn.q_proj"}),
                           adapter_places(model))
                  .ok());
  EXPECT_EQ(Json::parse(file_text(folder + "/adapter_config.json"))->find("target_modules")->dump(),
            R"(["model.layers.2.self_attn.q_proj","v_proj"])");
}

TEST_F(LlmAdapter, MergedAndUnmergedAgree) {
  LOOM_TEST_FILE(path, "tales/hf");
  Model model = load(path);
  const std::string before = *digest(model.network);
  const std::vector<std::int32_t> ids = {1, 403, 407, 261, 378, 50, 9, 300, 21, 75, 8, 142};
  const std::vector<float> plain = logits_of(model, ids);
  ASSERT_TRUE(save_adapter(folder, random_adapter(model, {}), adapter_places(model)).ok());
  auto loaded = load_adapter(folder, model);
  ASSERT_TRUE(loaded.ok()) << loaded.status().to_string();
  EvaluateOptions with;
  with.adapter = std::make_shared<Adapter>(*loaded);
  const std::vector<float> beside = logits_of(model, ids, with);
  EXPECT_GT(largest_difference(beside, plain), 0.1f);
  EXPECT_EQ(*digest(model.network), before);

  // A generator swaps it, and back.
  ThreadPool pool(1);
  auto generator = Generator::create(model, pool);
  auto last = [&] {
    EXPECT_TRUE(generator->feed(ids).ok());
    return std::vector<float>(generator->logits().begin(), generator->logits().end());
  };
  const std::vector<float> at_first = last();
  ASSERT_TRUE(generator->adapt(with.adapter).ok());
  EXPECT_TRUE(generator->tokens().empty());
  const std::vector<float> adapted = last();
  EXPECT_EQ(adapted, std::vector<float>(beside.end() - 512, beside.end()));
  ASSERT_TRUE(generator->adapt(nullptr).ok());
  EXPECT_EQ(last(), at_first);

  ASSERT_TRUE(loaded->merge(model.network).ok());
  EXPECT_LT(largest_difference(logits_of(model, ids), beside), 1e-5f * 10);
}

}  // namespace
}  // namespace loom
