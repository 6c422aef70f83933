// Checkpoints of BitNet b1.58, made here in the published layouts, against the formulas in doubles
// over the decoded weights.
#include <cmath>
#include <cstring>
#include <map>

#include "base/random.h"
#include "formats/safetensors/safetensors.h"
#include "llm/export/export.h"
#include "llm/import/entity_model.h"
#include "llm/import/import.h"
#include "llm/test_models.h"

namespace loom {
namespace {

using namespace test;

constexpr int kHidden = 32, kInner = 48, kHeads = 4, kKv = 2, kDim = 8, kLayers = 2, kVocab = 40;
constexpr double kEps = 1e-5, kTheta = 500000;

// A checkpoint in memory: what its files hold, and the values that the model multiplies with.
struct Checkpoint {
  std::map<std::string, std::vector<double>> values;
  std::vector<TensorInfo> tensors;
  std::map<std::string, std::vector<float>> floats;

  void add(const std::string& name, std::vector<std::int64_t> shape, std::vector<float> v) {
    values[name].assign(v.begin(), v.end());
    const std::vector<float>& kept = floats[name] = std::move(v);
    tensors.push_back(tensor_from_f32(name, std::move(shape), kept));
  }
};

enum class Layout { multiplies, divides, floats };

// A matrix of floats that transformers' online mode makes ternary: by the mean magnitude of the
// whole.
void add_floats(Checkpoint& c, const std::string& name, int rows, int cols, float scale,
                const RandomStream& r) {
  std::vector<float> v(static_cast<std::size_t>(rows * cols));
  double sum = 0;
  for (std::size_t i = 0; i < v.size(); ++i) {
    v[i] = 2 * scale * (r.uniform(i) - 0.5f);
    sum += std::abs(static_cast<double>(v[i]));
  }
  const double mean = sum / static_cast<double>(v.size());
  c.add(name + ".weight", {rows, cols}, v);
  for (double& w : c.values[name + ".weight"])
    w = std::clamp(std::nearbyint(w / mean), -1.0, 1.0) * mean;
}

// A matrix of packed codes and its scale.
void add_packed(Checkpoint& c, const std::string& name, int rows, int cols, float scale,
                const RandomStream& r, Layout layout) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(rows / 4 * cols));
  std::vector<double>& w = c.values[name + ".weight"];
  w.resize(static_cast<std::size_t>(rows * cols));
  for (int row = 0; row < rows; ++row)
    for (int col = 0; col < cols; ++col) {
      const auto i = static_cast<std::size_t>(row * cols + col);
      const int code = row == 1 ? 1 : static_cast<int>(r.below(i, 3));  // row 1 is all zeros
      w[i] = static_cast<double>(scale) * (code - 1);
      bytes[static_cast<std::size_t>(row % (rows / 4) * cols + col)] |=
          static_cast<std::byte>(code << (2 * (row / (rows / 4))));
    }
  TensorInfo t{name + ".weight", StorageType::u8, {rows / 4, cols}, 0, bytes.size(), nullptr};
  t.source = source_from_bytes(std::move(bytes), "weights");
  c.tensors.push_back(std::move(t));
  const float stored = layout == Layout::divides ? 1 / scale : scale;
  if (layout == Layout::divides)
    for (double& v : w)
      v = v / static_cast<double>(scale) *
          static_cast<double>(static_cast<float>(1 / static_cast<double>(stored)));
  c.add(name + ".weight_scale", {1}, {stored});
}

