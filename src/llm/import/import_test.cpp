// Tensors that are missing, strange or lie; and the same models as GGUF files.
#include "llm/import/import.h"

#include <cmath>
#include <cstring>

#include "base/random.h"
#include "formats/safetensors/safetensors.h"
#include "llm/config/architecture.h"
#include "llm/test_models.h"

namespace loom {
namespace {

using namespace test;

Result<Network> import(const ModelConfig& config, std::vector<TensorInfo> tensors) {
  return import_network(config, tensors, Naming::hf, "model");
}

TEST(Import, every_tensor_is_accounted_for) {
  LOOM_TEST_FILE(folder, "tales/hf");
  const ModelConfig config = *load_config(folder);
  const auto file = Safetensors::open_folder(folder);
  ASSERT_TRUE(file.ok());
  const auto edited = [&](std::string_view name, auto edit) {
    std::vector<TensorInfo> tensors = file->tensors();
    const auto at = std::find_if(tensors.begin(), tensors.end(),
                                 [&](const TensorInfo& t) { return t.name == name; });
    EXPECT_NE(at, tensors.end()) << name;
    edit(tensors, at);
    std::sort(tensors.begin(), tensors.end(),
              [](const TensorInfo& a, const TensorInfo& b) { return a.name < b.name; });
    return tensors;
  };
  EXPECT_TRUE(import(config, file->tensors()).ok());
  const char* norm = "model.layers.3.input_layernorm.weight";
  LOOM_EXPECT_ERROR(import(config, edited(norm, [](auto& list, auto at) { list.erase(at); })),
                    Code::not_found,
                    "model: tensor 'model.layers.3.input_layernorm.weight' is missing");
  LOOM_EXPECT_ERROR(import(config, edited(norm, [](auto&, auto at) { at->shape = {8, 8}; })),
                    Code::corrupt, "the configuration expects [64], the file has [8, 8]");
  LOOM_EXPECT_ERROR(
      import(config, edited(norm, [](auto&, auto at) { at->type = StorageType::i32; })),
      Code::unsupported, "stored as i32");
  auto add = [](const char* name) {
    return [name](auto& list, auto at) {
      TensorInfo extra = *at;
      extra.name = name;
      list.push_back(extra);
    };
  };
  LOOM_EXPECT_ERROR(import(config, edited(norm, add("model.layers.3.extra"))), Code::unsupported,
                    "tensor 'model.layers.3.extra' [64] belongs to no parameter of a 'llama'");
  EXPECT_TRUE(
      import(config, edited(norm, add("model.layers.3.self_attn.rotary_emb.inv_freq"))).ok());
  EXPECT_TRUE(import(config, edited("model.embed_tokens.weight", add("lm_head.weight")))
                  .ok());  // tied and the same
  LOOM_EXPECT_ERROR(import(config, edited(norm, add("lm_head.weight"))), Code::corrupt,
                    "ties the output projection");
  ModelConfig larger = config;
  larger.vocab_size = INT32_MAX;
  LOOM_EXPECT_ERROR(import(larger, file->tensors()), Code::corrupt,
                    "the configuration describes at least");
}

// The parts of a GGUF file.
struct GgufParts {
  std::string arch, entries, infos, data;
  std::uint64_t entry_count = 0, tensor_count = 0;

