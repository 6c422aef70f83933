// Real and random models against the logits and tokens that llama2.c and transformers computed.
#include "llm/model.h"

#include <cstdlib>
#include <filesystem>

#include "llm/config/architecture.h"
#include "llm/generate/generate.h"
#include "llm/import/locate.h"
#include "llm/test_models.h"

namespace loom {
namespace {

using namespace test;

std::vector<std::int32_t> greedy(Model& model, std::span<const std::int32_t> prompt,
                                 std::int64_t count) {
  ThreadPool pool(1);
  auto g = Generator::create(model, pool);
  EXPECT_TRUE(g.ok()) << g.status().to_string();
  EXPECT_TRUE(g->feed(prompt).ok());
  Generation result;
  GenerateOptions options;
  options.max_tokens = count;
  options.ignore_eos = true;
  EXPECT_TRUE(g->generate(options, &result).ok());
  return result.ids;
}

// One with the answers of transformers, the other with those of llama2.c.
class StoryModel : public testing::TestWithParam<const char*> {};

TEST_P(StoryModel, from_a_folder_a_file_and_gguf) {
  const std::string name = GetParam();
  LOOM_TEST_FILE(folder, name + "/hf");
  LOOM_TEST_FILE(gguf, name + "/" + name + ".gguf");
  LOOM_TEST_FILE(tokens, name + "/golden_tokens_256.txt");
  LOOM_TEST_FILE(logits, name + "/golden_logits_pos0_63.f32");
  std::vector<std::int32_t> in, out;
  std::ifstream lines(tokens);
  double logit, gap;
  for (std::int32_t position, a, b; lines >> position >> a >> b >> logit >> gap;) {
    in.push_back(a);
    out.push_back(b);
  }
  ASSERT_EQ(out.size(), 256u);
  for (const std::string& path : {folder, folder + "/model.safetensors", gguf}) {
    Model model = load(path);
    EXPECT_EQ(model.config.architecture->name, "llama");
    EXPECT_EQ(greedy(model, std::vector<std::int32_t>{1}, 256), out) << path;
    EXPECT_LT(largest_difference(logits_of(model, std::span(in).first(64)), read_floats(logits)),
              1e-4f)
        << path;
  }
}

INSTANTIATE_TEST_SUITE_P(Model, StoryModel, testing::Values("tales", "stories260K"),
                         [](const auto& test) { return std::string(test.param); });

class Family : public testing::TestWithParam<const char*> {};

TEST_P(Family, answers_as_in_transformers) {
  LOOM_TEST_FILE(folder, std::string("families/") + GetParam());
  Model model = load(folder);
  const Golden golden = read_golden(folder);
  const std::vector<float> logits = read_floats(folder + "/golden_logits.f32");
  EXPECT_LT(largest_difference(logits_of(model, golden.prompt), logits), 1e-4f);
  EXPECT_EQ(greedy(model, golden.prompt, 64), golden.greedy);
  EXPECT_EQ(model.tokenizer.status().code(), Code::not_found);
}

INSTANTIATE_TEST_SUITE_P(Model, Family,
                         testing::Values("llama2_untied", "llama3_scaled_rope",
                                         "llama_linear_rope_bias", "mistral_window", "qwen2_bias",
                                         "qwen3_qknorm"),
                         [](const auto& test) { return std::string(test.param); });

class ModelFile : public testing::TestWithParam<const char*> {};

// Packed while it is read, or loaded in f32 and morphed: the same bytes, and no master stays beside
// them.
TEST_P(ModelFile, loads_as_a_dtype) {
  LOOM_TEST_FILE(file, GetParam());
  for (const char* dtype :
       {"f32", "f64", "bf16", "i8", "i8:tensor", "u4", "i4", "q4_0", "ternary"}) {
    const WeightFormat format = *parse_weight_format(dtype);
    auto direct = load_model(file, format);
    Model morphed = load(file);
    ASSERT_TRUE(direct.ok()) << direct.status().to_string();
    ASSERT_TRUE(morphed.network.morph(format).ok());
    const auto a = direct->network.params(), b = morphed.network.params();
    ASSERT_EQ(a.size(), b.size());
    for (std::size_t i = 0; i < a.size(); ++i) {
      WeightStore &x = *a[i].param->store, &y = *b[i].param->store;
      EXPECT_EQ(x.format(), y.format()) << dtype;
      EXPECT_TRUE(std::ranges::equal(x.packed()->bytes(), y.packed()->bytes()))
          << dtype << " " << a[i].path;
      const bool master =
          !a[i].param->spec.quantized || format.dtype == DType::f32 || format.dtype == DType::f64;
      EXPECT_EQ(x.has_master(), master) << dtype;
    }
    EXPECT_EQ(direct->network.to_json().dump(), morphed.network.to_json().dump()) << dtype;
    Model packed = load(file);
    ASSERT_TRUE(packed.network.pack(format).ok());
    for (const auto& p : packed.network.params())
      EXPECT_EQ(p.param->store->has_master(),
                direct->network.find(p.path, p.param->spec.role)->has_master())
          << dtype;
  }
}

TEST_P(ModelFile, is_checked_without_reading_a_weight) {
  LOOM_TEST_FILE(file, GetParam());
  EXPECT_TRUE(check_model(file).ok()) << check_model(file).to_string();
}

INSTANTIATE_TEST_SUITE_P(Model, ModelFile,
                         testing::Values("tales/hf", "tales/tales.gguf", "families/qwen3_qknorm"),
                         [](const auto& test) { return "of" + std::to_string(test.index); });

TEST(Model, what_would_fail_is_known_before_a_weight_is_read) {
  LOOM_TEST_FILE(folder, "families/qwen3_qknorm");
  LOOM_EXPECT_ERROR(load_model(folder, *parse_weight_format("q6_k")), Code::unsupported,
                    "q6_k is read and run, not written");
  EXPECT_TRUE(check_model("embedded").ok());
  LOOM_TEST_FILE(gemma, "families/gemma2");
  LOOM_EXPECT_ERROR(Result<int>(check_model(gemma)), Code::unsupported,
                    "the architecture 'gemma2'");
}

TEST(Model, other_families_are_refused_by_name) {
  for (const char* family : {"phi3", "gemma2", "gemma3"}) {
    LOOM_TEST_FILE(folder, std::string("families/") + family);
    LOOM_EXPECT_ERROR(load_model(folder), Code::unsupported,
                      std::string("the architecture '") + family);
    LOOM_EXPECT_ERROR(load_model(folder), Code::unsupported,
                      "known are llama, mistral, qwen2, qwen3");
    LOOM_EXPECT_ERROR(load_model(folder), Code::unsupported,
                      std::string("src/llm/import/import_") + family);
  }
}

TEST(Model, tokenizers_of_a_folder_and_of_gguf_agree) {
  LOOM_TEST_FILE(folder, "tales/hf");
  LOOM_TEST_FILE(gguf, "tales/tales.gguf");
  LOOM_TEST_FILE(golden, "tales/golden_encode.json");
  const auto cases = Json::parse(file_text(golden));
  ASSERT_TRUE(cases.ok());
  for (const std::string& path : {folder, folder + "/tokenizer.json", gguf}) {
    const auto tokenizer = load_tokenizer(path);
    ASSERT_TRUE(tokenizer.ok()) << tokenizer.status().to_string();
    for (const Json& c : cases->as_array()) {
      std::vector<std::int32_t> ids;
      for (const Json& id : c.find("ids")->as_array())
        ids.push_back(static_cast<std::int32_t>(id.as_integer()));
      EXPECT_EQ(tokenizer->encode(c.find("text")->as_string()), ids) << path;
    }
  }
}

TEST(Model, what_is_no_model_is_refused) {
  const TempFolder folder;
  LOOM_EXPECT_ERROR(load_model(folder / "absent.gguf"), Code::not_found, "no such file or folder");
  LOOM_EXPECT_ERROR(load_model(folder.path()), Code::not_found, "holds no config.json");
  std::ofstream(folder / "config.json")
      << R"({"model_type": "llama", "vocab_size": 8, "hidden_size": 4, "intermediate_size": 4,
    "num_hidden_layers": 1, "num_attention_heads": 1})";
  LOOM_EXPECT_ERROR(load_model(folder.path()), Code::not_found,
                    "holds neither model.safetensors nor");
  LOOM_EXPECT_ERROR(
      load_model(folder / "config.json"), Code::unsupported,
      "is JSON, expected a HuggingFace folder, safetensors, PyTorch, GGUF or .entity");
  EXPECT_TRUE(load_config(folder.path()).ok());
  LOOM_EXPECT_ERROR(load_tokenizer(folder.path()), Code::not_found, "holds no tokenizer.json");
  std::ofstream(folder / "tokenizer.model") << "x";
  LOOM_EXPECT_ERROR(load_tokenizer(folder.path()), Code::unsupported,
                    "tokenizer.model is not read");
}

