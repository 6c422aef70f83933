// "fp8" of the training spec: products of 8-bit numbers, a loss scale that moves.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/random.h"
#include "numeric/codec.h"
#include "train/checkpoint.h"
#include "train/trainer.h"

namespace loom {
namespace {

float e4m3(double x) { return fp8e4m3_to_f32(f32_to_fp8e4m3(static_cast<float>(x))); }
float e5m2(double x) {
  return std::fabs(x) >= 61440 ? std::copysign(INFINITY, static_cast<float>(x))
                               : fp8e5m2_to_f32(f32_to_fp8e5m2(static_cast<float>(x)));
}

TrainingSpec spec_of(const std::string& cells, const std::string& more, std::int64_t steps = 40) {
  const std::string text =
      R"({"format":"loom-training","version":2,"network":{"format":"loom-topology","version":1,"layers_per_cell":4,"input":{"dims":[2,3,4]},"cells":[)" +
      cells + R"(]},"batch":8,"steps":)" + std::to_string(steps) + more +
      (more.find("optimizer") == std::string::npos
           ? R"(,"optimizer":{"type":"adamw"},"schedule":{"type":"constant","lr":0.003}})"
           : "}");
  auto spec = parse_training_spec(std::string_view(text));
  EXPECT_TRUE(spec.ok()) << spec.status().to_string();
  return spec.ok() ? std::move(*spec) : TrainingSpec();
}
const std::string kCells =
    R"({"at":[0,0,0,0],"type":"conv2d","filters":6,"kernel":2,"activation":"relu"},{"at":[0,0,0,1],"type":"flatten"},)"
    R"({"at":[0,0,0,2],"type":"dense","out":19,"activation":"tanh"},{"at":[0,0,0,3],"type":"dense","out":2})";

std::unique_ptr<DataSource> samples(float size = 1) {
  const RandomStream random(9, 1);
  std::vector<float> x, y;
  for (std::uint64_t i = 0; i < 64 * 24; ++i) x.push_back(2 * random.uniform(i) - 1);
  for (std::size_t r = 0; r < 64; ++r)
    for (std::size_t t = 0; t < 2; ++t) y.push_back(size * x[r * 24 + t] * x[r * 24 + t + 7]);
  return std::move(*ArrayData::create(std::move(x), 24, std::move(y), 2));
}

struct Course {
  std::unique_ptr<DataSource> data;
  std::optional<Network> network;
  ThreadPool pool;
  std::unique_ptr<Trainer> trainer;
  explicit Course(const TrainingSpec& spec, float size = 1, int threads = 1,
                  const std::string& isa = "")
      : data(samples(size)), network(std::move(*create_network(spec))), pool(threads) {
    auto made = Trainer::create(spec, *network, *data, pool, {.isa = isa, .poison = true});
    EXPECT_TRUE(made.ok()) << made.status().to_string();
    trainer = std::move(*made);
  }
  std::vector<StepReport> go(std::int64_t until) {
    std::vector<StepReport> reports;
    while (trainer->done() < until) {
      const auto r = trainer->step();
      EXPECT_TRUE(r.ok()) << r.status().to_string();
      if (!r.ok()) break;
      reports.push_back(*r);
    }
    return reports;
  }
};

// One dense layer against the same sums in double, from values rounded by the codec of stored
// weights.
TEST(Fp8, ProductsTakeRoundedValues) {
  auto network = Network::from_json(std::string_view(
      R"({"format":"loom-topology","version":1,"input":{"width":5},"cells":[{"at":[0,0,0,0],"type":"dense","out":3,"dtype":"fp8e4m3"}]})"));
  ASSERT_TRUE(network.ok());
  ASSERT_TRUE(network->initialize(3).ok());
  ThreadPool pool(1);
  LearnerOptions options;
  options.fp8 = true;
  options.max_rows = 4;
  auto learner = Learner::create(*network, pool, options);
  ASSERT_TRUE(learner.ok()) << learner.status().to_string();
  const RandomStream random(2, 2);
  std::vector<float> x(20), t(12);
  for (std::size_t i = 0; i < x.size(); ++i)
    x[i] = static_cast<float>(std::exp(8 * (random.uniform(i) - 0.7)) * (i % 2 ? -1 : 1));
  for (std::size_t i = 0; i < t.size(); ++i) t[i] = random.uniform(100 + i);
  constexpr double kScale = 64;
  learner->set_loss_scale(kScale);
  ASSERT_TRUE(learner->batch(x, t).ok());
  ASSERT_TRUE(learner->accumulate().ok());
  EXPECT_TRUE(learner->gradients_finite());

  // Weights as they are held: their own scale makes them no plain E4M3 values.
  std::vector<float> w(15);
  ASSERT_TRUE(network->find("0.0.0.0", "weight")->values(std::span<float>(w)).ok());
  std::vector<double> slope(12);
  double loss = 0;
  for (std::size_t r = 0; r < 4; ++r)
    for (std::size_t o = 0; o < 3; ++o) {
      double y = 0;
      for (std::size_t i = 0; i < 5; ++i)
        y += static_cast<double>(w[o * 5 + i]) * e4m3(x[r * 5 + i]);
      const double d = y - t[r * 3 + o];
      loss += d * d / 3;
      slope[r * 3 + o] = 2 * d / 3;
    }
  EXPECT_NEAR(learner->loss_sum(), loss, 1e-5 * loss);
  const NetworkEmitter::Gradient* found = nullptr;
  for (const auto& g : learner->gradients())
    if (g.role == "weight") found = &g;
  ASSERT_TRUE(found);
  for (std::int64_t o = 0; o < 3; ++o) {
    const auto row = learner->executor().row<float>(found->value.buffer, o);
    for (std::size_t i = 0; i < 5; ++i) {
      double expected = 0, plain = 0;
      for (std::size_t r = 0; r < 4; ++r) {
        expected += static_cast<double>(e5m2(kScale * slope[r * 3 + static_cast<std::size_t>(o)])) *
                    e4m3(x[r * 5 + i]);
        plain += kScale * slope[r * 3 + static_cast<std::size_t>(o)] * x[r * 5 + i];
      }
      EXPECT_NEAR(row[i], expected, 1e-5 * std::fabs(expected) + 1e-6);
      EXPECT_NE(row[i], static_cast<float>(plain));
    }
  }
}

TEST(Fp8, LearnsAsF32Does) {
  for (
      const std::string more :
      {"",
       R"(,"optimizer":{"type":"sgd","momentum":0.9,"clip_norm":1},"schedule":{"type":"constant","lr":0.03})"}) {
    Course plain(spec_of(kCells, more, 400)), few(spec_of(kCells, more + R"(,"fp8":true)", 400));
    const double before = plain.go(1).back().loss;
    double sums[2] = {};
    for (const StepReport& r : plain.go(400)) sums[0] += r.step > 360 ? r.loss : 0;
    for (const StepReport& r : few.go(400)) sums[1] += r.step > 360 ? r.loss : 0;
    EXPECT_LT(sums[0] / 40, before / 4) << more;
    EXPECT_LT(sums[1] / 40, before / 3) << more;
    EXPECT_EQ(to_string(few.network->find("0.0.0.2", "weight")->format()), "fp8e4m3");
  }
}

// Targets so large that gradients overflow under the first scales: the steps are skipped, the scale
// falls to where they fit and grows again.
TEST(Fp8, SkipsStepsThatOverflow) {
  Course run(spec_of(kCells, R"(,"fp8":true)", 500), 3000);
  const std::string first = run.trainer->digest();
  std::vector<StepReport> reports = run.go(1);
  EXPECT_TRUE(reports[0].skipped);
  EXPECT_EQ(reports[0].loss_scale, 1024);
  EXPECT_NE(run.trainer->digest(), first);  // a step is done
  std::int64_t skipped = 1;
  for (double scale = 512; const StepReport& r : run.go(20)) {
    EXPECT_EQ(r.loss_scale, scale);
    scale /= r.skipped ? 2 : 1;
    skipped += r.skipped;
  }
  EXPECT_LT(skipped, 12);
  reports = run.go(500);
  EXPECT_NE(std::adjacent_find(reports.begin(), reports.end(),
                               [](const StepReport& a, const StepReport& b) {
                                 return b.loss_scale == 2 * a.loss_scale;
                               }),
            reports.end());

  Course never(spec_of(kCells, R"(,"fp8":true)", 500), 1e18f);
  Status status;
  while (status.ok() && never.trainer->done() < 500) status = never.trainer->step().status();
  EXPECT_FALSE(status.ok());
}

TEST(Fp8, TheSameBitsFromThreadsIsasAndAResume) {
  const TrainingSpec spec = spec_of(kCells, R"(,"fp8":true,"micro_batches":2)");
  Course whole(spec, 3000);
  whole.go(40);
  for (const std::int64_t cut : {1, 3, 25}) {
    SCOPED_TRACE(cut);
    Course half(spec, 3000, 2, "generic"), again(spec, 3000);
    half.go(cut);
    std::vector<std::byte> file;
    ASSERT_TRUE(save_checkpoint(&file, *half.trainer).ok());
    const Status resumed = resume_checkpoint(source_from_bytes(file, "half"), *again.trainer);
    ASSERT_TRUE(resumed.ok()) << resumed.to_string();
    again.go(40);
    EXPECT_EQ(again.trainer->digest(), whole.trainer->digest());
  }
  TrainingState state = whole.trainer->state();
  state.info.set("loss_scale", Json());
  EXPECT_NE(whole.trainer->restore(state).message().find("loss_scale"), std::string::npos);
}

TEST(Fp8, BelongsToWeightsOfItsDtype) {
  const auto refusal = [](const std::string& more) {
    return parse_training_spec(
               std::string_view(R"({"format":"loom-training","version":2,"steps":3,"fp8":true,)" +
                                more + "}"))
        .status()
        .message();
  };
  EXPECT_NE(refusal(R"("quantize":{"dtype":"i8"})")
                .find("needs weights of the dtype fp8e4m3, \"quantize\" says i8"),
            std::string::npos);
  EXPECT_NE(refusal(R"("lora":{"rank":2})").find("beside \"lora\""), std::string::npos);
  // Cells that are kept learn in f32, and so do all before "after".
  Course kept(spec_of(kCells, R"(,"fp8":true,"quantize":{"keep":["first"],"after":10})")),
      plain(spec_of(kCells, ""));
  const std::vector<StepReport> a = kept.go(12), b = plain.go(12);
  for (std::size_t i = 0; i < 10; ++i) EXPECT_EQ(a[i].loss, b[i].loss);
  EXPECT_NE(a[10].loss, b[10].loss);
  EXPECT_EQ(to_string(kept.network->find("0.0.0.0", "weight")->format()), "f32");
}

}  // namespace
}  // namespace loom
