// Feedback matrices that learn (difference_target_propagation with "feedback": learned): they come
// to the transposed derivatives of the parts behind them, and with the same bits everywhere.
#include <gtest/gtest.h>

#include <cmath>

#include "base/random.h"
#include "ops/cpu/isa.h"
#include "train/checkpoint.h"
#include "train/data/tensor_data.h"
#include "train/trainer.h"

namespace loom {
namespace {

constexpr std::int64_t kIn = 4, kOut = 3, kBatch = 24;

std::string dense(std::size_t l, std::int64_t out, const std::string& more) {
  return (l ? "," : "") + (R"({"at":[0,0,0,)" + std::to_string(l) + R"(],"type":"dense","out":)") +
         std::to_string(out) + more + "}";
}
std::string mlp(const std::string& activation, const std::string& dtype = "f64") {
  const std::string more = R"(,"dtype":")" + dtype + R"(","activation":")" + activation + '"';
  return R"({"format":"loom-topology","version":3,"layers_per_cell":4,"input":{"width":4},)"
         R"("cells":[)" +
         dense(0, 9, more) + dense(1, 8, more) + dense(2, 7, more) +
         dense(3, kOut, R"(,"dtype":")" + dtype + '"') + "]}";
}

MethodSpec method_of(Feedback feedback, std::int64_t draws = 1) {
  return {.kind = MethodKind::difference_target_propagation,
          .feedback = feedback,
          .feedback_noise = 0.05,
          .feedback_draws = draws,
          .feedback_lr = 0.05};
}

double cosine(std::span<const double> a, std::span<const double> b) {
  double ab = 0, aa = 0, bb = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    ab += a[i] * b[i], aa += a[i] * a[i], bb += b[i] * b[i];
  return ab / std::sqrt(aa * bb);
}

struct Made {
  Network network;
  ThreadPool pool{2};
  std::shared_ptr<MethodMatrices> matrices;
  std::unique_ptr<Learner> learner;
  std::int64_t micro_batches;