Checkpoint make(Layout layout) {
  Checkpoint c;
  std::uint64_t stream = 0;
  const auto random = [&](std::size_t n, float low, float high) {
    const RandomStream r(5, ++stream);
    std::vector<float> v(n);
    for (std::size_t i = 0; i < n; ++i) v[i] = low + (high - low) * r.uniform(i);
    return v;
  };
  const auto matrix = [&](const std::string& name, int rows, int cols) {
    const RandomStream r(6, ++stream);
    const float scale = 0.05f + 0.01f * static_cast<float>(stream % 7);
    if (layout == Layout::floats) add_floats(c, name, rows, cols, scale, r);
    else add_packed(c, name, rows, cols, scale, r, layout);
  };
  c.add("model.embed_tokens.weight", {kVocab, kHidden}, random(kVocab * kHidden, -1, 1));
  for (int l = 0; l < kLayers; ++l) {
    const std::string at = "model.layers." + std::to_string(l) + ".";
    c.add(at + "input_layernorm.weight", {kHidden}, random(kHidden, 0.5f, 1.5f));
    matrix(at + "self_attn.q_proj", kHeads * kDim, kHidden);
    matrix(at + "self_attn.k_proj", kKv * kDim, kHidden);
    matrix(at + "self_attn.v_proj", kKv * kDim, kHidden);
    c.add(at + "self_attn.attn_sub_norm.weight", {kHeads * kDim},
          random(kHeads * kDim, 0.5f, 1.5f));
    matrix(at + "self_attn.o_proj", kHidden, kHeads * kDim);
    c.add(at + "post_attention_layernorm.weight", {kHidden}, random(kHidden, 0.5f, 1.5f));
    matrix(at + "mlp.gate_proj", kInner, kHidden);
    matrix(at + "mlp.up_proj", kInner, kHidden);
    c.add(at + "mlp.ffn_sub_norm.weight", {kInner}, random(kInner, 0.5f, 1.5f));
    matrix(at + "mlp.down_proj", kHidden, kInner);
  }
  c.add("model.norm.weight", {kHidden}, random(kHidden, 0.5f, 1.5f));
  return c;
}

std::string config_text(std::string_view quantization) {
  return R"({"architectures":["BitNetForCausalLM"],"model_type":"bitnet","hidden_act":"relu2","hidden_size":32,"intermediate_size":48,"num_hidden_layers":2,"num_attention_heads":4,
    "num_key_value_heads":2,"vocab_size":40,"max_position_embeddings":64,"rms_norm_eps":1e-5,"rope_theta":500000.0,"tie_word_embeddings":true,"bos_token_id":1,"eos_token_id":2,
    "quantization_config":)" +
         std::string(quantization) + "}";
}
constexpr const char* kAuto =
    R"({"linear_class":"autobitlinear","quant_method":"bitnet","quantization_mode":"offline"})";
constexpr const char* kOnline =
    R"({"linear_class":"autobitlinear","quant_method":"bitnet","quantization_mode":"online"})";
constexpr const char* kPlain = R"({"quant_method":"bitnet","modules_to_not_convert":["lm_head"]})";

using Rows = std::vector<std::vector<double>>;

Rows product(const Rows& x, const std::vector<double>& w, int out) {
  Rows y(x.size(), std::vector<double>(static_cast<std::size_t>(out)));
  for (std::size_t r = 0; r < x.size(); ++r)
    for (std::size_t o = 0; o < y[r].size(); ++o)
      for (std::size_t i = 0; i < x[r].size(); ++i) y[r][o] += w[o * x[r].size() + i] * x[r][i];
  return y;
}
Rows norm(Rows x, const std::vector<double>& gain) {
  for (auto& row : x) {
    double sum = 0;
    for (const double v : row) sum += v * v;
    const double s = 1 / std::sqrt(sum / static_cast<double>(row.size()) + kEps);
    for (std::size_t i = 0; i < row.size(); ++i) row[i] *= s * gain[i];
  }
  return x;
}
void rotate(Rows& x) {
  for (std::size_t p = 0; p < x.size(); ++p)
    for (std::size_t head = 0; head < x[p].size(); head += kDim)
      for (int i = 0; i < kDim / 2; ++i) {
        const double angle = static_cast<double>(p) * std::pow(kTheta, -2.0 * i / kDim),
                     c = std::cos(angle), s = std::sin(angle);
        double &a = x[p][head + static_cast<std::size_t>(i)],
               &b = x[p][head + static_cast<std::size_t>(i) + kDim / 2];
        const double a0 = a;
        a = a0 * c - b * s;
        b = b * c + a0 * s;
      }
}
void add(Rows& x, const Rows& y) {
  for (std::size_t r = 0; r < x.size(); ++r)
    for (std::size_t i = 0; i < x[r].size(); ++i) x[r][i] += y[r][i];
}