  void add(const std::string& key, int kind, const std::string& value) {
    entries += gguf_entry(key, static_cast<std::uint32_t>(kind), value);
    ++entry_count;
  }
  void u32(const std::string& key, std::int64_t value) {
    add(arch + "." + key, 4, le(static_cast<std::uint32_t>(value)));
  }
  void f32(const std::string& key, double value) {
    add(arch + "." + key, 6, le(static_cast<float>(value)));
  }
  void tensor(const std::string& name, std::vector<std::int64_t> shape,
              const std::vector<float>& values) {
    std::reverse(shape.begin(), shape.end());
    infos += gguf_tensor(name, shape, 0, data.size());
    for (const float v : values) data += le(v);
    data.resize(align_up(data.size(), 32), '\0');
    ++tensor_count;
  }
};

// A tensor of an HF file under its name in GGUF files, with rows of q and k as they stand there.
void add_tensor(GgufParts& parts, const ModelConfig& c, const TensorInfo& t) {
  std::string name;
  RowOrder order = RowOrder::plain;
  for (const TensorName& n : model_tensors())
    if (n.hf == t.name) name = n.gguf;
  for (std::int64_t block = 0; block < c.layers; ++block)
    for (const TensorName& n : block_tensors())
      if ("model.layers." + std::to_string(block) + "." + std::string(n.hf) == t.name) {
        name = "blk." + std::to_string(block) + "." + std::string(n.gguf);
        order = n.order;
      }
  std::vector<float> values(t.elements());
  EXPECT_TRUE(read_f32(t, 0, values).ok());
  if (order != RowOrder::plain && c.architecture->gguf_interleaves_qk) {
    // weights.reshape(heads, 2, head_dim / 2, width).swapaxes(1, 2) of convert_hf_to_gguf.py
    const std::size_t d = static_cast<std::size_t>(c.head_dim),
                      width = t.shape.size() == 2 ? static_cast<std::size_t>(t.shape[1]) : 1;
    std::vector<float> swapped(values.size());
    for (std::size_t r = 0; r < values.size() / width; ++r) {
      const std::size_t head = r / d, half = r % d / (d / 2), i = r % (d / 2);
      std::copy_n(values.data() + r * width, width,
                  swapped.data() + (head * d + 2 * i + half) * width);
    }
    values = swapped;
  }
  parts.tensor(name, t.shape, values);
}

// Llama 3.1's divisors of the rotary frequencies.
std::vector<float> rope_factors(const ModelConfig& c) {
  std::vector<float> factors;
  for (std::int64_t i = 0; i < c.head_dim / 2; ++i) {
    const RopeSpec& rope = c.rope;
    const double wavelength =
        2 * M_PI *
        std::pow(rope.theta, 2.0 * static_cast<double>(i) / static_cast<double>(c.head_dim));
    const double turns = rope.original_max_positions / wavelength;
    const double smooth =
        (turns - rope.low_freq_factor) / (rope.high_freq_factor - rope.low_freq_factor);
    const double between = 1 / ((1 - smooth) / rope.factor + smooth);
    factors.push_back(static_cast<float>(turns > rope.high_freq_factor  ? 1
                                         : turns < rope.low_freq_factor ? rope.factor
                                                                        : between));
  }
  return factors;
}

// A GGUF file with the tensors of an HF folder, as llama.cpp's converter writes it: names, rows of
// q and k, scaled rope.
std::string as_gguf(const std::string& folder) {
  const ModelConfig c = *load_config(folder);
  const auto file = Safetensors::open_folder(folder);
  GgufParts parts;
  parts.arch = c.architecture->gguf;
  parts.add("general.architecture", 8, gguf_text(parts.arch));
  parts.u32("embedding_length", c.hidden_size);
  parts.u32("feed_forward_length", c.intermediate_size);
  parts.u32("block_count", c.layers);
  parts.u32("attention.head_count", c.heads);
  parts.u32("attention.head_count_kv", c.kv_heads);
  parts.u32("attention.key_length", c.head_dim);
  parts.u32("attention.value_length", c.head_dim);
  parts.u32("context_length", c.max_positions);
  parts.u32("rope.dimension_count", c.head_dim);
  parts.f32("attention.layer_norm_rms_epsilon", c.norm_eps);
  parts.f32("rope.freq_base", c.rope.theta);
  for (const TensorInfo& t : file->tensors()) add_tensor(parts, c, t);
  if (c.rope.scaling == RopeScaling::llama3) {
    parts.u32("rope.scaling.original_context_length",
              static_cast<std::int64_t>(c.rope.original_max_positions));
    parts.tensor("rope_freqs.weight", {c.head_dim / 2}, rope_factors(c));
  } else if (c.rope.scaling == RopeScaling::linear) {
    parts.add(parts.arch + ".rope.scaling.type", 8, gguf_text("linear"));
    parts.f32("rope.scaling.factor", c.rope.factor);
  }
  return gguf_bytes(3, parts.tensor_count, parts.entry_count, parts.entries + parts.infos,
                    parts.data);
}

class ImportFamily : public testing::TestWithParam<const char*> {};

TEST_P(ImportFamily, gguf_gives_the_bits_of_the_folder) {
  const TempFolder temp;
  LOOM_TEST_FILE(folder, std::string("families/") + GetParam());
  const std::string path = temp / "model.gguf";
  std::ofstream(path, std::ios::binary) << as_gguf(folder);
  Model a = load(folder), b = load(path);
  const std::vector<std::int32_t> ids = read_golden(folder).prompt;
  const std::vector<float> x = logits_of(a, ids), y = logits_of(b, ids);
  ASSERT_EQ(x.size(), y.size());
  EXPECT_EQ(std::memcmp(x.data(), y.data(), x.size() * 4), 0) << largest_difference(x, y);
}

INSTANTIATE_TEST_SUITE_P(Import, ImportFamily,
                         testing::Values("llama2_untied", "llama3_scaled_rope",
                                         "llama_linear_rope_bias", "qwen2_bias", "qwen3_qknorm"),
                         [](const auto& test) { return std::string(test.param); });

TEST(Import, gguf_is_refused_by_name) {
  LOOM_TEST_FILE(folder, "families/llama3_scaled_rope");
  const std::string good = as_gguf(folder);
  auto refused = [&](const char* from, std::string to, std::size_t skip, Code code,
                     const char* text) {
    std::string bytes = good;
    const std::size_t at = bytes.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    bytes.replace(at + skip, to.size(), to);
    const auto file = Gguf::open(source_of(bytes));
    ASSERT_TRUE(file.ok()) << file.status().to_string();
    LOOM_EXPECT_ERROR(config_from_gguf(*file), code, text);
  };
  const std::size_t architecture = std::string("general.architecture").size() + 4 + 8;
  refused("general.architecture", "bloom", architecture, Code::unsupported,
          "src/llm/import/import_bloom.cpp");
  const std::size_t dimension = std::string("llama.rope.dimension_count").size() + 4;
  refused("llama.rope.dimension_count", le<std::uint32_t>(8), dimension, Code::unsupported,
          "8 of 16 values are rotated");
  const std::size_t original = std::string("llama.rope.scaling.original_context_length").size() + 4;
  refused("llama.rope.scaling.original_context_length", le<std::uint32_t>(65), original,
          Code::unsupported, "rope_freqs.weight is not the table of Llama 3.1");
}

// Damaged headers: an error or a model, never a crash (run it with sanitizers), and no memory
// beyond what the file justifies.
TEST(Import, damaged_headers) {
  LOOM_TEST_FILE(folder, "families/llama3_scaled_rope");
  const std::string good = as_gguf(folder), config = file_text(folder + "/config.json");
  const RandomStream random(12, 0);
  const auto weights = Safetensors::open_folder(folder);
  ASSERT_TRUE(weights.ok());
  int refused = 0;
  for (std::uint32_t n = 0; n < 400; ++n) {
    std::string bytes = good;
    for (std::uint32_t flip = 0; flip < 1 + n % 3; ++flip)
      bytes[random.below(n * 8 + flip, 2600)] ^=
          static_cast<char>(1 << random.below(n * 8 + 4 + flip, 8));
    if (const auto file = Gguf::open(source_of(bytes)); file.ok()) {
      const auto c = config_from_gguf(*file);
      refused += !(c.ok() && import_network(*c, file->tensors(), Naming::gguf, "damaged").ok());
    } else {
      ++refused;
    }
    // A digit of config.json, or a letter of a key.
    std::string text = config;
    text[random.below(n * 8 + 7, static_cast<std::uint32_t>(text.size()))] = "0179-e.x\"{"[n % 10];
    const auto json = Json::parse(text);
    if (!json.ok()) continue;
    if (const auto c = config_from_hf(*json); c.ok())
      (void)import_network(*c, weights->tensors(), Naming::hf, "damaged");
  }
  EXPECT_GT(refused, 200);
}

}  // namespace
}  // namespace loom
