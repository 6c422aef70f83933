// Silently wrong numbers: exponentials that lost their row's maximum (A1), NaN that activations
// swallowed (A2). Answers are computed here in double, or are PyTorch's as the findings name them.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "base/random.h"
#include "conformance/support.h"
#include "exec/session.h"
#include "ops/elementwise/activation.h"
#include "train/checkpoint.h"
#include "train/data/tensor_data.h"
#include "train/judge/validation.h"
#include "train/trainer.h"

namespace loom {
namespace {

using test::chain;
constexpr float kNan = __builtin_nanf(""), kInf = __builtin_inff();

Network network_of(const std::string& topology) {
  auto n = Network::from_json(std::string_view(topology));
  EXPECT_TRUE(n.ok()) << n.status().to_string();
  EXPECT_TRUE(n->initialize(1).ok());
  return std::move(*n);
}
std::vector<float> run(Network& network, const std::vector<float>& x, std::int64_t rows = 1) {
  ThreadPool pool(1);
  auto s = Session::create(network, pool, {.max_rows = rows, .poison = true});
  EXPECT_TRUE(s.ok()) << s.status().to_string();
  EXPECT_TRUE(s->run(x, rows).ok());
  std::vector<float> y;
  for (std::int64_t r = 0; r < rows; ++r)
    y.insert(y.end(), s->output(r).begin(), s->output(r).end());
  return y;
}
std::vector<float> run(const std::string& layer, const std::vector<float>& x,
                       const std::string& dtype = "f32") {
  Network n = network_of(chain(R"({"width":)" + std::to_string(x.size()) + "}",
                               {layer + R"(,"dtype":")" + dtype + "\""}));
  return run(n, x);
}
// exp(x) of a row as shares of their sum.
std::vector<double> shares(const std::vector<float>& x) {
  const double top = *std::max_element(x.begin(), x.end());
  double sum = 0;
  std::vector<double> p;
  for (const float v : x) sum += p.emplace_back(std::exp(static_cast<double>(v) - top));
  for (double& v : p) v /= sum;
  return p;
}
void expect_shares(const std::vector<float>& x) {
  for (const std::string dtype : {"f32", "f64"}) {
    const std::vector<float> y = run(R"("type":"softmax")", x, dtype);
    const std::vector<double> want = shares(x);
    for (std::size_t i = 0; i < x.size(); ++i)
      EXPECT_NEAR(y[i], want[i], 2.5e-7 * want[i]) << dtype << ", value " << i << " of " << x[0];
  }
}

TEST(Findings, A1_SoftmaxOfAnyFiniteRow) {
  for (const std::string dtype : {"f32", "f64"}) {
    EXPECT_EQ(run(R"("type":"softmax")", {1e9f, 0, 5e8f}, dtype), (std::vector<float>{1, 0, 0}))
        << dtype;
    for (const float p : run(R"("type":"softmax")", {-1e9f, -1e9f, -1e9f}, dtype))
      EXPECT_FLOAT_EQ(p, 1.0f / 3) << dtype;
  }
  expect_shares({-2e6f, -2e6f - 1, -2e6f - 2});
  expect_shares({1e4f, 1e4f});
  expect_shares({1e6f, 1e6f});
  expect_shares({1e4f, 1e4f - 1, 1e4f - 0.5f, 1e4f + 2});
  expect_shares({15.1f, -10.3f, 12.7f});
  expect_shares({-1e30f, 1e30f, 1e30f});
}

TEST(Findings, A1_LogSoftmaxOfAnyFiniteRow) {
  for (const std::string dtype : {"f32", "f64"}) {
    EXPECT_EQ(run(R"("type":"log_softmax")", {2e6f, 0, 1e6f}, dtype),
              (std::vector<float>{0, -2e6f, -1e6f}))
        << dtype;
    for (const float y : run(R"("type":"log_softmax")", {-3e7f, -3e7f}, dtype))
      EXPECT_FLOAT_EQ(y, -0.69314718f) << dtype;
  }
}

// A row with places masked by -inf keeps them at 0; a row of nothing else stays uniform.
TEST(Findings, A1_MaskedPlacesStayMasked) {
  EXPECT_EQ(run(R"("type":"softmax")", {-kInf, 3, -kInf, 3}),
            (std::vector<float>{0, 0.5f, 0, 0.5f}));
  EXPECT_EQ(run(R"("type":"softmax")", {-kInf, -kInf}), (std::vector<float>{0.5f, 0.5f}));
  EXPECT_EQ(run(R"("type":"log_softmax")", {-kInf, 3}), (std::vector<float>{-kInf, 0}));
}

double cross_entropy(const std::vector<float>& logits, std::int32_t target) {
  Network n = network_of(chain(R"({"width":)" + std::to_string(logits.size()) + "}",
                               {R"("type":"activation","activation":"linear")"}));
  ThreadPool pool(1);
  const LearnerOptions options{
      .loss = Loss::cross_entropy, .max_rows = 1, .update = false, .poison = true};
  auto learner = Learner::create(n, pool, options);
  EXPECT_TRUE(learner.ok()) << learner.status().to_string();
  const std::span<const float> x(logits);
  EXPECT_TRUE(learner->batch(x, std::span<const std::int32_t>(&target, 1)).ok());
  EXPECT_TRUE(learner->accumulate().ok());
  return learner->loss_sum();
}
TEST(Findings, A1_CrossEntropyIsNeverNegative) {
  EXPECT_NEAR(cross_entropy({1e9f, 1e9f, 5e8f}, 1), std::log(2.0), 1e-7);
  EXPECT_NEAR(cross_entropy({1e4f, 1e4f}, 0), std::log(2.0), 1e-7);
  EXPECT_NEAR(cross_entropy({1e6f, 1e6f}, 1), std::log(2.0), 1e-7);
  EXPECT_EQ(cross_entropy({1e9f, 0, 5e8f}, 1), 1e9);
  EXPECT_EQ(cross_entropy({1e9f, 0, 5e8f}, 0), 0);
  EXPECT_NEAR(cross_entropy({-1e30f, -1e30f}, 1), std::log(2.0), 1e-7);
}

// Incomes and timestamps: the loss of raw values of size 1e6 goes to 0, as PyTorch's does, and not
// below.
TEST(Findings, A1_LearnsFromInputsOfSizeOneMillion) {
  Network n = network_of(chain(R"({"width":2})", {R"("type":"dense","out":2)"}));
  const RandomStream random(3, 3);
  std::vector<float> x;
  std::vector<std::int32_t> classes;
  for (std::uint64_t i = 0; i < 64; ++i) {
    const bool high = i % 2 == 1;
    x.push_back((high ? 2e6f : -1e6f) + 1e5f * random.uniform(2 * i));
    x.push_back(1e5f * random.uniform(2 * i + 1));
    classes.push_back(high ? 1 : 0);
  }
  TrainingSpec spec;
  spec.loss = Loss::cross_entropy;
  spec.optimizer = {.kind = OptimizerKind::sgd};
  spec.schedule.rate = 0.01;
  spec.batch = 64;
  spec.steps = 60;
  auto data = ArrayData::create(x, 2, classes);
  ASSERT_TRUE(data.ok());
  ThreadPool pool(1);
  auto trainer = Trainer::create(spec, n, **data, pool, {.poison = true});
  ASSERT_TRUE(trainer.ok()) << trainer.status().to_string();
  double last = 1;
  ASSERT_TRUE((*trainer)
                  ->run([&](const StepReport& r) -> Result<bool> {
                    EXPECT_GE(r.loss, 0);
                    last = r.loss;
                    return true;
                  })
                  .ok());
  EXPECT_LT(last, 1e-6);
}

TEST(Findings, A1_AttentionScoresOfMillions) {
  for (const std::string dtype : {"f32", "i8", "f64"})
    for (const bool negative : {false, true}) {
      SCOPED_TRACE(dtype + (negative ? ", negative" : ", positive"));
      Network n = network_of(
          chain(R"({"width":1})", {R"("type":"attention","heads":1,"head_dim":1,"rope":false)"}));
      for (const char* role : {"q", "k", "v", "o"}) {
        WeightStore* store = n.find("0.0.0.0", role);
        store->mutable_master()[0] = negative && role[0] == 'k' ? -1.0f : 1.0f;
        store->touch();
      }
      auto format = parse_weight_format(dtype);
      ASSERT_TRUE(format.ok() && n.morph(*format).ok());
      ThreadPool pool(1);
      auto s = Session::create(n, pool, {.max_rows = 2, .max_positions = 64, .poison = true});
      ASSERT_TRUE(s.ok()) << s.status().to_string();
      const std::vector<std::uint32_t> sequences = {0, 0}, positions = {0, 1};
      // scores of the second row: 4455150 and 4500762, or less than 0
      const std::vector<float> x = {2100, 2121.5f};
      ASSERT_TRUE(s->run(x, sequences, positions).ok());
      EXPECT_NEAR(s->output(1)[0], negative ? x[0] : x[1], dtype == "i8" ? 1 : 0);
    }
}

TEST(Findings, A1_KMeansOfPixels) {
  constexpr std::int64_t kRows = 50, kPixels = 784;
  Network n = network_of(chain(R"({"width":784})", {R"("type":"kmeans","clusters":5)"}));
  const RandomStream random(8, 8);
  std::vector<float> x;
  for (std::uint64_t i = 0; i < kRows * kPixels; ++i)
    x.push_back(static_cast<float>(random.below(i, 256)));
  const std::vector<float> y = run(n, x, kRows);
  const auto centers = n.find("0.0.0.0", "centers")->master();
  for (std::size_t r = 0; r < kRows; ++r) {
    double best = 1e300;
    std::size_t nearest = 0;
    for (std::size_t c = 0; c < 5; ++c) {
      double distance = 0;
      for (std::size_t i = 0; i < kPixels; ++i) {
        const double pixel = x[r * kPixels + i], center = centers[c * kPixels + i];
        distance += (pixel - center) * (pixel - center);
      }
      if (distance < best) best = distance, nearest = c;
    }
    double sum = 0;
    for (std::size_t c = 0; c < 5; ++c) sum += static_cast<double>(y[r * 5 + c]);
    EXPECT_NEAR(sum, 1, 1e-6) << "row " << r;
    EXPECT_GT(y[r * 5 + nearest], 0.5) << "row " << r;
  }
  // Distances beyond the range of floats: no NaN.
  Network far = network_of(chain(R"({"width":2})", {R"("type":"kmeans","clusters":2)"}));
  for (const float p : run(far, {1e25f, -1e25f})) EXPECT_FLOAT_EQ(p, 0.5f);
}

TEST(Findings, A1_OutputsOfManyClassesAtAnyOffset) {
  for (const std::string layer :
       {R"("type":"adaptive_softmax","out":6,"cutoffs":[2,4],"divide":1,"bias":true)",
        R"("type":"mixture_of_softmaxes","out":6,"mixtures":2)"}) {
    SCOPED_TRACE(layer);
    Network n = network_of(chain(R"({"width":3})", {layer}));
    for (const float size : {1.0f, 1e7f, 1e20f}) {
      const std::vector<float> y = run(n, {size, -2 * size, 0.5f * size});
      EXPECT_NEAR(std::accumulate(y.begin(), y.end(), 0.0), 1, 1e-6) << size;
    }
  }
}

// A NaN goes through every activation, and through the gradient as in PyTorch: relu's and
// leaky_relu's hand on what comes, the others' are NaN.
TEST(Findings, A2_EveryActivationLetsNanThrough) {
  for (const std::string dtype : {"f32", "f64"})
    for (int i = 0; i < kActivationCount; ++i) {
      const auto activation = static_cast<Activation>(i);
      SCOPED_TRACE(dtype + " " + std::string(name(activation)));
      std::string layer = R"("type":"activation","activation":")";
      layer += std::string(name(activation)) + "\"";
      const std::vector<float> y = run(layer, {1, kNan, -1}, dtype);
      EXPECT_EQ(y[0], y[0]);
      EXPECT_NE(y[1], y[1]);
      EXPECT_EQ(y[2], y[2]);
    }
}
TEST(Findings, A2_FunctionsAndPoolsLetNanThrough) {
  for (const char* op : {"thresholded_relu", "shrink", "clip", "hard_sigmoid", "hard_swish", "elu",
                         "selu", "celu", "softsign", "leaky_relu", "abs", "sign"}) {
    const std::string layer = R"("type":"unary","a":0.5,"b":1,"op":")" + std::string(op) + "\"";
    const auto y = run(layer, {kNan, 0.25f});
    EXPECT_NE(y[0], y[0]) << op;
    EXPECT_EQ(y[1], y[1]) << op;
  }
  for (const char* layer : {R"("type":"max_pool1","kernel":2)", R"("type":"avg_pool1","kernel":2)",
                            R"("type":"max_pool1","kernel":3,"stride":1,"padding":1)"}) {
    Network n = network_of(chain(R"({"dims":[1,6]})", {layer}));
    const auto y = run(n, {1, 2, kNan, 3, 4, 5});
    const auto nans = std::count_if(y.begin(), y.end(), [](float v) { return v != v; });
    EXPECT_EQ(nans, y.size() == 3 ? 1 : 3) << layer;
  }
  for (const char* op : {"max", "min"})
    for (const bool first : {false, true}) {
      const std::string layer = R"("type":"binary","shapes":[[1],[1]],"op":")" + std::string(op);
      Network n = network_of(chain(R"({"width":2})", {layer + "\""}));
      const auto y = run(n, first ? std::vector<float>{kNan, 1} : std::vector<float>{1, kNan});
      EXPECT_NE(y[0], y[0]) << op;
    }
  const auto hard = run(R"("type":"softmax","kind":"gumbel","hard":true)", {1, kNan, 3});
  for (const float v : hard) EXPECT_NE(v, v);
}

