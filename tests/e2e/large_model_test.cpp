// What a language model of 135 million parameters takes: memory while it runs, and time to its
// first token. The file has the shape of SmolLM2-135M with weights that mean nothing, and its
// tokenizer where the test material is present.
#include <time.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <utility>

#include "base/files/bytes.h"
#include "e2e/process.h"
#include "formats/safetensors/safetensors.h"
#include "llm/config/architecture.h"
#include "llm/import/entity_model.h"
#include "support/data.h"

namespace loom::test {
namespace {

constexpr std::string_view kShape =
    R"({"model_type":"llama","hidden_size":576,"intermediate_size":1536,"num_hidden_layers":30,"num_attention_heads":9,
  "num_key_value_heads":3,"vocab_size":49152,"max_position_embeddings":2048,"rms_norm_eps":1e-5,"rope_theta":100000.0,"tie_word_embeddings":true})";
constexpr std::uint64_t kMiB = 1 << 20;

// One panel of random weights over and over: encoding all of them would take longer than the test.
Result<PackedMatrix> repeated(const WeightFormat& format, std::int64_t rows, std::int64_t cols) {
  std::vector<float> values(static_cast<std::size_t>(kPanel * cols));
  std::uint32_t state = 1;
  for (float& x : values)
    x = static_cast<float>(static_cast<std::int32_t>(state = state * 1664525u + 1013904223u) >> 8) *
        1e-8f;
  LOOM_ASSIGN(const PackedMatrix one,
              PackedMatrix::encode(format, kPanel, cols, std::span<const float>(values)));
  LOOM_ASSIGN(const PackedLayout layout, packed_layout(format, rows, cols));
  const std::shared_ptr<std::byte> bytes(
      static_cast<std::byte*>(std::aligned_alloc(64, align_up(layout.total, 64))), std::free);
  std::memset(bytes.get(), 0, layout.total);
  const auto repeat = [&](std::uint64_t to, std::uint64_t from, std::uint64_t size) {
    for (std::int64_t p = 0; p < layout.panels; ++p)
      std::memcpy(bytes.get() + to + static_cast<std::uint64_t>(p) * size,
                  one.bytes().data() + from, size);
  };
  const PackedLayout& small = one.layout();
  repeat(layout.codes, small.codes, small.codes_size);
  repeat(layout.sub_scales, small.sub_scales, small.sub_scales_size);
  repeat(layout.scales, small.scales, small.scales_size);
  return PackedMatrix::wrap(format, rows, cols, {bytes.get(), layout.total}, bytes);
}

class LargeModel : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new Folder;
    const Status status = save(file());
    ASSERT_TRUE(status.ok()) << status.to_string();
  }
  static void TearDownTestSuite() { delete folder_; }
  static std::string file() { return *folder_ / "shape.entity"; }

  static Status save(const std::string& path) {
    LOOM_ASSIGN(const Json shape, Json::parse(kShape));
    LOOM_ASSIGN(ModelConfig config, config_from_hf(shape));
    LOOM_ASSIGN(Network network, Network::from_json(decoder_topology(config)));
    LOOM_ASSIGN(const WeightFormat format, parse_weight_format("i4"));
    LOOM_TRY(network.morph(format));
    for (const auto& p : network.params()) {
      if (p.tied) continue;
      if (!p.param->spec.quantized) {
        for (float& x : p.param->store->mutable_master()) x = 1;
        continue;
      }
      LOOM_ASSIGN(PackedMatrix matrix, repeated(format, p.param->spec.rows, p.param->spec.cols));
      *p.param->store = WeightStore::from_packed(std::move(matrix));
    }
    const std::string tokenizer = data_dir() + "/tokenizers/smollm2/tokenizer.json";
    const bool present = std::filesystem::exists(tokenizer);
    tokenizer_bytes_ = present ? std::filesystem::file_size(tokenizer) : 0;
    Model model{path, std::move(config), std::move(network),
                present ? Tokenizer::load(tokenizer) : Status(Code::not_found, "no tokenizer")};
    return save_model(path, model);
  }

  static inline Folder* folder_ = nullptr;
  static inline std::uint64_t tokenizer_bytes_ = 0;
};

struct Peak {
  std::uint64_t plan = 0, weights = 0, prepared = 0, peak = 0;
};
// Runs the program on a context that is used to its end, so that no planned page stays untouched
// and hides another.
Peak peak_of(const std::string& model, std::vector<std::string> options) {
  std::vector<std::string> args = {"run",      model, "--ids", "1,2,3", "--greedy",
                                   "--tokens", "60",  "--ctx", "64",    "--json"};
  args.insert(args.end(), options.begin(), options.end());
  const Outcome o = loom(args);
  EXPECT_EQ(o.code, 0) << o.err;
  const auto json = Json::parse(o.out);
  const Json* memory = json.ok() ? json->find("memory") : nullptr;
  EXPECT_TRUE(memory) << o.out;
  if (!memory) return {};
  const auto bytes = [&](const char* part) {
    return static_cast<std::uint64_t>(memory->find(part)->as_integer());
  };
  Peak p{0, bytes("weights"), bytes("prepared"), bytes("peak")};
  p.plan = p.weights + p.prepared + bytes("cache") + bytes("arena");
  std::printf("plan %.1f MiB (weights %.1f, cache %.1f, arena %.1f), peak %.1f MiB\n",
              static_cast<double>(p.plan) / kMiB, static_cast<double>(p.weights) / kMiB,
              static_cast<double>(bytes("cache")) / kMiB,
              static_cast<double>(bytes("arena")) / kMiB, static_cast<double>(p.peak) / kMiB);
  return p;
}

