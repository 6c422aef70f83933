// Gradients of every layer and of links against central finite differences in f64: relative error below 1e-5, batches of 3.
#include <gtest/gtest.h>

#include <cmath>

#include "base/random.h"
#include "train/learner.h"

namespace loom {
namespace {

Network network_of(const std::string& topology) {
  auto n = Network::from_json(std::string_view(topology));
  EXPECT_TRUE(n.ok()) << n.status().to_string();
  EXPECT_TRUE(n->initialize(7).ok());
  // Zeros and ones hide mistakes: perturb every parameter.
  std::uint64_t stream = 100;
  for (auto& p : n->params()) {
    if (p.tied) continue;
    const RandomStream random(3, stream++);
    EXPECT_TRUE(p.param->store->morph({.dtype = DType::f64}).ok());
    auto m = p.param->store->mutable_master64();
    for (std::size_t i = 0; i < m.size(); ++i) m[i] += 0.3 * (random.uniform(i) - 0.5);
    p.param->store->touch();
  }
  return std::move(*n);
}

struct Batch {
  std::vector<float> x, y;
  std::vector<std::uint32_t> ids, positions;
  std::vector<std::int32_t> classes;
};

void check_gradients(const std::string& topology, bool classes, int sequences = 3, int length = 1) {
  Network network = network_of(topology);
  ThreadPool pool(2);
  LearnerOptions options;
  options.loss = classes ? Loss::cross_entropy : Loss::mse;
  options.max_rows = sequences * length;
  options.update = false;
  options.poison = true;
  auto learner = Learner::create(network, pool, options);
  ASSERT_TRUE(learner.ok()) << learner.status().to_string();
  Batch b;
  const RandomStream random(11, 1);
  const auto rows = static_cast<std::size_t>(sequences * length);
  std::uint64_t at = 0;
  for (std::size_t i = 0; i < rows * static_cast<std::size_t>(network.input().width); ++i) b.x.push_back(2 * random.uniform(at++) - 1);
  for (std::size_t i = 0; i < rows * static_cast<std::size_t>(network.output().width); ++i) b.y.push_back(2 * random.uniform(at++) - 1);
  for (std::size_t i = 0; i < rows; ++i) {
    b.positions.push_back(static_cast<std::uint32_t>(i) % static_cast<std::uint32_t>(length));
    if (network.input().ids > 0) b.ids.push_back(random.below(at++, static_cast<std::uint32_t>(network.input().ids)));
    b.classes.push_back(static_cast<std::int32_t>(random.below(at++, static_cast<std::uint32_t>(network.output().width))));
  }
  b.classes.back() = -1;  // one row is left out
  auto give = [&] {
    if (network.input().ids > 0) return learner->batch(std::span<const std::uint32_t>(b.ids), b.positions, b.classes);
    if (classes) return learner->batch(std::span<const float>(b.x), std::span<const std::int32_t>(b.classes));
    return learner->batch(std::span<const float>(b.x), std::span<const float>(b.y));
  };
  Status s = give();
  ASSERT_TRUE(s.ok()) << s.to_string();
  // Attention over values takes its positions from the host too.
  const BufferId positions = learner->executor().program().find(BufferKind::input, "", "positions");
  if (positions != kNone)
    for (std::size_t r = 0; r < rows; ++r) learner->executor().row<std::uint32_t>(positions, static_cast<std::int64_t>(r))[0] = b.positions[r];
  auto loss = [&] {
    EXPECT_TRUE(learner->executor().refresh().ok());
    const Status run = learner->accumulate();
    EXPECT_TRUE(run.ok()) << run.to_string();
    return learner->loss_sum();
  };
  ASSERT_FALSE(learner->gradients().empty());
  for (const auto& g : learner->gradients()) {
    loss();  // gradients at the unperturbed parameters
    std::vector<double> got;
    for (std::int64_t r = 0; r < g.rows; ++r)
      for (double v : learner->executor().row<double>(g.value.buffer, r)) got.push_back(v);
    double norm = 0, error = 0;
    const auto m = g.store->mutable_master64();
    // Large parameters are sampled.
    const std::size_t step = m.size() > 60 ? m.size() / 37 : 1;
    for (std::size_t i = 0; i < m.size(); i += step) {
      const double w = m[i], h = 1e-5;
      m[i] = w + h;
      g.store->touch();
      const double up = loss();
      m[i] = w - h;
      g.store->touch();
      const double down = loss();
      m[i] = w;
      g.store->touch();
      const double want = (up - down) / (2 * h);
      norm += want * want;
      error += (want - got[i]) * (want - got[i]);
    }
    EXPECT_LT(std::sqrt(error), 1e-5 * std::sqrt(norm) + 1e-9) << g.path << ":" << g.role << " norm " << std::sqrt(norm);
  }
}

std::string chain(const std::string& input, std::initializer_list<std::string> cells) {
  std::string t = R"({"format":"loom-topology","version":1,"layers_per_cell":)" + std::to_string(cells.size()) + R"(,"input":)" + input + R"(,"cells":[)";
  int l = 0;
  for (const std::string& c : cells) {
    t += (l > 0 ? "," : "") + std::string(R"({"at":[0,0,0,)") + std::to_string(l) + "]," + c + "}";
    ++l;
  }
  return t + "]}";
}
const std::string kDense5 = R"("type":"dense","out":5,"dtype":"f64")";

TEST(Gradients, DenseWithEveryActivation) {
  for (const char* a : {"linear", "relu", "relu2", "leaky_relu", "silu", "gelu_tanh", "gelu_erf", "tanh", "sigmoid", "softplus", "mish"}) {
    SCOPED_TRACE(a);
    check_gradients(chain(R"({"width":4})", {R"("type":"dense","out":7,"dtype":"f64","activation":")" + std::string(a) + "\"", kDense5}), false);
  }
}

TEST(Gradients, CrossEntropy) { check_gradients(chain(R"({"width":4})", {R"("type":"dense","out":70,"dtype":"f64")"}), true); }

TEST(Gradients, Embedding) { check_gradients(chain(R"({"ids":6})", {R"("type":"embedding","out":5,"std":0.5,"dtype":"f64")", kDense5}), true, 1, 7); }

TEST(Gradients, Norms) {
  check_gradients(chain(R"({"width":70})", {R"("type":"dense","out":70,"dtype":"f64")", R"("type":"rms_norm","dtype":"f64")", kDense5}), false);
  check_gradients(chain(R"({"width":37})", {R"("type":"dense","out":37,"dtype":"f64")", R"("type":"layer_norm","dtype":"f64")", kDense5}), false);
}

TEST(Gradients, Swiglu) { check_gradients(chain(R"({"width":6})", {R"("type":"dense","out":6,"dtype":"f64")", R"("type":"swiglu","hidden":11,"bias":true,"dtype":"f64")"}), false); }

TEST(Gradients, Attention) {
  const std::string first = R"("type":"dense","out":12,"dtype":"f64")";
  for (const char* settings : {R"("heads":2)", R"("heads":4,"kv_heads":2,"head_dim":6,"qkv_bias":true,"out_bias":true)", R"("heads":2,"qk_norm":true,"window":3)",
                               R"("heads":3,"kv_heads":1,"causal":false,"rope_scaling":"llama3","rope_factor":8,"rope_original_positions":16)", R"("heads":2,"rope":false)",
                               R"("heads":2,"rope_scaling":"linear","rope_factor":4,"head_dim":40)"}) {
    SCOPED_TRACE(settings);
    check_gradients(chain(R"({"width":5})", {first, R"("type":"attention","dtype":"f64",)" + std::string(settings), kDense5}), false, 3, 5);
  }
}

TEST(Gradients, AttentionAcrossBlocks) {
  check_gradients(chain(R"({"width":3})", {R"("type":"dense","out":8,"dtype":"f64")", R"("type":"attention","dtype":"f64","heads":2,"kv_heads":1,"window":70)"}), false, 1, 150);
}

TEST(Gradients, ResidualDecoderBlock) {
  const std::string block = R"("type":"sequential","dtype":"f64","layers":[{"type":"sequential","layers":[{"type":"rms_norm"},{"type":"attention","heads":2,"kv_heads":1}]},{"type":"residual"},
      {"type":"sequential","layers":[{"type":"rms_norm"},{"type":"swiglu","hidden":20}]},{"type":"residual"}])";
  check_gradients(chain(R"({"ids":11})", {R"("type":"embedding","out":12,"std":0.5,"dtype":"f64")", block, block, R"("type":"rms_norm","dtype":"f64")", R"("type":"dense","out":11,"bias":false,"dtype":"f64")"}), true, 3, 6);
}

TEST(Gradients, TiedEmbedding) {
  check_gradients(chain(R"({"ids":9})", {R"("type":"embedding","out":6,"std":0.5,"dtype":"f64")", R"("type":"layer_norm","dtype":"f64")", R"("type":"dense","out":9,"bias":false,"dtype":"f64","tie":"0.0.0.0:weight")"}), true, 3, 4);
}

// Fan-out, fan-in by all merges, a send, and a layer run from two places.
TEST(Gradients, Links) {
  const std::string d6 = R"("type":"dense","out":6,"dtype":"f64","activation":"tanh")";
  for (const char* merge : {"concat", "add", "avg"}) {
    SCOPED_TRACE(merge);
    check_gradients(chain(R"({"width":6})", {d6 + R"(,"links":[{"send":[0,0,0,4]}])", d6, d6 + R"(,"links":[{"read":[0,0,0,0]},{"read":[0,0,0,1]}],"merge":")" + merge + "\"",
                                              R"("links":[{"run":[0,0,0,1]}])", d6 + R"(,"links":[{"read":[0,0,0,1]}],"keep_previous":true,"merge":")" + merge + "\"", kDense5}), false);
  }
}

}  // namespace
}  // namespace loom