// The gradient of each activation at NaN, where that of its result is 3.
TEST(Findings, A2_SlopesAtNanAreThoseOfPyTorch) {
  for (int i = 1; i < kActivationCount; ++i) {
    const auto kind = static_cast<Activation>(i);
    Program program;
    ProgramBuilder emit(program);
    const Rows rows{1, emit.u32_register("R", 1), kNone};
    const View x = emit.input("x", ValueType::f32, rows, 1);
    const View g = emit.input("g", ValueType::f32, rows, 1);
    emit.copy_to(emit.activation_back(x, g, kind), emit.output("y", ValueType::f32, rows, 1));
    ThreadPool pool(1);
    auto e = Executor::create(program, [](auto, auto) { return nullptr; }, pool, {.poison = true});
    ASSERT_TRUE(e.ok()) << e.status().to_string();
    const Program& p = (*e)->program();
    ASSERT_TRUE((*e)->set(p.find_register("R"), 1).ok());
    (*e)->row<float>(p.find(BufferKind::input, "", "x"), 0)[0] = kNan;
    (*e)->row<float>(p.find(BufferKind::input, "", "g"), 0)[0] = 3;
    ASSERT_TRUE((*e)->run().ok());
    const float y = (*e)->row<float>(p.find(BufferKind::output, "", "y"), 0)[0];
    if (kind == Activation::relu) EXPECT_EQ(y, 3);
    else if (kind == Activation::leaky_relu) EXPECT_FLOAT_EQ(y, 0.03f);
    else EXPECT_NE(y, y) << name(kind);
  }
}

