// Learning through ticks: gradients against finite differences, and tasks that need memory.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/random.h"
#include "exec/step_mesh.h"
#include "train/checkpoint.h"
#include "train/data/tensor_data.h"
#include "train/judge/metrics.h"
#include "train/trainer.h"

namespace loom {
namespace {

std::string topology(int cells, int width, const std::string& list) {
  return R"({"format":"loom-topology","version":3,"step_mesh":true,"depth":)" +
         std::to_string(cells) + R"(,"input":{"width":)" + std::to_string(width) +
         R"(},"cells":[)" + list + "]}";
}

// Three cells in a cycle, one of which also reads itself, and a last one that is no part of it.
std::string ring(const std::string& dtype) {
  const auto cell = [&](int z, int out, const std::string& links) {
    return R"({"at":[)" + std::to_string(z) + R"(,0,0,0],"type":"dense","out":)" +
           std::to_string(out) + R"(,"activation":"tanh","dtype":")" + dtype + "\"" + links + "}";
  };
  return topology(
      4, 2,
      cell(0, 3, R"(,"keep_previous":true,"links":[{"read":[2,0,0,0]}])") + "," +
          cell(1, 3, R"(,"merge":"add","keep_previous":true,"links":[{"read":[1,0,0,0]}])") + "," +
          cell(2, 3, R"(,"merge":"avg","keep_previous":true,"links":[{"read":[0,0,0,0]}])") + "," +
          cell(3, 2, ""));
}

constexpr std::int64_t kTicks = 6, kRows = 3;

std::vector<double> numbers(std::size_t n, std::uint64_t stream) {
  const RandomStream random(5, stream);
  std::vector<double> x;
  for (std::size_t i = 0; i < n; ++i) x.push_back(2.0 * random.uniform(i) - 1);
  return x;
}

// What the mesh itself gives, beside targets.
double loss_of(const Network& network, const std::vector<double>& x, const std::vector<double>& t,
               bool last) {
  ThreadPool pool(1);
  StepMesh mesh = std::move(*StepMesh::create(network, pool, {.streams = kRows}));
  std::vector<double> y(kRows * kTicks * 2);
  const Status ran = mesh.run(std::span<const double>(x), kTicks, std::span<double>(y));
  EXPECT_TRUE(ran.ok()) << ran.message();
  const std::size_t of_row = last ? 2 : kTicks * 2;
  double sum = 0;
  for (std::size_t r = 0; r < kRows; ++r)
    for (std::size_t k = 0; k < of_row; ++k) {
      const double d = y[(r + 1) * kTicks * 2 - of_row + k] - t[r * of_row + k];
      sum += d * d / static_cast<double>(of_row);
    }
  return sum;
}

Learner learner_of(Network& over, ThreadPool& pool, std::int64_t truncate = 0) {
  auto made = Learner::create(
      over, pool, {.max_rows = kRows, .truncate = truncate, .update = false, .poison = true});
  EXPECT_TRUE(made.ok()) << made.status().message();
  return std::move(*made);
}

std::vector<std::vector<double>> gradients(Learner& learner, const std::vector<double>& x,
                                           const std::vector<double>& t) {
  Batch batch;
  batch.wide_x = x;
  batch.values.assign(t.begin(), t.end());
  batch.wide_values = t;
  EXPECT_TRUE(learner.batch(batch, false).ok());
  EXPECT_TRUE(learner.accumulate().ok());
  std::vector<std::vector<double>> all;
  for (const NetworkEmitter::Gradient& g : learner.gradients()) {
    std::vector<double>& one = all.emplace_back();
    for (std::int64_t r = 0; r < g.rows; ++r)
      for (const double v : learner.executor().row<double>(g.value.buffer, r)) one.push_back(v);
  }
  return all;
}

TEST(Ticks, GradientsAreThoseOfFiniteDifferences) {
  for (const bool last : {false, true}) {
    Network network = std::move(*Network::from_json(std::string_view(ring("f64"))));
    ASSERT_TRUE(network.initialize(7).ok());
    const std::vector<double> x = numbers(kRows * kTicks * 2, 1),
                              t = numbers(kRows * (last ? 2 : kTicks * 2), 2);
    Network over = std::move(*network.over_ticks(
        kTicks, last ? Network::Answers::last_tick : Network::Answers::every_tick));
    ThreadPool pool(2);
    Learner learner = learner_of(over, pool);
    const auto got = gradients(learner, x, t);
    EXPECT_NEAR(learner.loss_sum(), loss_of(network, x, t, last), 1e-6);
    constexpr double kStep = 1e-5;
    for (std::size_t p = 0; p < got.size(); ++p)
      for (std::size_t i = 0; i < got[p].size(); ++i) {
        WeightStore* store = learner.gradients()[p].store;
        double& w = store->mutable_master64()[i];
        const double was = w;
        const auto at = [&](double value) {
          w = value;
          store->touch();
          return loss_of(network, x, t, last);
        };
        const double wanted = (at(was + kStep) - at(was - kStep)) / (2 * kStep);
        at(was);
        EXPECT_NEAR(got[p][i], wanted, 1e-6 * std::max(1.0, std::abs(wanted)))
            << learner.gradients()[p].path << " " << i;
      }
  }
}

// Cut into pieces of two ticks, a gradient is the sum of those of pieces that begin from the values
// that the ticks before them left.
TEST(Ticks, TruncatedGradientsStayInTheirPiece) {
  Network network = std::move(*Network::from_json(std::string_view(ring("f64"))));
  ASSERT_TRUE(network.initialize(7).ok());
  const std::vector<double> x = numbers(kRows * kTicks * 2, 1), t = numbers(kRows * kTicks * 2, 2);
  Network over = std::move(*network.over_ticks(kTicks, Network::Answers::every_tick));
  ThreadPool pool(1);
  Learner whole = learner_of(over, pool), cut = learner_of(over, pool, 2),
          never = learner_of(over, pool, kTicks), always = learner_of(over, pool, 1);
  const auto g = gradients(whole, x, t), of_two = gradients(cut, x, t),
             of_all = gradients(never, x, t), of_one = gradients(always, x, t);
  EXPECT_EQ(of_all, g);
  EXPECT_NE(of_two, g);
  EXPECT_NE(of_two, of_one);
  // Other cells are a tick away from what has a target: nothing of them is learned in one.
  ASSERT_EQ(of_one.size(), 2);
  for (const NetworkEmitter::Gradient& last : always.gradients()) EXPECT_EQ(last.path, "3.0.0.0");
}

struct Outcome {
  double accuracy = 0;
  std::string weights;
};

// Trains on rows of bits, and returns the share of new rows that are answered right.
Outcome learn(const std::string& mesh, std::int64_t ticks, const std::string& spec,
              const std::function<std::vector<std::int32_t>(const std::vector<int>&)>& answer,
              std::int64_t bits, int threads = 1) {
  const auto rows = [&](std::size_t n, std::uint64_t stream) {
    const RandomStream random(9, stream);
    std::vector<float> x;
    std::vector<std::int32_t> classes;
    for (std::size_t i = 0; i < n; ++i) {
      std::vector<int> row;
      for (std::int64_t t = 0; t < ticks; ++t) {
        const int bit =
            t < bits ? static_cast<int>(random.below(i * 64 + static_cast<std::size_t>(t), 2)) : 0;
        if (t < bits) row.push_back(bit);
        x.push_back(static_cast<float>(t < bits ? 2 * bit - 1 : 0));
      }
      for (const std::int32_t c : answer(row)) classes.push_back(c);
    }
    return std::move(*ArrayData::create(std::move(x), ticks, std::move(classes)));
  };
  Outcome out;
  auto parsed = parse_training_spec(std::string_view(spec));
  EXPECT_TRUE(parsed.ok()) << parsed.status().message();
  Network network = std::move(*Network::from_json(std::string_view(mesh)));
  EXPECT_TRUE(network.initialize(static_cast<std::uint64_t>(parsed->seed)).ok());
  ThreadPool pool(threads);
  const auto learned = rows(2000, 1), fresh = rows(500, 2);
  auto trainer = Trainer::create(*parsed, network, *learned, pool);
  EXPECT_TRUE(trainer.ok()) << trainer.status().message();
  if (!trainer.ok()) return out;
  const Status ran = (*trainer)->run([](const StepReport&) -> Result<bool> { return true; });
  EXPECT_TRUE(ran.ok()) << ran.message();
  auto judge =
      Evaluator::create((*trainer)->network(), *fresh, pool, {.loss = Loss::cross_entropy});
  EXPECT_TRUE(judge.ok()) << judge.status().message();
  out.accuracy = judge->measure()->accuracy;
  out.weights = *digest(network);
  return out;
}

// A cell that reads itself and what arrives, and one that answers.
std::string memory(int units) {
  return topology(2, 1,
                  R"({"at":[0,0,0,0],"type":"dense","out":)" + std::to_string(units) +
                      R"(,"activation":"tanh","keep_previous":true,"links":[{"read":[0,0,0,0]}]},)"
                      R"({"at":[1,0,0,0],"type":"dense","out":2})");
}

constexpr const char* kTargets = R"(,"method":{"type":"target_propagation"})";

std::string spec_of(std::int64_t ticks, int steps, double lr, int seed,
                    const std::string& answers = "last_tick", const std::string& method = "") {
  return R"({"format":"loom-training","version":2,"loss":"cross_entropy","batch":50,"seed":)" +
         std::to_string(seed) + R"(,"steps":)" + std::to_string(steps) +
         R"(,"optimizer":{"type":"adamw","clip_norm":1},"schedule":{"type":"constant","lr":)" +
         std::to_string(lr) + R"(},"step_mesh":{"ticks":)" + std::to_string(ticks) +
         R"(,"answers":")" + answers + R"("})" + method + "}";
}

// The exclusive or of two bits that arrived 8 and 7 ticks ago.
TEST(Ticks, DelayedExclusiveOrIsLearned) {
  const auto exclusive_or = [](const std::vector<int>& bits) {
    return std::vector<std::int32_t>{bits[0] ^ bits[1]};
  };
  const Outcome one = learn(memory(16), 9, spec_of(9, 600, 0.01, 3), exclusive_or, 2);
  EXPECT_EQ(one.accuracy, 1);
  EXPECT_EQ(learn(memory(16), 9, spec_of(9, 600, 0.01, 3), exclusive_or, 2, 5).weights,
            one.weights);
  const Outcome targets =
      learn(memory(16), 9, spec_of(9, 600, 0.01, 3, "last_tick", kTargets), exclusive_or, 2);
  EXPECT_EQ(targets.accuracy, 1);
  EXPECT_NE(targets.weights, one.weights);
}

// Whether the bits so far are an odd number, one tick after each of them.
TEST(Ticks, ParityOfSixteenStepsIsLearned) {
  const auto parity = [](const std::vector<int>& bits) {
    std::vector<std::int32_t> odd{kIgnoredClass};
    int sum = 0;
    for (const int b : bits) odd.push_back(sum ^= b);
    return odd;
  };
  const std::string spec = spec_of(17, 1600, 0.01, 3, "every_tick");
  EXPECT_GE(learn(memory(16), 17, spec, parity, 16).accuracy, 0.999);
  EXPECT_GE(learn(memory(16), 17, spec_of(17, 1600, 0.01, 3, "every_tick", kTargets), parity, 16)
                .accuracy,
            0.999);
}

// The target of a cell is its value less what back-propagation through ticks has as its gradient,
// times the scale for each tick back; its budget is over all ticks.
TEST(Ticks, TargetsGoBackATickWithEachLink) {
  Network network = std::move(*Network::from_json(std::string_view(ring("f64"))));
  ASSERT_TRUE(network.initialize(7).ok());
  const std::vector<double> x = numbers(kRows * kTicks * 2, 1), t = numbers(kRows * 2, 2);
  Network over = std::move(*network.over_ticks(kTicks, Network::Answers::last_tick));
  ThreadPool pool(2);
  const auto gradients_with = [&](double scale) {
    auto made = Learner::create(
        over, pool,
        {.method = {.kind = MethodKind::target_propagation, .gradient_scale = scale},
         .max_rows = kRows,
         .update = false,
         .poison = true});
    EXPECT_TRUE(made.ok()) << made.status().message();
    return gradients(*made, x, t);
  };
  Learner whole = learner_of(over, pool);
  const auto wanted = gradients(whole, x, t);
  EXPECT_EQ(gradients_with(1), wanted);
  // A polynomial in the scale: that of its powers 0 to 5, of which cell 3 has the first alone.
  const auto half = gradients_with(0.5), tiny = gradients_with(1e-9);
  for (std::size_t p = 0; p < wanted.size(); ++p) {
    const bool answers = whole.gradients()[p].path == "3.0.0.0";
    for (std::size_t i = 0; i < wanted[p].size(); ++i) {
      if (answers) EXPECT_EQ(half[p][i], wanted[p][i]);
      else EXPECT_LE(std::abs(tiny[p][i]), 1e-8);
    }
    if (!answers) {
      EXPECT_NE(half[p], wanted[p]);
    }
  }
}

TEST(Ticks, BudgetsOfCellsAreOfAllTicks) {
  Network network = std::move(*Network::from_json(std::string_view(memory(8))));
  ASSERT_TRUE(network.initialize(1).ok());
  auto spec = parse_training_spec(std::string_view(spec_of(9, 3, 0.01, 3, "last_tick", kTargets)));
  ASSERT_TRUE(spec.ok()) << spec.status().message();
  std::vector<float> x(50 * 9, 0.5f);
  auto data = ArrayData::create(std::move(x), 9, std::vector<std::int32_t>(50, 1));
  ASSERT_TRUE(data.ok());
  ThreadPool pool(1);
  auto trainer = Trainer::create(*spec, network, **data, pool);
  ASSERT_TRUE(trainer.ok()) << trainer.status().message();
  auto step = (*trainer)->step();
  ASSERT_TRUE(step.ok()) << step.status().message();
  ASSERT_EQ(step->parts.size(), 2u);
  EXPECT_EQ(step->parts[0].path, "0.0.0.0");
  EXPECT_EQ(step->parts[1].path, "1.0.0.0");
  for (const PartReport& p : step->parts) {
    EXPECT_GT(p.budget, 0.5);
    EXPECT_LE(p.budget, 1);
    EXPECT_GT(p.gap, 0);
  }
}

TEST(Ticks, SaysWhatDoesNotFit) {
  Network network = std::move(*Network::from_json(std::string_view(memory(4))));
  ASSERT_TRUE(network.initialize(1).ok());
  ThreadPool pool(1);
  const auto refusal = [&](const std::string& step_mesh, std::int64_t width,
                           std::int64_t classes = 1) -> std::string {
    auto spec = parse_training_spec(std::string_view(
        R"({"format":"loom-training","version":2,"loss":"cross_entropy","steps":1)" + step_mesh +
        "}"));
    if (!spec.ok()) return spec.status().message();
    auto data = ArrayData::create(std::vector<float>(static_cast<std::size_t>(4 * width)), width,
                                  std::vector<std::int32_t>(static_cast<std::size_t>(4 * classes)));
    if (!data.ok()) return data.status().message();
    const auto trainer = Trainer::create(*spec, network, **data, pool);
    return trainer.ok() ? "" : trainer.status().message();
  };
  const auto has = [&](const std::string& message, const std::string& part) {
    EXPECT_NE(message.find(part), std::string::npos) << part << ": " << message;
  };
  has(refusal("", 1), "\"step_mesh\": {\"ticks\": 8}");
  has(refusal(R"(,"step_mesh":{})", 4), "ticks");
  has(refusal(R"(,"step_mesh":{"ticks":-1})", 4), "ticks");
  has(refusal(R"(,"step_mesh":{"ticks":0,"truncate":2})", 4), "ticks");
  has(refusal(R"(,"step_mesh":{"ticks":4,"answers":"all"})", 4), "every_tick, last_tick");
  has(refusal(R"(,"step_mesh":{"ticks":4,"tick":1})", 4), "tick");
  has(refusal(R"(,"step_mesh":{"ticks":4})", 5, 4), "4");
  has(refusal(R"(,"step_mesh":{"ticks":4},"streams":2)", 4, 4), "streams");
  has(refusal(R"(,"step_mesh":{"ticks":4},"method":"mono_forward")", 4, 4),
      "back_propagation or target_propagation");
  has(refusal(R"(,"step_mesh":{"ticks":4},"method":{"type":"tween","mode":"layer_wise"})", 4, 4),
      "chain_rule");
  EXPECT_EQ(refusal(R"(,"step_mesh":{"ticks":4})", 4, 4), "");
  EXPECT_EQ(refusal(R"(,"step_mesh":{"ticks":4,"answers":"last_tick"})", 4), "");
  has(refusal(R"(,"step_mesh":{"ticks":4})", 4), "class");
}

}  // namespace
}  // namespace loom