// The model of the technical report (arXiv 2504.12285), in doubles.
Rows reference(const Checkpoint& c, std::span<const std::int32_t> ids) {
  const auto& w = c.values;
  Rows x;
  for (const std::int32_t id : ids)
    x.emplace_back(w.at("model.embed_tokens.weight").begin() + id * kHidden,
                   w.at("model.embed_tokens.weight").begin() + (id + 1) * kHidden);
  for (int l = 0; l < kLayers; ++l) {
    const std::string at = "model.layers." + std::to_string(l) + ".";
    const Rows h = norm(x, w.at(at + "input_layernorm.weight"));
    Rows q = product(h, w.at(at + "self_attn.q_proj.weight"), kHeads * kDim),
         k = product(h, w.at(at + "self_attn.k_proj.weight"), kKv * kDim);
    const Rows v = product(h, w.at(at + "self_attn.v_proj.weight"), kKv * kDim);
    rotate(q);
    rotate(k);
    Rows y(x.size(), std::vector<double>(kHeads * kDim));
    for (std::size_t p = 0; p < x.size(); ++p)
      for (std::size_t head = 0; head < kHeads; ++head) {
        const std::size_t own = head * kDim, shared = head / (kHeads / kKv) * kDim;
        std::vector<double> e(p + 1);
        double sum = 0;
        for (std::size_t j = 0; j <= p; ++j) {
          double dot = 0;
          for (std::size_t i = 0; i < kDim; ++i) dot += q[p][own + i] * k[j][shared + i];
          sum += e[j] = std::exp(dot / std::sqrt(static_cast<double>(kDim)));
        }
        for (std::size_t j = 0; j <= p; ++j)
          for (std::size_t i = 0; i < kDim; ++i) y[p][own + i] += e[j] / sum * v[j][shared + i];
      }
    add(x, product(norm(y, w.at(at + "self_attn.attn_sub_norm.weight")),
                   w.at(at + "self_attn.o_proj.weight"), kHidden));
    const Rows g = norm(x, w.at(at + "post_attention_layernorm.weight"));
    Rows gate = product(g, w.at(at + "mlp.gate_proj.weight"), kInner);
    const Rows up = product(g, w.at(at + "mlp.up_proj.weight"), kInner);
    for (std::size_t r = 0; r < gate.size(); ++r)
      for (std::size_t i = 0; i < kInner; ++i)
        gate[r][i] = (gate[r][i] > 0 ? gate[r][i] * gate[r][i] : 0) * up[r][i];
    add(x, product(norm(gate, w.at(at + "mlp.ffn_sub_norm.weight")),
                   w.at(at + "mlp.down_proj.weight"), kHidden));
  }
  return product(norm(x, w.at("model.norm.weight")), w.at("model.embed_tokens.weight"), kVocab);
}

const std::vector<std::int32_t> kIds = {1, 17, 3, 3, 39, 8, 22, 0, 5, 11};

double worst_difference(Model& model, const Checkpoint& c, double* largest) {
  const Rows want = reference(c, kIds);
  const std::vector<float> got = logits_of(model, kIds);
  EXPECT_EQ(got.size(), kIds.size() * kVocab);
  double worst = 0;
  *largest = 0;
  for (std::size_t r = 0; r < want.size(); ++r)
    for (std::size_t i = 0; i < kVocab; ++i) {
      worst = std::max(worst, std::abs(want[r][i] - static_cast<double>(got[r * kVocab + i])));
      *largest = std::max(*largest, std::abs(want[r][i]));
    }
  return worst;
}

class Bitnet : public testing::Test {
 protected:
  Result<Model> open(const Checkpoint& c, const char* quantization,
                     const std::optional<WeightFormat>& format = {}) {
    std::ofstream(folder_ / "config.json") << config_text(quantization);
    EXPECT_TRUE(write_safetensors(folder_ / "model.safetensors", c.tensors).ok());
    return load_model(folder_.path(), format);
  }
  TempFolder folder_;
};