  Made(const std::string& topology, const MethodSpec& method, std::int64_t micro_batch_count = 1,
       std::shared_ptr<MethodMatrices> given = nullptr)
      : network(std::move(*Network::from_json(std::string_view(topology)))),
        matrices(std::move(given)),
        micro_batches(micro_batch_count) {
    EXPECT_TRUE(network.initialize(3).ok());
    const bool local = method.kind != MethodKind::back_propagation;
    if (local && !matrices) matrices = std::move(*MethodMatrices::create(network, method.kind, 5));
    auto made = Learner::create(network, pool,
                                {.method = method,
                                 .matrices = matrices,
                                 .max_rows = kBatch,
                                 .micro_batches = micro_batches,
                                 .poison = true});
    EXPECT_TRUE(made.ok()) << made.status().to_string();
    learner = std::make_unique<Learner>(std::move(*made));
  }
  // One step on samples of its own, by which the network stays as it is.
  void step(std::int64_t number, bool update = true) {
    const RandomStream random(7, static_cast<std::uint64_t>(number));
    std::uint64_t k = 0;
    for (std::int64_t micro = 0; micro < micro_batches; ++micro) {
      Batch batch;
      for (std::int64_t i = 0; i < kBatch / micro_batches * kIn; ++i)
        batch.wide_x.push_back(2.0 * random.uniform(k++) - 1);
      for (std::int64_t i = 0; i < kBatch / micro_batches * kOut; ++i)
        batch.wide_values.push_back(2.0 * random.uniform(1000 + k++) - 1);
      batch.x.assign(batch.wide_x.begin(), batch.wide_x.end());
      batch.values.assign(batch.wide_values.begin(), batch.wide_values.end());
      ASSERT_TRUE(learner->batch(batch, false).ok());
      ASSERT_TRUE(learner->accumulate(micro).ok());
    }
    if (!update) return;
    const Status s = learner->update(0, static_cast<double>(kBatch), number);
    ASSERT_TRUE(s.ok()) << s.to_string();
  }
  // Of matrix i with the transposed weights of the layer behind it.
  double likeness(std::size_t i) {
    const WeightStore& w = *network.find("0.0.0." + std::to_string(i + 1), "weight");
    const WeightStore& b = *matrices->all()[i].store;
    std::vector<double> transposed;
    for (std::int64_t c = 0; c < w.cols(); ++c)
      for (std::int64_t r = 0; r < w.rows(); ++r)
        transposed.push_back(w.master64()[static_cast<std::size_t>(r * w.cols() + c)]);
    return cosine(b.master64(), transposed);
  }
  std::vector<double> gradient(std::size_t layer) const {
    std::vector<double> values;
    for (const NetworkEmitter::Gradient& g : learner->gradients())
      for (std::int64_t r = 0; r < g.rows && g.path == "0.0.0." + std::to_string(layer); ++r)
        for (const double v : learner->executor().row<double>(g.value.buffer, r))
          values.push_back(v);
    return values;
  }
};

TEST(Feedback, ComesToTheTransposedDerivativesOfTheParts) {
  for (const char* activation : {"linear", "tanh"}) {
    for (const std::int64_t draws : {1, 3}) {
      Made made(mlp(activation), method_of(Feedback::learned, draws));
      ASSERT_EQ(made.matrices->all().size(), 2u);
      for (std::size_t i = 0; i < 2; ++i) EXPECT_LT(std::abs(made.likeness(i)), 0.5);
      for (std::int64_t k = 1; k <= 200; ++k) made.step(k);
      for (std::size_t i = 0; i < 2; ++i) {
        EXPECT_GT(made.likeness(i), draws == 1 ? 0.95 : 0.97) << activation << ' ' << i;
        // Of a linear part the derivative is the weights themselves.
        const WeightStore& b = *made.matrices->all()[i].store;
        const WeightStore& w = *made.network.find("0.0.0." + std::to_string(i + 1), "weight");
        for (std::int64_t r = 0; r < b.rows() && activation[0] == 'l'; ++r)
          for (std::int64_t c = 0; c < b.cols(); ++c)
            EXPECT_NEAR(b.master64()[static_cast<std::size_t>(r * b.cols() + c)],
                        w.master64()[static_cast<std::size_t>(c * w.cols() + r)], 0.3);
      }
    }
  }
}

// What the first hidden part learns from, beside back-propagation's gradient.
TEST(Feedback, LearnedMatricesAlignWithBackPropagation) {
  const auto alignment = [](const MethodSpec& method) {
    Made made(mlp("tanh"), method);
    for (std::int64_t k = 1; k <= 200; ++k) made.step(k);
    Made whole(mlp("tanh"), {});
    made.step(1000, false);
    whole.step(1000, false);
    return cosine(made.gradient(0), whole.gradient(0));
  };
  const double learned = alignment(method_of(Feedback::learned)),
               fixed = alignment(method_of(Feedback::fixed));
  EXPECT_GT(learned, 0.9);
  EXPECT_LT(fixed, 0.6);
}

// How a step is cut draws other noise, as with dropout, and means the same.
TEST(Feedback, MicroBatchesLearnTheSameMatrices) {
  Made cut(mlp("tanh"), method_of(Feedback::learned), 3);
  for (std::int64_t k = 1; k <= 200; ++k) cut.step(k);
  for (std::size_t i = 0; i < 2; ++i) EXPECT_GT(cut.likeness(i), 0.95);
}

TEST(Feedback, ThreadsInstructionSetsAndPausesChangeNoBit) {
  const std::string text =
      R"({"format":"loom-topology","version":3,"layers_per_cell":6,"input":{"width":4},"cells":[)" +
      dense(0, 17, R"(,"activation":"tanh")") + R"(,{"at":[0,0,0,1],"type":"dropout","rate":0.2})" +
      dense(2, 9, R"(,"activation":"relu","dtype":"f64")") +
      R"(,{"at":[0,0,0,3],"type":"layer_norm"})" + dense(4, 7, R"(,"dtype":"ternary")") +
      dense(5, kOut, "") + "]}";
  auto spec = parse_training_spec(std::string_view(
      R"({"format":"loom-training","version":2,"loss":"cross_entropy","class_weights":[1,2,0.5],)"
      R"("network":)" +
      text + R"(,"method":{"type":"difference_target_propagation",)" +
      R"("feedback":"learned","feedback_draws":2},"steps":12,"batch":6,"micro_batches":3,)" +
      R"("optimizer":{"clip_norm":1,"weight_decay":0.01}})"));
  ASSERT_TRUE(spec.ok()) << spec.status().to_string();
  const RandomStream random(9, 1);
  std::vector<float> x;
  std::vector<std::int32_t> classes;
  for (std::uint64_t i = 0; i < 80; ++i) x.push_back(2 * random.uniform(i) - 1);
  for (std::size_t r = 0; r < 20; ++r) classes.push_back(x[r * 4] > 0.3f ? 2 : x[r * 4 + 1] > 0);
  const auto data = std::move(*ArrayData::create(std::move(x), 4, std::move(classes)));
  const auto digest = [&](int threads, const std::string& isa, std::int64_t pause) {
    ThreadPool pool(threads);
    std::vector<std::byte> file;
    for (const std::int64_t until : {pause, std::int64_t{12}}) {
      Network network = std::move(*create_network(*spec));
      auto trainer = Trainer::create(*spec, network, *data, pool, {.isa = isa, .poison = true});
      EXPECT_TRUE(trainer.ok()) << trainer.status().to_string();
      if (until == 12 && pause > 0) {
        const Status resumed = resume_checkpoint(source_from_bytes(file, "half"), **trainer);
        EXPECT_TRUE(resumed.ok()) << resumed.to_string();
      }
      while ((*trainer)->done() < until) EXPECT_TRUE((*trainer)->step().ok());
      file.clear();
      EXPECT_TRUE(save_checkpoint(&file, **trainer).ok());
      if (until == 12) return (*trainer)->digest();
    }
    return std::string();
  };
  const std::string want = digest(1, "", 0);
  for (const int threads : {2, 3}) EXPECT_EQ(digest(threads, "", 0), want);
  for (const std::string_view isa : cpu::available_isas())
    EXPECT_EQ(digest(2, std::string(isa), 0), want) << isa;
  EXPECT_EQ(digest(1, "", 5), want);
}

TEST(Feedback, SettingsAreOfTheMethodsThatTakeThem) {
  const auto refusal = [](const std::string& method) {
    auto spec = parse_training_spec(
        std::string_view(R"({"format":"loom-training","version":2,"steps":1,"batch":2,"network":)" +
                         mlp("tanh") + R"(,"method":)" + method + "}"));
    return spec.ok() ? std::string() : spec.status().message();
  };
  const std::string type = R"({"type":"difference_target_propagation")";
  EXPECT_EQ(refusal(type + R"(,"feedback":"learned","feedback_noise":0.2,"feedback_draws":4,)"
                           R"("feedback_lr":1})"),
            "");
  const auto has = [&](const std::string& message, const std::string& part) {
    EXPECT_NE(message.find(part), std::string::npos) << part << ": " << message;
  };
  has(refusal(type + R"(,"feedback":"learnt"})"),
      "unknown feedback \"learnt\": one of fixed, learned; did you mean \"learned\"?");
  has(refusal(type + R"(,"feedback_lr":0.1})"), "feedback_lr");
  has(refusal(type + R"(,"feedback":"learned","feedback_lr":0})"), "feedback_lr");
  has(refusal(type + R"(,"feedback":"learned","feedback_draws":0})"), "feedback_draws");
  has(refusal(R"({"type":"mono_forward","feedback":"learned"})"), "feedback");
}

}  // namespace
}  // namespace loom