TEST(Locate, names_in_the_huggingface_cache) {
  const TempFolder cache;
  const std::string model = cache / "models--Org--Tiny-Stories";
  std::filesystem::create_directories(model + "/snapshots/abc");
  LOOM_EXPECT_ERROR(find_in_cache(cache.path(), "org/tiny-storys"), Code::not_found,
                    "nearest: Org/Tiny-Stories");
  EXPECT_EQ(*find_in_cache(cache.path(), "Org/Tiny-Stories"),
            model + "/snapshots/abc");  // the only snapshot
  std::filesystem::create_directories(model + "/snapshots/def");
  LOOM_EXPECT_ERROR(find_in_cache(cache.path(), "Org/Tiny-Stories"), Code::not_found,
                    "has no refs/main and 2 snapshots");
  std::filesystem::create_directories(model + "/refs");
  std::ofstream(model + "/refs/main") << "def\n";
  EXPECT_EQ(*find_in_cache(cache.path(), "Org/Tiny-Stories"), model + "/snapshots/def");
  std::ofstream(model + "/refs/main") << "gone";
  LOOM_EXPECT_ERROR(find_in_cache(cache.path(), "Org/Tiny-Stories"), Code::not_found,
                    "which is not there");
  LOOM_EXPECT_ERROR(find_in_cache(cache / "empty", "Org/Tiny-Stories"), Code::not_found,
                    "holds no models");

  ::setenv("HF_HUB_CACHE", cache.path().c_str(), 1);
  std::ofstream(model + "/refs/main") << "abc";
  EXPECT_EQ(*locate_model("Org/Tiny-Stories"), model + "/snapshots/abc");
  LOOM_EXPECT_ERROR(locate_model("./Org/Tiny-Stories"), Code::not_found, "no such file or folder");
  ::unsetenv("HF_HUB_CACHE");
}

}  // namespace
}  // namespace loom