const std::string kRelu = chain(R"({"width":3})", {R"("type":"dense","out":8,"activation":"relu")",
                                                   R"("type":"dense","out":1)"});
TrainingSpec spec_of(std::int64_t steps = 5) {
  TrainingSpec spec;
  spec.batch = 4;
  spec.steps = steps;
  return spec;
}
std::unique_ptr<DataSource> samples(std::size_t bad_row = 99, std::size_t column = 0,
                                    float value = kNan, bool target = false) {
  const RandomStream random(5, 1);
  std::vector<float> x, y;
  for (std::uint64_t i = 0; i < 60; ++i) x.push_back(random.uniform(i));
  for (std::uint64_t i = 0; i < 20; ++i) y.push_back(random.uniform(100 + i));
  if (bad_row < 20) (target ? y[bad_row] : x[bad_row * 3 + column]) = value;
  return std::move(*ArrayData::create(x, 3, y, 1));
}

TEST(Findings, A2_TrainingRefusesWhatIsNotFiniteByRowAndColumn) {
  ThreadPool pool(1);
  auto refusal = [&](const DataSource& data, const std::string& topology = kRelu) {
    Network n = network_of(topology);
    auto trainer = Trainer::create(spec_of(), n, data, pool);
    return trainer.ok() ? std::string() : trainer.status().message();
  };
  EXPECT_EQ(refusal(*samples()), "");
  EXPECT_NE(refusal(*samples(7, 2)).find("x, row 7, column 2 (from 0) is NaN"), std::string::npos)
      << refusal(*samples(7, 2));
  EXPECT_NE(refusal(*samples(19, 0, -kInf)).find("x, row 19, column 0 (from 0) is -infinity"),
            std::string::npos);
  EXPECT_NE(refusal(*samples(3, 0, kNan, true)).find("y, row 3, column 0 (from 0) is NaN"),
            std::string::npos);
  EXPECT_NE(refusal(*samples(3, 0, kInf, true)).find("is infinity"), std::string::npos);
  // Where NaN means that a value is missing, it is one; infinity never is.
  const std::string holes = chain(
      R"({"width":3})", {R"("type":"standardize","missing":true)", R"("type":"dense","out":1)"});
  EXPECT_EQ(refusal(*samples(7, 2), holes), "");
  EXPECT_NE(refusal(*samples(7, 2, kInf), holes).find("is infinity"), std::string::npos);
  EXPECT_NE(refusal(*samples(7, 2, kNan, true), holes).find("is NaN"), std::string::npos);
  // Held back, they are named as they stand in the whole.
  const auto whole = samples(11, 1);
  auto parts = split(*whole, 0.5, 3);
  ASSERT_TRUE(parts.ok());
  const std::string learned = refusal(*parts->learned), held = refusal(*parts->held_back);
  EXPECT_NE((learned + held).find("x, row 11, column 1 (from 0) is NaN"), std::string::npos)
      << learned << held;
  EXPECT_TRUE(learned.empty() != held.empty());
}