// Issue 3, Shows 11: weights, caches and arena within 5 %, at most 16 MiB and three times the
// tokenizer's file beside them.
TEST_F(LargeModel, RunsInTheMemoryOfItsPlan) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "AddressSanitizer keeps memory of its own";
#endif
  const Peak p = peak_of(file(), {});
  // 134.5 M weights of 4.5 bits; nothing that is not in the file.
  EXPECT_NEAR(static_cast<double>(p.weights), 134.5e6 * 4.5 / 8, 2e6);
  EXPECT_LE(p.prepared, kMiB);
  EXPECT_GE(p.peak, p.weights);
  EXPECT_LE(p.peak, p.plan + p.plan / 20 + 16 * kMiB + 3 * tokenizer_bytes_);
}

// The same from a HuggingFace folder, with one block and 8,192 tokens: its bf16 tensors go through
// memory in parts, and none of them stays. Where they run in f32, 16 bits of them stay.
TEST_F(LargeModel, IsReadFromAFolderInTheMemoryOfItsPlan) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "AddressSanitizer keeps memory of its own";
#endif
  std::string config(kShape);
  config.replace(config.find(":30,"), 4, ":1,");
  config.replace(config.find("49152"), 5, "8192");
  folder_->write("hf/config.json", config);
  std::vector<TensorInfo> tensors;
  const auto add = [&](const std::string& name, std::vector<std::int64_t> shape) {
    TensorInfo t{name,
                 StorageType::bf16,
                 shape,
                 0,
                 *storage_bytes(StorageType::bf16, *element_count(shape)),
                 nullptr};
    t.source = source_from_callback(
        t.size,
        [](std::uint64_t offset, std::span<std::byte> out) {
          for (std::size_t i = 0; i < out.size(); i += 2)
            store_le(out.data() + i,
                     static_cast<std::uint16_t>(0x3c00 + ((offset + i) * 40503 >> 7) % 512));
          return Status();
        },
        name);
    tensors.push_back(std::move(t));
  };
  add("model.embed_tokens.weight", {8192, 576});
  add("model.norm.weight", {576});
  const std::string block = "model.layers.0.";
  for (const char* norm : {"input_layernorm", "post_attention_layernorm"})
    add(block + norm + ".weight", {576});
  for (const char* proj : {"q_proj", "o_proj"})
    add(block + "self_attn." + proj + ".weight", {576, 576});
  for (const char* proj : {"k_proj", "v_proj"})
    add(block + "self_attn." + proj + ".weight", {192, 576});
  for (const char* proj : {"gate_proj", "up_proj"})
    add(block + "mlp." + proj + ".weight", {1536, 576});
  add(block + "mlp.down_proj.weight", {576, 1536});
  const Status status = write_safetensors(*folder_ / "hf/model.safetensors", tensors);
  ASSERT_TRUE(status.ok()) << status.to_string();
  for (const bool packed : {true, false}) {
    const Peak p =
        packed ? peak_of(*folder_ / "hf", {"--dtype", "i4"}) : peak_of(*folder_ / "hf", {});
    EXPECT_NEAR(static_cast<double>(p.weights), 8.26e6 * (packed ? 4.5 / 8 : 2), 2e5);
    EXPECT_LE(p.peak, p.plan + p.plan / 20 + 16 * kMiB);
  }
}

// How much of a core this process gets now, between 0 and 1.
double share_of_a_core() {
  const auto seconds = [](clockid_t clock) {
    timespec t{};
    clock_gettime(clock, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
  };
  const double wall = seconds(CLOCK_MONOTONIC), cpu = seconds(CLOCK_THREAD_CPUTIME_ID);
  while (seconds(CLOCK_MONOTONIC) - wall < 0.02) {
  }
  return (seconds(CLOCK_THREAD_CPUTIME_ID) - cpu) / (seconds(CLOCK_MONOTONIC) - wall);
}

// Issue 3, Shows 9: under 150 ms from exec to the first token, the file in the page cache; here to
// the end of the process. Other work on the machine only adds, so the best of some runs counts;
// where this process does not get its core, a run (of one thread) counts with the time that it
// computed.
TEST_F(LargeModel, SaysItsFirstTokenAtOnce) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "AddressSanitizer is slow";
#endif
  const bool text = tokenizer_bytes_ > 0;
  std::vector<double> times;
  int crowded = 0;
  double share = share_of_a_core();
  for (int i = 0; i < 7; ++i) {
    const auto start = std::chrono::steady_clock::now();
    const Outcome o = text ? loom({"run", file(), "Once upon a time", "--greedy", "--tokens", "1"})
                           : loom({"run", file(), "--ids", "1,2,3,4", "--greedy", "--tokens", "1"});
    const double wall =
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
    ASSERT_EQ(o.code, 0) << o.err;
    const double before = std::exchange(share, share_of_a_core());
    const bool alone = std::min(before, share) > 0.9;
    crowded += !alone;
    times.push_back(alone ? wall : std::min(wall, o.cpu_ms));
  }
  std::sort(times.begin(), times.end());
  std::printf(
      "exec to first token %s a tokenizer of 49,152 entries: best %.1f ms, median %.1f ms (%d of 7 "
      "runs beside other work)\n",
      text ? "with" : "without", times[0], times[times.size() / 2], crowded);
  EXPECT_LT(times[0], 150);
}

}  // namespace
}  // namespace loom::test
