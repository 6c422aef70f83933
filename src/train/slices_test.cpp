// Steps in slices have the bits of whole steps.
#include <gtest/gtest.h>

#include "base/random.h"
#include "train/trainer.h"

namespace loom {
namespace {

std::string layers(const std::string& input, const std::vector<std::string>& list) {
  std::string text = R"({"format":"loom-topology","version":3,"layers_per_cell":)" +
                     std::to_string(list.size()) + R"(,"input":)" + input + R"(,"cells":[)";
  for (std::size_t i = 0; i < list.size(); ++i)
    text += (i ? "," : "") + (R"({"at":[0,0,0,)" + std::to_string(i) + "]," + list[i] + "}");
  return text + "]}";
}

const std::string kDense = R"("type":"dense","out":7,"activation":"relu")",
                  kLast = R"("type":"dense","out":3)";

struct Case {
  std::string name, network, spec;
  std::int64_t width = 6;
};

std::vector<Case> cases() {
  const std::string plain = layers(R"({"width":6})", {kDense, kDense, kLast});
  std::vector<Case> list;
  for (const std::string method :
       {R"("back_propagation")", R"("mono_forward")", R"("direct_feedback_alignment")",
        R"("difference_target_propagation")", R"("target_propagation")",
        R"({"type":"target_propagation","mode":"layer_wise","alignment_every":2})"})
    list.push_back({"method " + method, plain, R"("method":)" + method});
  for (const std::string optimizer : {R"({"type":"sgd","momentum":0.9})", R"({"type":"rmsprop"})",
                                      R"({"type":"lion"})", R"({"type":"adamw","clip_norm":0.1})"})
    list.push_back({"optimizer " + optimizer, plain, R"("optimizer":)" + optimizer});
  list.push_back({"fp8", plain, R"("fp8":true)"});
  list.push_back({"quantize", plain, R"("quantize":{"dtype":"i8","after":2})"});
  list.push_back({"ternary", plain, R"("quantize":{"dtype":"ternary"})"});
  list.push_back({"f64",
                  layers(R"({"width":6})", {R"("type":"dense","out":5,"dtype":"f64")",
                                            R"("type":"dense","out":3,"dtype":"f64")"}),
                  R"("loss":"mse")"});
  list.push_back({"noise",
                  layers(R"({"width":6})", {kDense, R"("type":"batch_norm")",
                                            R"("type":"dropout","rate":0.3)", kLast}),
                  R"("loss":"huber")"});
  list.push_back({"lstm",
                  layers(R"({"dims":[5,2],"axis":"steps"})",
                         {R"("type":"lstm","hidden":4,"output":"last")", kLast}),
                  R"("loss":"mse")", 10});
  list.push_back({"attention",
                  layers(R"({"dims":[4,6],"axis":"steps"})",
                         {R"("type":"attention","heads":3)", R"("type":"flatten")", kLast}),
                  R"("loss":"mae")", 24});
  list.push_back({"conv",
                  layers(R"({"dims":[1,6,6]})",
                         {R"("type":"conv2d","filters":3,"kernel":3,"activation":"relu")",
                          R"("type":"flatten")", kLast}),
                  R"("loss":"mse")", 36});
  return list;
}

std::unique_ptr<DataSource> batch_of(const Case& c, std::uint64_t seed, std::size_t rows) {
  const RandomStream random(seed, 5);
  std::vector<float> x(rows * static_cast<std::size_t>(c.width)), y(rows * 3);
  std::uint64_t at = 0;
  for (float& v : x) v = 2 * random.uniform(at++) - 1;
  for (float& v : y) v = random.uniform(at++);
  return std::move(*ArrayData::create(std::move(x), c.width, std::move(y), 3));
}

struct Run {
  Network network;
  std::unique_ptr<DataSource> data;
  std::unique_ptr<Trainer> trainer;
};

std::unique_ptr<Run> make(const Case& c, ThreadPool& pool) {
  const std::string text = R"({"format":"loom-training","version":2,"steps":6,"batch":5,"seed":4,)"
                           R"("schedule":{"lr":0.02},)" +
                           c.spec + "}";
  auto spec = parse_training_spec(std::string_view(text));
  EXPECT_TRUE(spec.ok()) << c.name << ": " << spec.status().to_string();
  auto network = Network::from_json(std::string_view(c.network));
  EXPECT_TRUE(network.ok()) << c.name << ": " << network.status().to_string();
  auto run = std::make_unique<Run>(std::move(*network), batch_of(c, 0, 5), nullptr);
  EXPECT_TRUE(run->network.initialize(1).ok());
  auto trainer = Trainer::create(*spec, run->network, *run->data, pool);
  EXPECT_TRUE(trainer.ok()) << c.name << ": " << trainer.status().to_string();
  if (trainer.ok()) run->trainer = std::move(*trainer);
  return run;
}

TEST(Slices, StepsHaveTheirBits) {
  for (const int threads : {1, 3})
    for (const Case& c : cases()) {
      ThreadPool pool(threads);
      auto whole = make(c, pool), sliced = make(c, pool);
      ASSERT_TRUE(whole->trainer && sliced->trainer) << c.name;
      int slices = 0;
      for (std::uint64_t step = 1; step <= 6; ++step) {
        const auto batch = batch_of(c, step, 5 + step % 3);
        const auto expected = whole->trainer->step_on(*batch);
        ASSERT_TRUE(expected.ok()) << c.name << ": " << expected.status().to_string();
        ASSERT_TRUE(sliced->trainer->begin_step_on(*batch).ok());
        StepReport report;
        while (true) {
          const auto done = sliced->trainer->continue_step(0, &report);  // a deadline long ago
          ASSERT_TRUE(done.ok()) << c.name << ": " << done.status().to_string();
          ++slices;
          if (*done) break;
        }
        EXPECT_EQ(report.loss, expected->loss) << c.name;
        EXPECT_EQ(report.step, expected->step);
        EXPECT_EQ(report.parts.size(), expected->parts.size());
        ASSERT_EQ(sliced->trainer->digest(), whole->trainer->digest()) << c.name << " " << step;
      }
      EXPECT_GE(slices, 6 * 8) << c.name;
    }
}

TEST(Slices, OtherStepsWaitForTheEnd) {
  const Case c = cases()[0];
  ThreadPool pool(1);
  auto run = make(c, pool);
  Trainer& t = *run->trainer;
  EXPECT_FALSE(t.continue_step(0).ok());
  const auto batch = batch_of(c, 1, 5);
  const std::string before = t.digest();
  ASSERT_TRUE(t.begin_step_on(*batch).ok());
  EXPECT_FALSE(t.step().ok());
  EXPECT_FALSE(t.step_on(*batch).ok());
  EXPECT_FALSE(t.begin_step_on(*batch).ok());
  EXPECT_FALSE(t.restore(t.state()).ok());
  EXPECT_FALSE(t.set_weights(t.weights()).ok());
  ASSERT_TRUE(t.continue_step(0).ok());
  // Before its update a step is dropped whole; after that it is completed.
  ASSERT_TRUE(t.drop_step().ok());
  EXPECT_EQ(t.digest(), before);
  ASSERT_TRUE(t.begin_step_on(*batch).ok());
  while (!t.updating()) ASSERT_FALSE(*t.continue_step(0));
  ASSERT_TRUE(t.drop_step().ok());
  EXPECT_EQ(t.done(), 1);
  EXPECT_FALSE(t.in_slices());
  auto whole = make(c, pool);
  ASSERT_TRUE(whole->trainer->step_on(*batch).ok());
  EXPECT_EQ(t.digest(), whole->trainer->digest());
}

TEST(Slices, ACancelledStepIsDoneAgain) {
  for (const Case& c : cases()) {
    ThreadPool pool(1);
    std::atomic<bool> cancel{false};
    auto run = make(c, pool), whole = make(c, pool);
    const auto spec = run->trainer->spec();
    TrainerOptions options;
    options.cancel = &cancel;
    auto made = Trainer::create(spec, run->network, *run->data, pool, options);
    ASSERT_TRUE(made.ok()) << c.name;
    Trainer& t = **made;
    const auto batch = batch_of(c, 1, 5);
    const std::string before = t.digest();
    ASSERT_TRUE(t.begin_step_on(*batch).ok());
    for (int i = 0; i < 3; ++i) ASSERT_FALSE(*t.continue_step(0)) << c.name;
    cancel = true;
    const auto stopped = t.continue_step(0);
    EXPECT_EQ(stopped.status().code(), Code::cancelled) << c.name;
    cancel = false;
    EXPECT_FALSE(t.in_slices());
    EXPECT_EQ(t.digest(), before) << c.name;
    ASSERT_TRUE(t.step_on(*batch).ok());
    ASSERT_TRUE(whole->trainer->step_on(*batch).ok());
    EXPECT_EQ(t.digest(), whole->trainer->digest()) << c.name;
  }
}

}  // namespace
}  // namespace loom