// A network whose weights are NaN says so, in the loss it learns by and in the one it is judged by.
TEST(Findings, A2_LossesThatAreNanAreReported) {
  ThreadPool pool(1);
  Network n = network_of(kRelu);
  const auto data = samples();
  auto trainer = Trainer::create(spec_of(), n, *data, pool);
  ASSERT_TRUE(trainer.ok()) << trainer.status().to_string();
  auto validation = Validation::create(**trainer, *data, pool);
  ASSERT_TRUE(validation.ok() && (*trainer)->step().ok() && (*validation)->judge().ok());
  n.find("0.0.0.0", "weight")->mutable_master()[0] = kNan;
  n.find("0.0.0.0", "weight")->touch();
  ASSERT_TRUE((*trainer)->refresh().ok());
  const auto judged = (*validation)->judge();
  ASSERT_FALSE(judged.ok());
  const std::string_view text = "after step 1 the loss of the samples held back is not finite";
  EXPECT_NE(judged.status().message().find(text), std::string::npos) << judged.status().to_string();
  EXPECT_EQ((*validation)->best.step, 1);
  const auto step = (*trainer)->step();
  ASSERT_FALSE(step.ok());
  EXPECT_NE(step.status().message().find("step 2: the loss is not finite"), std::string::npos)
      << step.status().to_string();
}

// Numbers of version 1 cannot be gone on from with the same bits: its trainings say so, its weights
// load.
TEST(Findings, A1_TrainingsOfNumericsVersionOneAreRefusedByName) {
  ThreadPool pool(1);
  Network n = network_of(kRelu);
  const auto data = samples();
  auto trainer = Trainer::create(spec_of(), n, *data, pool);
  ASSERT_TRUE(trainer.ok() && (*trainer)->step().ok());
  TrainingState state = (*trainer)->state();
  ASSERT_TRUE((*trainer)->restore(state).ok());
  Json info = Json::object();  // as version 1 wrote it
  for (const auto& [key, value] : state.info.as_object())
    if (key != "numerics") info.set(key, value);
  state.info = info;
  const Status refused = (*trainer)->restore(state);
  EXPECT_EQ(refused.code(), Code::unsupported);
  EXPECT_NE(refused.message().find("numerics version 1, this library has 2"), std::string::npos)
      << refused.to_string();
}

}  // namespace
}  // namespace loom