TEST_F(Bitnet, PackedCheckpointsEqualTheFormulas) {
  for (const Layout layout : {Layout::multiplies, Layout::divides, Layout::floats}) {
    const Checkpoint c = make(layout);
    auto model = open(c, layout == Layout::multiplies ? kAuto
                         : layout == Layout::divides  ? kPlain
                                                      : kOnline);
    ASSERT_TRUE(model.ok()) << model.status().to_string();
    std::uint64_t bytes = 0;
    int ternary = 0;
    for (const auto& p : model->network.params()) {
      if (!p.param->spec.quantized || p.tied || p.path == "0.0.0.0") continue;
      const WeightStore& store = *p.param->store;
      EXPECT_EQ(store.format().dtype, DType::ternary) << p.path << ":" << p.param->spec.role;
      EXPECT_FALSE(store.has_master()) << p.path;  // no f32 of it was made
      bytes += store.packed_bytes();
      ++ternary;
    }
    EXPECT_EQ(ternary, 7 * kLayers);
    double largest = 0;
    const double worst = worst_difference(*model, c, &largest);
    EXPECT_GT(largest, 1);
    EXPECT_LT(worst, 2e-3 * largest);  // activations of class I have 15 bits
    std::printf("layout %d: ternary %llu bytes, largest logit %.3f, worst difference %.2g\n",
                static_cast<int>(layout), static_cast<unsigned long long>(bytes), largest, worst);
  }
}

// Decoded exactly: as f64 the same checkpoint is the formulas to rounding, and so is what is
// written and read again.
TEST_F(Bitnet, DecodedWeightsAreExact) {
  const Checkpoint c = make(Layout::multiplies);
  auto packed = open(c, kAuto), wide = open(c, kAuto, WeightFormat{.dtype = DType::f64});
  ASSERT_TRUE(packed.ok() && wide.ok()) << packed.status().to_string() << wide.status().to_string();
  double largest = 0;
  const double worst = worst_difference(*wide, c, &largest);
  EXPECT_LT(worst, 1e-6 * largest);  // the output is f32
  for (const auto& p : packed->network.params()) {
    if (!p.param->spec.quantized) continue;
    WeightStore* twin = wide->network.find(p.path, p.param->spec.role);
    std::vector<double> a(static_cast<std::size_t>(twin->rows() * twin->cols())), b(a.size());
    ASSERT_TRUE(p.param->store->values(a).ok() && twin->values(b).ok());
    EXPECT_EQ(a, b) << p.path << ":" << p.param->spec.role;
  }
}

TEST_F(Bitnet, AnEntityFileKeepsItsBits) {
  const Checkpoint c = make(Layout::multiplies);
  auto model = open(c, kAuto);
  ASSERT_TRUE(model.ok()) << model.status().to_string();
  const std::string path = folder_ / "model.entity";
  ASSERT_TRUE(save_model(path, *model).ok());
  auto again = load_model(path);
  ASSERT_TRUE(again.ok()) << again.status().to_string();
  const std::vector<float> want = logits_of(*model, kIds), got = logits_of(*again, kIds, {}, 2);
  ASSERT_EQ(want.size(), got.size());
  EXPECT_EQ(std::memcmp(want.data(), got.data(), want.size() * sizeof(float)), 0);
}

