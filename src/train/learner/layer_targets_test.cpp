// Target propagation by layers: the formulas of layers other than dense ones, that no gradient
// passes any of them, and what they learn.
#include <gtest/gtest.h>

#include <cmath>

#include "base/random.h"
#include "ops/cpu/isa.h"
#include "train/data/tensor_data.h"
#include "train/trainer.h"

namespace loom {
namespace {

using Cells = std::vector<std::string>;

std::string topology(const std::string& input, const Cells& list) {
  std::string text;
  for (std::size_t l = 0; l < list.size(); ++l)
    text +=
        (l ? "," : "") + (R"({"at":[0,0,0,)" + std::to_string(l) + R"(],"type":)") + list[l] + "}";
  return R"({"format":"loom-topology","version":3,"layers_per_cell":)" +
         std::to_string(list.size()) + R"(,"input":)" + input + R"(,"cells":[)" + text + "]}";
}
MethodSpec layer_wise() {
  return {.kind = MethodKind::target_propagation, .mode = TargetMode::layer_wise};
}
std::vector<float> numbers(std::size_t n, std::uint64_t stream) {
  const RandomStream random(11, stream);
  std::vector<float> v;
  for (std::uint64_t i = 0; i < n; ++i) v.push_back(2 * random.uniform(i) - 1);
  return v;
}

// Networks in which each layer that has a formula stands between layers that learn.
struct Case {
  std::string name, input;
  Cells cells;
};
std::vector<Case> cases() {
  const std::string wide = R"({"width":8})", steps = R"({"dims":[5,3]})",
                    image = R"({"dims":[2,6,5]})", line = R"({"dims":[2,9]})",
                    volume = R"({"dims":[2,3,4,3]})", end = R"("dense","out":3)",
                    some = R"("dense","out":6,"activation":"relu")", flat = R"("flatten")";
  std::vector<Case> list;
  for (
      const char* layer :
      {R"("layer_norm")", R"("rms_norm")", R"("softmax")", R"("activation","activation":"gelu")",
       R"("dropout","rate":0.2)", R"("swiglu","hidden":7)",
       R"("swiglu","hidden":7,"activation":"relu","sub_norm":true)",
       R"("sequential","layers":[{"type":"dense","out":6,"activation":"tanh"},{"type":"residual"}])"})
    list.push_back({layer, wide, {some, layer, end}});
  const std::string conv = R"("conv2d","filters":4,"kernel":3,"padding":1,"activation":"relu")";
  for (const char* layer :
       {R"("conv2d","filters":3,"kernel":[3,2],"stride":2,"padding":1,"activation":"tanh")",
        R"("conv2d","filters":6,"kernel":3,"groups":2)",
        R"("conv2d","filters":6,"kernel":3,"groups":2,"dtype":"ternary")",
        R"("conv2d","filters":3,"kernel":2,"dtype":"binary")",
        R"("conv_transpose2d","filters":3,"kernel":2,"dtype":"i8")",
        R"("conv_transpose2d","filters":3,"kernel":3,"stride":2,"padding":1)",
        R"("conv_transpose2d","filters":4,"kernel":2,"groups":2)",
        R"("max_pool2d","kernel":3,"stride":2,"padding":1)",
        R"("avg_pool2d","kernel":2,"stride":1)", R"("avg_pool2d","global":true)", R"("batch_norm")",
        R"("batch_norm","affine":false)", R"("group_norm","groups":2)", R"("instance_norm")"})
    list.push_back({layer, image, {conv, layer, flat, end}});
  list.push_back({"conv1d",
                  line,
                  {R"("conv1d","filters":4,"kernel":3)", R"("max_pool1d")",
                   R"("conv_transpose1d","filters":3,"kernel":2)", flat, end}});
  list.push_back(
      {"conv3d",
       volume,
       {R"("conv3d","filters":2,"kernel":2)", R"("conv3d","filters":2,"kernel":2)", flat, end}});
  for (const char* layer :
       {R"("rnn","hidden":4)", R"("rnn","hidden":4,"activation":"relu","bidirectional":true)",
        R"("lstm","hidden":4,"output":"last")", R"("lstm","hidden":4,"num_layers":2)",
        R"("gru","hidden":4)", R"("gru","hidden":4,"linear_before_reset":false,"bias":false)",
        R"("lstm","hidden":4,"dtype":"binary")", R"("gru","hidden":4,"dtype":"i4")",
        R"("attention","heads":2,"dtype":"ternary")", R"("attention","heads":2)",
        R"("attention","heads":4,"kv_heads":2,"causal":false,)"
        R"("rope":false,"qk_norm":true,"sub_norm":true,"dropout":0.1)",
        R"("positions")", R"("time_distributed","layers":[{"type":"dense","out":4}])"})
    list.push_back({layer, steps, {R"("dense","out":8,"activation":"relu")", layer, flat, end}});
  list.push_back({"embedding",
                  R"({"dims":[4],"ids":9})",
                  {R"("embedding","out":6)", R"("lstm","hidden":4,"output":"last")", end}});
  return list;
}

TEST(LayerTargets, NoGradientPassesALayer) {
  for (const Case& c : cases()) {
    auto network = Network::from_json(std::string_view(topology(c.input, c.cells)));
    ASSERT_TRUE(network.ok()) << c.name << network.status().to_string();
    ASSERT_TRUE(network->initialize(3).ok());
    ThreadPool pool(1);
    auto made = Learner::create(*network, pool, {.method = layer_wise(), .max_rows = 4});
    ASSERT_TRUE(made.ok()) << c.name << made.status().to_string();
    for (const Instruction& ins : made->executor().program().code) {
      const std::string_view op = info(ins.op).name;
      EXPECT_TRUE(!op.ends_with("_back") || op == "mse_back") << c.name << ": " << op;
    }
    // All parameters but statistics learn.
    std::size_t learned = 0;
    for (const Network::NamedParam& p : network->params())
      learned += p.param->spec.role.starts_with("running_") ? 0 : 1;
    EXPECT_EQ(made->gradients().size(), learned) << c.name;
  }
}

TEST(LayerTargets, GradientsAreFiniteAndMoveEachLayer) {
  for (const Case& c : cases()) {
    Network network = std::move(*Network::from_json(std::string_view(topology(c.input, c.cells))));
    ASSERT_TRUE(network.initialize(3).ok());
    ThreadPool pool(2);
    auto made =
        Learner::create(network, pool, {.method = layer_wise(), .max_rows = 6, .poison = true});
    ASSERT_TRUE(made.ok()) << made.status().to_string();
    const std::vector<float> y = numbers(6 * 3, 2);
    if (network.input().ids > 0) {
      std::vector<std::uint32_t> ids;
      for (std::uint32_t i = 0; i < 24; ++i) ids.push_back(i * 5 % 9);
      ASSERT_TRUE(made->batch(ids, y).ok());
    } else {
      const auto width = static_cast<std::size_t>(network.input().width);
      ASSERT_TRUE(made->batch(numbers(6 * width, 1), y).ok()) << c.name;
    }
    ASSERT_TRUE(made->accumulate().ok());
    for (const NetworkEmitter::Gradient& g : made->gradients()) {
      double squares = 0;
      for (std::int64_t r = 0; r < g.rows; ++r)
        for (const float v : made->executor().row<float>(g.value.buffer, r))
          squares += static_cast<double>(v) * static_cast<double>(v);
      EXPECT_TRUE(std::isfinite(squares)) << c.name << ' ' << g.path << ':' << g.role;
      EXPECT_GT(squares, 0) << c.name << ' ' << g.path << ':' << g.role;
    }
  }
}

// Of a convolution with a border: the sum of the weights times gaps that a value meets, over the
// sum of their sizes.
TEST(LayerTargets, AConvolutionPullsByTheWeightsThatAValueMeets) {
  constexpr std::int64_t kRows = 3, kChannels = 2, kLength = 4, kFilters = 3, kKernel = 2,
                         kPlaces = 5;
  Network network = std::move(*Network::from_json(std::string_view(topology(
      R"({"width":3})", {R"("dense","out":8,"dtype":"f64")", R"("reshape","dims":[2,4])",
                         R"("conv1d","filters":3,"kernel":2,"padding":1,"dtype":"f64")"}))));
  ASSERT_TRUE(network.initialize(3).ok());
  ThreadPool pool(1);
  auto made = Learner::create(network, pool, {.method = layer_wise(), .max_rows = kRows});
  ASSERT_TRUE(made.ok()) << made.status().to_string();
  Batch batch;
  batch.x = numbers(kRows * 3, 1), batch.values = numbers(kRows * kFilters * kPlaces, 2);
  batch.wide_x.assign(batch.x.begin(), batch.x.end());
  batch.wide_values.assign(batch.values.begin(), batch.values.end());
  ASSERT_TRUE(made->batch(batch, false).ok());
  ASSERT_TRUE(made->accumulate().ok());
  const auto weight = [&](const char* path, std::int64_t at) {
    return network.find(path, "weight")->master64()[static_cast<std::size_t>(at)];
  };
  double gap[kRows][kChannels * kLength], a[kRows][kChannels * kLength];
  for (std::int64_t r = 0; r < kRows; ++r) {
    for (std::int64_t u = 0; u < kChannels * kLength; ++u) {
      a[r][u] = 0;
      for (std::int64_t k = 0; k < 3; ++k)
        a[r][u] += weight("0.0.0.0", u * 3 + k) * batch.wide_x[static_cast<std::size_t>(r * 3 + k)];
    }
    double g[kFilters][kPlaces];
    for (std::int64_t f = 0; f < kFilters; ++f)
      for (std::int64_t p = 0; p < kPlaces; ++p) {
        double y = 0;
        for (std::int64_t c = 0; c < kChannels; ++c)
          for (std::int64_t k = 0; k < kKernel; ++k)
            if (const std::int64_t i = p - 1 + k; i >= 0 && i < kLength)
              y += weight("0.0.0.2", (f * kChannels + c) * kKernel + k) * a[r][c * kLength + i];
        const auto at = static_cast<std::size_t>((r * kFilters + f) * kPlaces + p);
        g[f][p] = 2 * (y - batch.wide_values[at]) / (kFilters * kPlaces);
      }
    for (std::int64_t c = 0; c < kChannels; ++c)
      for (std::int64_t i = 0; i < kLength; ++i) {
        double sum = 0, size = 0;
        for (std::int64_t f = 0; f < kFilters; ++f)
          for (std::int64_t k = 0; k < kKernel; ++k)
            if (const std::int64_t p = i + 1 - k; p >= 0 && p < kPlaces) {
              const double w = weight("0.0.0.2", (f * kChannels + c) * kKernel + k);
              sum += w * g[f][p], size += std::abs(w);
            }
        gap[r][c * kLength + i] = sum / size;
      }
  }
  const NetworkEmitter::Gradient& got = made->gradients()[0];
  for (std::int64_t u = 0; u < got.rows; ++u)
    for (std::int64_t k = 0; k < 3; ++k) {
      double want = 0;
      for (std::int64_t r = 0; r < kRows; ++r)
        want += gap[r][u] * batch.wide_x[static_cast<std::size_t>(r * 3 + k)];
      EXPECT_NEAR(made->executor().row<double>(got.value.buffer, u)[static_cast<std::size_t>(k)],
                  want, 1e-8);  // the reshape is f32
    }
}

// The loss in the first and in the last steps of a training by layers, with each of two seeds. A
// network that has not learned has one of about log 2.
void expect_learned(const std::string& network, const DataSource& data, double loss,
                    const std::string& what) {
  for (int seed = 1; seed <= 2; ++seed) {
    auto spec = parse_training_spec(std::string_view(
        R"({"format":"loom-training","version":2,"loss":"cross_entropy","network":)" + network +
        R"(,"method":{"type":"target_propagation","mode":"layer_wise"},"steps":600,"batch":32,)" +
        R"("schedule":{"type":"constant","lr":0.003},"seed":)" + std::to_string(seed) + "}"));
    ASSERT_TRUE(spec.ok()) << spec.status().to_string();
    auto made = create_network(*spec);
    ASSERT_TRUE(made.ok()) << made.status().to_string();
    ThreadPool pool(1);
    auto trainer = Trainer::create(*spec, *made, data, pool);
    ASSERT_TRUE(trainer.ok()) << trainer.status().to_string();
    double first = 0, last = 0;
    const Status status = (*trainer)->run([&](const StepReport& r) -> Result<bool> {
      if (r.step <= 4) first += r.loss / 4;
      if (r.step > 590) last += r.loss / 10;
      return true;
    });
    ASSERT_TRUE(status.ok()) << status.to_string();
    EXPECT_GT(first, 0.6) << what << seed;
    EXPECT_LT(last, loss) << what << seed;
  }
}

// Which of two halves of a sequence has the larger sum.
TEST(LayerTargets, LayersOfSequencesLearn) {
  std::vector<float> x = numbers(8 * 256, 5);
  std::vector<std::int32_t> classes;
  for (std::size_t r = 0; r < 256; ++r) {
    float difference = 0;
    for (std::size_t k = 0; k < 8; ++k) difference += k < 4 ? x[8 * r + k] : -x[8 * r + k];
    classes.push_back(difference > 0);
  }
  const auto data = std::move(*ArrayData::create(std::move(x), 8, std::move(classes)));
  for (const char* layer :
       {R"("lstm","hidden":12,"output":"last")", R"("rnn","hidden":12,"output":"last")",
        R"("gru","hidden":12,"output":"last")", R"("attention","heads":2)",
        R"("attention","heads":2,"causal":false)"})
    expect_learned(topology(R"({"dims":[8,1]})", {R"("dense","out":12,"activation":"relu")", layer,
                                                  R"("flatten")", R"("dense","out":2)"}),
                   *data, 0.45, layer);
}

// Whether the bar in an image with noise stands or lies.
TEST(LayerTargets, ConvolutionsLearn) {
  const RandomStream random(3, 1);
  std::vector<float> x;
  std::vector<std::int32_t> classes;
  for (std::uint64_t r = 0; r < 256; ++r) {
    const bool stands = r % 2 > 0;
    const std::uint64_t place = random.below(100000 + r, 8);
    for (std::uint64_t i = 0; i < 64; ++i)
      x.push_back(0.5f * random.uniform(64 * r + i) +
                  ((stands ? i % 8 : i / 8) == place ? 0.5f : 0.0f));
    classes.push_back(stands);
  }
  const auto data = std::move(*ArrayData::create(std::move(x), 64, std::move(classes)));
  for (const char* pool : {R"("max_pool2d")", R"("avg_pool2d")"})
    expect_learned(topology(R"({"dims":[1,8,8]})",
                            {R"("conv2d","filters":6,"kernel":3,"activation":"relu")", pool,
                             R"("conv2d","filters":8,"kernel":2,"activation":"relu")",
                             R"("batch_norm")", R"("flatten")", R"("dense","out":2)"}),
                   *data, 0.45, pool);
}

// Whether the first of four ids is above the last one.
TEST(LayerTargets, EmbeddingsLearn) {
  Network network = std::move(*Network::from_json(std::string_view(
      topology(R"({"dims":[4],"ids":9})",
               {R"("embedding","out":8)", R"("flatten")", R"("dense","out":16,"activation":"relu")",
                R"("dense","out":2)"}))));
  ASSERT_TRUE(network.initialize(3).ok());
  ThreadPool pool(1);
  auto made = Learner::create(
      network, pool, {.loss = Loss::cross_entropy, .method = layer_wise(), .max_rows = 64});
  ASSERT_TRUE(made.ok()) << made.status().to_string();
  const RandomStream random(7, 1);
  std::vector<float> was(network.find("0.0.0.0", "weight")->master().begin(),
                         network.find("0.0.0.0", "weight")->master().end());
  double first = 0, last = 0;
  for (std::int64_t step = 1; step <= 300; ++step) {
    std::vector<std::uint32_t> ids;
    std::vector<std::int32_t> classes;
    for (std::uint64_t r = 0; r < 64; ++r) {
      for (std::uint64_t i = 0; i < 4; ++i)
        ids.push_back(random.below(static_cast<std::uint64_t>(step) * 256 + r * 4 + i, 9));
      classes.push_back(ids[r * 4] > ids[r * 4 + 3]);
    }
    ASSERT_TRUE(made->batch(ids, classes).ok());
    ASSERT_TRUE(made->accumulate().ok());
    (step == 1 ? first : last) = made->loss_sum() / 64;
    ASSERT_TRUE(made->update(0.01, 64, step).ok());
  }
  EXPECT_GT(first, 0.6);
  EXPECT_LT(last, 0.2);
  EXPECT_FALSE(std::ranges::equal(network.find("0.0.0.0", "weight")->master(), was));
}

// A language model attends to other rows, for which there is no formula.
TEST(LayerTargets, AttentionOverRowsIsRefused) {
  Network network = std::move(*Network::from_json(std::string_view(
      topology(R"({"ids":9})",
               {R"("embedding","out":8)", R"("attention","heads":2)", R"("dense","out":9)"}))));
  ASSERT_TRUE(network.initialize(3).ok());
  ThreadPool pool(1);
  auto made = Learner::create(network, pool, {.loss = Loss::cross_entropy, .method = layer_wise()});
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.status().code(), Code::unsupported);
  EXPECT_NE(made.status().message().find("attention at 0.0.0.1: has a formula for targets by "
                                         "layers over the steps of a row"),
            std::string::npos)
      << made.status().message();
}

// A network of layers with formulas: the same bits on every machine, and after a pause.
TEST(LayerTargets, ThreadsInstructionSetsAndPausesChangeNoBit) {
  const std::string text = topology(
      R"({"dims":[5,3]})",
      {R"("dense","out":8,"activation":"relu","dtype":"ternary")", R"("layer_norm")",
       R"("attention","heads":2,"dropout":0.1)", R"("gru","hidden":6)", R"("lstm","hidden":4)",
       R"("reshape","dims":[1,5,4])", R"("conv2d","filters":4,"kernel":2,"activation":"relu")",
       R"("max_pool2d")", R"("flatten")", R"("dense","out":3,"dtype":"i8")"});
  auto spec = parse_training_spec(std::string_view(
      R"({"format":"loom-training","version":2,"loss":"mse","network":)" + text +
      R"(,"method":{"type":"target_propagation","mode":"layer_wise"},"steps":9,"batch":6,)" +
      R"("micro_batches":3})"));
  ASSERT_TRUE(spec.ok()) << spec.status().to_string();
  const auto data = std::move(*ArrayData::create(numbers(15 * 20, 3), 15, numbers(60, 4), 3));
  const auto digest = [&](int threads, const std::string& isa, std::int64_t pause) {
    ThreadPool pool(threads);
    TrainingState state;
    for (const std::int64_t until : {pause, std::int64_t{9}}) {
      Network network = std::move(*create_network(*spec));
      auto trainer = Trainer::create(*spec, network, *data, pool, {.isa = isa, .poison = true});
      EXPECT_TRUE(trainer.ok()) << trainer.status().to_string();
      if (until == 9 && pause > 0) {
        EXPECT_TRUE((*trainer)->restore(std::move(state)).ok());
      }
      while ((*trainer)->done() < until) EXPECT_TRUE((*trainer)->step().ok());
      state = (*trainer)->state();
      if (until == 9) return (*trainer)->digest();
    }
    return std::string();
  };
  const std::string want = digest(1, "", 0);
  for (const int threads : {2, 3}) EXPECT_EQ(digest(threads, "", 0), want);
  for (const std::string_view isa : cpu::available_isas())
    EXPECT_EQ(digest(2, std::string(isa), 0), want) << isa;
  EXPECT_EQ(digest(1, "", 4), want);
}

}  // namespace
}  // namespace loom
