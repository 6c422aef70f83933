// Trainings that are observed: the same bits, and gradients that the updates confirm.
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "base/random.h"
#include "train/trainer.h"

namespace loom {
namespace {

struct List : Observer {
  Status begin(const std::vector<ObservedCell>& list) override {
    cells = list, ++begun;
    return {};
  }
  Status on_forward(const CellEvent& event) override {
    if (refuses) return Status(Code::io, "full");
    events.push_back(event);
    return {};
  }
  const CellStatistics& last(std::string_view path, std::string_view direction,
                             std::string_view role = "") const {
    for (auto e = events.rbegin(); e != events.rend(); ++e) {
      const ObservedCell& c = cells[e->cell];
      if (c.path == path && c.direction == direction && c.role == role) return e->statistics;
    }
    ADD_FAILURE() << path << " " << direction;
    return events.back().statistics;
  }
  std::vector<ObservedCell> cells;
  std::vector<CellEvent> events;
  int begun = 0;
  bool refuses = false;
};

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

std::vector<Case> method_cases() {
  const std::string plain = layers(R"({"width":6})", {kDense, kDense, kLast});
  std::vector<Case> list;
  for (const std::string method :
       {R"("back_propagation")", R"("mono_forward")", R"("direct_feedback_alignment")",
        R"("difference_target_propagation")", R"("target_propagation")",
        R"({"type":"target_propagation","mode":"layer_wise","alignment_every":2})"})
    list.push_back({"method " + method, plain, R"("method":)" + method});
  list.push_back({"micro", plain, R"("micro_batches":5,"optimizer":{"clip_norm":0.1})"});
  list.push_back({"fp8", plain, R"("fp8":true)"});
  list.push_back({"quantize", plain, R"("quantize":{"dtype":"i8","after":2})"});
  list.push_back({"recompute", plain, R"("checkpoint":true)"});
  list.push_back({"ticks", plain, R"("step_mesh":{"ticks":4,"answers":"last_tick"})", 24});
  return list;
}

std::vector<Case> layer_cases() {
  std::vector<Case> list;
  const auto add = [&](const std::string& name, const std::string& input,
                       const std::vector<std::string>& cells, std::int64_t width) {
    list.push_back({name, layers(input, cells), R"("loss":"mse")", width});
  };
  add("f64", R"({"width":6})",
      {R"("type":"dense","out":5,"dtype":"f64","activation":"gelu")",
       R"("type":"dense","out":3,"dtype":"f64")"},
      6);
  add("mixed", R"({"width":6})", {kDense, R"("type":"dense","out":5,"dtype":"f64")", kLast}, 6);
  add("noise", R"({"width":6})",
      {kDense, R"("type":"batch_norm")", R"("type":"dropout","rate":0.3)", kLast}, 6);
  add("lstm", R"({"dims":[5,2],"axis":"steps"})",
      {R"("type":"lstm","hidden":4,"output":"last")", kLast}, 10);
  add("attention", R"({"dims":[4,6],"axis":"steps"})",
      {R"("type":"attention","heads":3)", R"("type":"flatten")", kLast}, 24);
  add("conv", R"({"dims":[1,6,6]})",
      {R"("type":"conv2d","filters":3,"kernel":3,"activation":"relu")", R"("type":"flatten")",
       kLast},
      36);
  add("residual", R"({"width":6})",
      {R"("type":"sequential","layers":[{"type":"layer_norm"},{"type":"dense","out":6,)"
       R"("activation":"tanh"},{"type":"residual"}])",
       R"("type":"parallel","combine":"add","layers":[{"type":"dense","out":7},)"
       R"({"type":"sequential","layers":[{"type":"dense","out":7},{"type":"layer_norm"}]}])",
       kLast},
      6);
  list.push_back(
      {"links",
       R"({"format":"loom-topology","version":3,"layers_per_cell":5,"input":{"width":6},)"
       R"("cells":[{"at":[0,0,0,0],"type":"dense","out":6,"activation":"tanh"},)"
       R"({"at":[0,0,0,1],"links":[{"run":[0,0,0,0]}]},)"
       R"({"at":[0,0,0,3],"merge":"add","links":[{"read":[0,0,0,0]},{"read":[0,0,0,1]}],)"
       R"("type":"dense","out":5},{"at":[0,0,0,4],"type":"dense","out":3}]})",
       R"("loss":"mse")"});
  return list;
}

std::unique_ptr<DataSource> data_of(std::int64_t width) {
  const RandomStream random(9, 1);
  std::vector<float> x, y;
  for (std::uint64_t i = 0; i < 40 * static_cast<std::uint64_t>(width); ++i)
    x.push_back(2 * random.uniform(i) - 1);
  for (std::uint64_t i = 0; i < 40 * 3; ++i) y.push_back(random.uniform(5000 + i));
  return std::move(*ArrayData::create(std::move(x), width, std::move(y), 3));
}

struct Made {
  std::unique_ptr<DataSource> data;
  std::unique_ptr<Network> network;
  std::unique_ptr<ThreadPool> pool;
  std::unique_ptr<Trainer> trainer;
};

Made make(const Case& c, int threads) {
  Made made;
  made.data = data_of(c.width);
  auto spec = parse_training_spec(*Json::parse(
      R"({"format":"loom-training","version":2,"batch":10,"steps":6,"seed":5,"network":)" +
      c.network + (c.spec.find("\"loss\"") == std::string::npos ? R"(,"loss":"mse",)" : ",") +
      c.spec + "}"));
  EXPECT_TRUE(spec.ok()) << c.name << spec.status().to_string();
  auto network = create_network(*spec);
  EXPECT_TRUE(network.ok()) << c.name << network.status().to_string();
  made.network = std::make_unique<Network>(std::move(*network));
  made.pool = std::make_unique<ThreadPool>(threads);
  auto trainer = Trainer::create(*spec, *made.network, *made.data, *made.pool, {.poison = true});
  EXPECT_TRUE(trainer.ok()) << c.name << trainer.status().to_string();
  if (trainer.ok()) made.trainer = std::move(*trainer);
  return made;
}

void run(Trainer& t, std::int64_t steps) {
  for (std::int64_t i = 0; i < steps; ++i) {
    const auto done = t.step();
    ASSERT_TRUE(done.ok()) << done.status().to_string();
  }
}

class ObservedTraining : public testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(Methods, ObservedTraining, testing::ValuesIn(method_cases()));
INSTANTIATE_TEST_SUITE_P(Layers, ObservedTraining, testing::ValuesIn(layer_cases()));

// Observed from the second step on, with all that there is, and not any more from the fifth on.
TEST_P(ObservedTraining, HasTheSameBits) {
  const Made plain = make(GetParam(), 1);
  const Made seen = make(GetParam(), 3);
  ASSERT_TRUE(plain.trainer && seen.trainer);
  run(*plain.trainer, 1), run(*seen.trainer, 1);
  List list;
  const Status on = seen.trainer->observe(&list, {.nested = true, .weights = true});
  ASSERT_TRUE(on.ok()) << on.to_string();
  run(*plain.trainer, 3), run(*seen.trainer, 3);
  EXPECT_EQ(plain.trainer->digest(), seen.trainer->digest());
  ASSERT_TRUE(seen.trainer->observe(nullptr).ok());
  EXPECT_EQ(seen.trainer->passes(), 3);
  run(*plain.trainer, 2), run(*seen.trainer, 2);
  EXPECT_EQ(plain.trainer->digest(), seen.trainer->digest());
  EXPECT_EQ(list.events.size(), 3 * list.cells.size());
  const std::size_t cells = seen.network->size();
  std::map<std::string_view, std::size_t> seen_of;
  for (const CellEvent& e : list.events) {
    const ObservedCell& cell = list.cells[e.cell];
    EXPECT_EQ(e.statistics.finite(), e.statistics.count) << cell.path << cell.direction;
    if (e.statistics.count > 0) ++seen_of[cell.direction];
    if (cell.path == "0.0.0.0" && cell.direction != "weights") {
      EXPECT_GT(e.statistics.count, 0) << cell.direction;
    }
    EXPECT_EQ(e.step, e.pass + 2);
  }
  EXPECT_GE(seen_of["forward"], 3 * cells);
  EXPECT_GE(seen_of["weights"], 6u);
}

// The values of a step, however it is cut.
TEST(TrainingObserver, MicroBatchesAreOneEvent) {
  Case whole{"whole", layers(R"({"width":6})", {kDense, kLast}), R"("optimizer":{"type":"sgd"})"};
  Case cut = whole;
  cut.spec += R"(,"micro_batches":5)";
  List a, b;
  const Made one = make(whole, 1), five = make(cut, 2);
  ASSERT_TRUE(one.trainer->observe(&a, {.weights = true}).ok());
  ASSERT_TRUE(five.trainer->observe(&b, {.weights = true}).ok());
  run(*one.trainer, 1), run(*five.trainer, 1);
  ASSERT_EQ(a.events.size(), 8u);
  ASSERT_EQ(b.events.size(), 8u);
  for (std::size_t i = 0; i < 8; ++i) {
    const CellStatistics &x = a.events[i].statistics, &y = b.events[i].statistics;
    EXPECT_EQ(x.count, y.count) << i;
    EXPECT_EQ(x.active, y.active) << i;
    EXPECT_NEAR(x.mean, y.mean, 1e-6) << i;
    EXPECT_NEAR(x.std(), y.std(), 1e-6 * x.std()) << i;
    EXPECT_NEAR(x.max, y.max, 1e-6 * std::fabs(x.max)) << i;
  }
  // A bias has the sum of its layer's gradient, which a linear layer hands on.
  const CellStatistics &out = a.last("0.0.0.1", "backward"),
                       &bias = a.last("0.0.0.1", "weights", "bias");
  EXPECT_EQ(out.count, 30);
  EXPECT_EQ(bias.count, 3);
  EXPECT_NEAR(out.mean * 30, bias.mean * 3, 1e-6);
}

TEST(TrainingObserver, OffIsTheProgramOfBefore) {
  const Case c{"", layers(R"({"width":6})", {kDense, kLast}), R"("loss":"mse")"};
  const Made made = make(c, 1);
  Trainer& t = *made.trainer;
  const auto before = t.program().hash();
  List list;
  EXPECT_FALSE(t.observe(&list, {.every = 0}).ok());
  EXPECT_FALSE(t.observe(&list, {.passes = -1}).ok());
  EXPECT_EQ(t.program().hash(), before);
  ASSERT_TRUE(t.observe(&list, {.every = 2, .passes = 2}).ok());
  EXPECT_NE(t.program().hash(), before);
  EXPECT_EQ(list.begun, 1);
  run(t, 5);
  ASSERT_EQ(list.events.size(), 2 * 4u);
  EXPECT_EQ(list.events.back().pass, 2);
  EXPECT_EQ(list.events.back().step, 3);
  EXPECT_EQ(t.passes(), 5);
  EXPECT_EQ(t.observed_passes(), 2);
  Recorder refused(0);
  EXPECT_FALSE(t.observe(&refused).ok());
  EXPECT_EQ(t.program().hash(), before);
  ASSERT_TRUE(t.observe(&list).ok());
  list.refuses = true;
  const std::string stands = t.digest();
  EXPECT_EQ(t.step().status().code(), Code::io);
  EXPECT_EQ(t.digest(), stands);
  ASSERT_TRUE(t.observe(nullptr).ok());
  EXPECT_EQ(t.program().hash(), before);
  run(t, 1);
}

// The step that cannot be learned from is the one to look at.
TEST(TrainingObserver, SeesWhereALossIsNoNumber) {
  const Case c{"", layers(R"({"width":6})", {kDense, kLast}), R"("loss":"mse")"};
  const Made made = make(c, 1);
  made.network->find("0.0.0.1", "weight")->mutable_master()[5] = INFINITY;
  ASSERT_TRUE(made.trainer->refresh().ok());
  List list;
  ASSERT_TRUE(made.trainer->observe(&list).ok());
  EXPECT_FALSE(made.trainer->step().ok());
  ASSERT_EQ(list.events.size(), 4u);
  EXPECT_EQ(list.last("0.0.0.0", "forward").finite(), 70);
  EXPECT_GT(list.last("0.0.0.1", "forward").inf_count, 0);
  EXPECT_GE(list.last("0.0.0.1", "forward").bad_row, 0);
  EXPECT_LT(list.last("0.0.0.0", "backward").finite(), 70);
}

}  // namespace
}  // namespace loom