// From a folder or an entity file to a folder of transformers' layout, and from that again.
TEST_F(Bitnet, ExportedFoldersKeepItsBits) {
  for (const Layout layout : {Layout::multiplies, Layout::divides, Layout::floats}) {
    SCOPED_TRACE(static_cast<int>(layout));
    auto model = open(make(layout), layout == Layout::multiplies ? kAuto
                                    : layout == Layout::divides  ? kPlain
                                                                 : kOnline);
    ASSERT_TRUE(model.ok()) << model.status().to_string();
    const std::vector<float> want = logits_of(*model, kIds);
    ASSERT_TRUE(save_model(folder_ / "model.entity", *model).ok());
    std::string from = folder_.path();
    for (const char* out : {"of_folder", "again", "of_entity"}) {
      SCOPED_TRACE(out);
      if (out == std::string_view("of_entity")) from = folder_ / "model.entity";
      const std::string to = folder_ / out;
      std::filesystem::remove_all(to);
      auto done = export_model(from, ModelTarget::folder, to, {});
      ASSERT_TRUE(done.ok()) << done.status().to_string();
      for (const ExportedTensor& t : done->tensors) EXPECT_EQ(t.error.largest, 0) << t.name;
      auto back = load_model(to);
      ASSERT_TRUE(back.ok()) << back.status().to_string();
      const std::vector<float> got = logits_of(*back, kIds);
      ASSERT_EQ(want.size(), got.size());
      EXPECT_EQ(std::memcmp(want.data(), got.data(), want.size() * sizeof(float)), 0);
      int ternary = 0;
      for (const auto& p : back->network.params())
        ternary += p.param->store->format().dtype == DType::ternary;
      EXPECT_EQ(ternary, 7 * kLayers);
      from = to;
    }
  }
}

TEST_F(Bitnet, ExportsRefuseWhatIsNotBitNet) {
  auto model = open(make(Layout::multiplies), kAuto);
  ASSERT_TRUE(model.ok()) << model.status().to_string();
  ModelExportOptions options;
  LOOM_EXPECT_ERROR(export_model(*model, ModelTarget::gguf, folder_ / "m.gguf", options),
                    Code::unsupported, "bitnet");
  options.dtype = "f16";
  LOOM_EXPECT_ERROR(export_model(*model, ModelTarget::folder, folder_ / "out", options),
                    Code::invalid_argument, "a BitNet model is written as it is, ternary");
  EXPECT_FALSE(std::filesystem::exists(folder_ / "out/model.safetensors"));
}

TEST_F(Bitnet, RefusesByName) {
  const auto text = [&](const Checkpoint& c, const char* quantization) {
    return open(c, quantization).status().to_string();
  };
  Checkpoint c = make(Layout::multiplies);
  EXPECT_NE(text(c, R"({"quant_method":"gptq"})").find("\"quantization_config\""),
            std::string::npos);
  EXPECT_NE(
      text(c, R"({"quant_method":"bitnet","use_rms_norm":true})").find("without \"use_rms_norm\""),
      std::string::npos);
  EXPECT_NE(text(make(Layout::floats), kAuto)
                .find("is stored as f32, the configuration promises ternary values"),
            std::string::npos);
  const auto without = [&](const char* name) {
    Checkpoint less = make(Layout::multiplies);
    std::erase_if(less.tensors, [&](const TensorInfo& t) { return t.name == name; });
    return text(less, kAuto);
  };
  EXPECT_NE(without("model.layers.0.mlp.up_proj.weight_scale")
                .find("its scale 'model.layers.0.mlp.up_proj.weight_scale' is missing"),
            std::string::npos);
  EXPECT_NE(without("model.layers.1.mlp.ffn_sub_norm.weight")
                .find("'model.layers.1.mlp.ffn_sub_norm.weight' is missing"),
            std::string::npos);
  for (TensorInfo& t : c.tensors)
    if (t.name == "model.layers.1.self_attn.k_proj.weight")
      t.source = source_from_bytes(std::vector<std::byte>(t.size, std::byte{0xC0}), "weights");
  EXPECT_NE(text(c, kAuto).find("has the bits 11, which are no ternary value"), std::string::npos)
      << text(c, kAuto);
  Checkpoint zero = make(Layout::divides);
  const float none = 0;
  for (TensorInfo& t : zero.tensors)
    if (t.name == "model.layers.0.self_attn.q_proj.weight_scale")
      t = tensor_from_f32(t.name, {1}, {&none, 1});
  EXPECT_NE(text(zero, kPlain).find("which is no scale"), std::string::npos);
}

}  // namespace
}  // namespace loom
