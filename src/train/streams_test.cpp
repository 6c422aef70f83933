// Truncated back-propagation through streams: states that go on, documents that end, resuming.
#include <gtest/gtest.h>

#include "base/random.h"
#include "train/checkpoint.h"
#include "train/data/streams.h"
#include "train/judge/metrics.h"
#include "train/trainer.h"

namespace loom {
namespace {

std::string over_rows(const std::string& layer) {
  return R"({"format":"loom-topology","version":3,"layers_per_cell":3,"input":{"ids":11},"cells":[
    {"at":[0,0,0,0],"type":"embedding","out":6},{"at":[0,0,0,1],)" +
         layer + R"(},
    {"at":[0,0,0,2],"type":"dense","out":11}]})";
}
const std::string kLstm = over_rows(R"("type":"lstm","hidden":9,"num_layers":2)");

TrainingSpec spec_of(const std::string& topology, std::int64_t streams, std::int64_t steps) {
  TrainingSpec spec;
  spec.network = *Json::parse(topology);
  spec.loss = Loss::cross_entropy;
  spec.streams = streams;
  spec.batch = std::max<std::int64_t>(streams, 1);
  spec.shuffle = false;
  spec.steps = steps;
  spec.seed = 3;
  spec.schedule = {.lr = 0.05};
  return spec;
}

std::vector<std::uint32_t> text(std::size_t n) {
  const RandomStream random(4, 2);
  std::vector<std::uint32_t> ids;
  for (std::size_t i = 0; i < n; ++i) ids.push_back(random.below(i, 11));
  return ids;
}
std::unique_ptr<TokenData> tokens(std::size_t n, std::vector<std::uint64_t> ends,
                                  std::int64_t length) {
  auto data = TokenData::create(text(n), ends, length);
  EXPECT_TRUE(data.ok()) << data.status().to_string();
  return std::move(*data);
}

std::string sha_of(Network& network) {
  auto sha = digest(network);
  EXPECT_TRUE(sha.ok()) << sha.status().to_string();
  return sha.ok() ? *sha : "";
}

struct Outcome {
  std::string weights;
  std::vector<double> losses;
};
Outcome train(const TrainingSpec& spec, const DataSource& data, int threads = 1,
              TrainerOptions options = {.poison = true}) {
  Outcome outcome;
  auto network = create_network(spec);
  ThreadPool pool(threads);
  auto trainer = Trainer::create(spec, *network, data, pool, options);
  EXPECT_TRUE(trainer.ok()) << trainer.status().to_string();
  if (!trainer.ok()) return outcome;
  const Status ran = (*trainer)->run([&](const StepReport& r) -> Result<bool> {
    outcome.losses.push_back(r.loss);
    return true;
  });
  EXPECT_TRUE(ran.ok()) << ran.to_string();
  outcome.weights = sha_of(*network);
  return outcome;
}

std::string refusal(const std::string& topology, const DataSource& data, std::int64_t streams = 2) {
  TrainingSpec spec = spec_of(topology, streams, 2);
  if (data.form().targets > 0) spec.loss = Loss::mse;
  auto network = create_network(spec);
  EXPECT_TRUE(network.ok()) << network.status().to_string();
  ThreadPool pool(1);
  auto trainer = Trainer::create(spec, *network, data, pool);
  return trainer.ok() ? "" : trainer.status().message();
}

TEST(Streams, LanesAndDocuments) {
  // Rows: 4 of the first document, 6 of the second, 11 of the third.
  const auto data = tokens(24, {5, 12, 24}, 4);
  auto streams = Streams::create(*data, 2);
  ASSERT_TRUE(streams.ok()) << streams.status().to_string();
  EXPECT_EQ((*streams)->lane_rows(), 10);
  EXPECT_EQ((*streams)->windows(), 3);
  EXPECT_EQ((*streams)->samples(), 6);
  EXPECT_EQ((*streams)->left_out(), 1);
  const std::vector<std::uint32_t> ids = text(24);
  std::vector<std::uint32_t> seen, positions;
  for (std::int64_t w = 0; w < 3; ++w) {
    Batch batch;
    (*streams)->append(2 * w, batch);
    EXPECT_EQ(batch.rows, w < 2 ? 4 : 2);
    for (std::size_t i = 0; i < batch.ids.size(); ++i) {
      seen.push_back(batch.ids[i]);
      positions.push_back(batch.positions[i]);
      const std::size_t at = seen.size() - 1 + (seen.size() > 4);  // a last id is a target only
      EXPECT_EQ(batch.ids[i], ids[at]);
      EXPECT_EQ(batch.classes[i], static_cast<std::int32_t>(ids[at + 1]));
    }
  }
  EXPECT_EQ(positions, (std::vector<std::uint32_t>{0, 1, 2, 3, 0, 1, 2, 3, 4, 5}));
  Batch second;
  (*streams)->append(1, second);
  EXPECT_EQ(second.positions, (std::vector<std::uint32_t>{0, 1, 2, 3}));
  EXPECT_EQ(second.ids[0], ids[12]);
  EXPECT_FALSE(Streams::create(*data, 22).ok());
}

// One lane and one window are the sequence that today's training has, to the bit.
TEST(Streams, OneWindowIsASequence) {
  for (const char* layer :
       {R"("type":"lstm","hidden":9,"num_layers":2)", R"("type":"gru","hidden":8)",
        R"("type":"rnn","hidden":8,"activation":"relu")",
        R"("type":"gru","hidden":8,"linear_before_reset":false)",
        R"("type":"lstm","hidden":9,"dtype":"f64")"}) {
    const auto data = tokens(30, {}, 64);
    const Outcome stream = train(spec_of(over_rows(layer), 1, 5), *data),
                  sequence = train(spec_of(over_rows(layer), 0, 5), *data);
    EXPECT_EQ(stream.losses, sequence.losses) << layer;
    EXPECT_EQ(stream.weights, sequence.weights) << layer;
  }
}

// Documents in one window are learned as each by itself is: nothing leaks over their ends, forward
// or backward. Sums have another order, so the bits may differ.
TEST(Streams, DocumentsAreApart) {
  const auto data = tokens(40, {9, 20, 40}, 64);
  TrainingSpec apart = spec_of(kLstm, 0, 8);
  apart.batch = 3;
  const Outcome stream = train(spec_of(kLstm, 1, 8), *data), documents = train(apart, *data),
                one = train(spec_of(kLstm, 1, 8), *tokens(40, {}, 64));
  for (std::size_t i = 0; i < 8; ++i) EXPECT_NEAR(stream.losses[i], documents.losses[i], 2e-5) << i;
  EXPECT_NE(stream.losses[1], one.losses[1]);
}

// The state goes on: with a rate of next to nothing the windows of an epoch have the losses of the
// whole text.
TEST(Streams, StatesGoOn) {
  TrainingSpec spec = spec_of(kLstm, 1, 10);
  spec.schedule.lr = 1e-30;
  spec.optimizer.kind = OptimizerKind::sgd;
  const Outcome windows = train(spec, *tokens(41, {}, 4));  // ten windows
  spec.steps = 1;
  const Outcome whole = train(spec, *tokens(41, {}, 64));
  double mean = 0;
  for (const double loss : windows.losses) mean += loss / 10;
  EXPECT_NEAR(mean, whole.losses[0], 1e-6);
  spec.streams = 0;
  const Outcome apart = train(spec, *tokens(41, {}, 4));
  EXPECT_NE(windows.losses[0], windows.losses[1]);
  EXPECT_EQ(windows.losses[0], apart.losses[0]);
}

TEST(Streams, SameBitsForThreadsSettingsAndPauses) {
  const auto data = tokens(123, {40, 66, 123}, 7);
  TrainingSpec spec = spec_of(kLstm, 4, 12);  // five windows of a lane: over two epochs
  const Outcome one = train(spec, *data);
  EXPECT_EQ(one.weights,  // on every machine
            "16c30aadaf65daef10c5f1166f3652fbc7f6f149576b10b6aa0fa6f381fa1fcd");
  EXPECT_EQ(one.weights, train(spec, *data, 3).weights);
  EXPECT_EQ(one.weights, train(spec, *data, 2, {.isa = "generic"}).weights);
  spec.checkpoint = true;
  EXPECT_EQ(one.weights, train(spec, *data).weights);
  spec.checkpoint = false;
  spec.micro_batches = 2;
  const Outcome halves = train(spec, *data);
  EXPECT_EQ(halves.weights, train(spec, *data, 3).weights);
  for (std::size_t i = 0; i < one.losses.size(); ++i)
    EXPECT_NEAR(halves.losses[i], one.losses[i], 1e-5);

  // Killed in the middle of an epoch.
  spec.micro_batches = 1;
  ThreadPool pool(1);
  auto begun = create_network(spec), resumed = create_network(spec);
  auto first = Trainer::create(spec, *begun, *data, pool),
       second = Trainer::create(spec, *resumed, *data, pool);
  ASSERT_TRUE(first.ok() && second.ok());
  for (int i = 0; i < 7; ++i) ASSERT_TRUE((*first)->step().ok());
  ASSERT_TRUE((*second)->restore((*first)->state()).ok());
  while ((*second)->done() < 12) ASSERT_TRUE((*second)->step().ok());
  EXPECT_EQ(sha_of(*resumed), one.weights);
  // A training that is made longer.
  spec.steps = 6;
  auto longer = create_network(spec);
  auto trainer = Trainer::create(spec, *longer, *data, pool);
  ASSERT_TRUE(trainer.ok());
  while ((*trainer)->done() < 6) ASSERT_TRUE((*trainer)->step().ok());
  ASSERT_TRUE((*trainer)->extend(6, 0).ok());
  while ((*trainer)->done() < 12) ASSERT_TRUE((*trainer)->step().ok());
  EXPECT_EQ(sha_of(*longer), one.weights);
}

TEST(Streams, QuantizedAfterSomeSteps) {
  const auto data = tokens(123, {40, 66, 123}, 7);
  TrainingSpec spec = spec_of(kLstm, 4, 8);
  spec.quantize = {.dtype = "i8", .keep = {}, .after = 3};
  const Outcome one = train(spec, *data);
  ASSERT_EQ(one.losses.size(), 8u);
  EXPECT_EQ(one.weights, train(spec, *data, 3).weights);
}

// Keras' stateful layers: sample i + 1 of a lane follows sample i.
TEST(Streams, SequencesInRows) {
  const auto topology = [](const std::string& more) {
    return R"({"format":"loom-topology","version":3,"layers_per_cell":2,"input":{"dims":[3,2]},"cells":[
      {"at":[0,0,0,0],"type":"lstm","hidden":5,"output":"last")" +
           more + R"(},{"at":[0,0,0,1],"type":"dense","out":1}]})";
  };
  const RandomStream random(8, 8);
  std::vector<float> x, y;
  for (std::uint64_t i = 0; i < 13 * 6; ++i) x.push_back(random.uniform(i));
  for (std::uint64_t i = 0; i < 13; ++i) y.push_back(random.uniform(1000 + i));
  auto data = ArrayData::create(x, 6, y, 1);
  TrainingSpec spec = spec_of(topology(R"(,"stateful":true)"), 2, 12);
  spec.loss = Loss::mse;
  const Outcome carried = train(spec, **data);
  EXPECT_NE(refusal(topology(""), **data).find("nothing is carried"), std::string::npos);
  spec.streams = 0;
  EXPECT_NE(train(spec, **data).losses[1], carried.losses[1]);
  // Judged as one lane.
  auto network = create_network(spec);
  ThreadPool pool(1);
  auto evaluator = Evaluator::create(*network, **data, pool, {.loss = Loss::mse, .stream = true});
  ASSERT_TRUE(evaluator.ok()) << evaluator.status().to_string();
  auto metrics = evaluator->measure();
  ASSERT_TRUE(metrics.ok()) << metrics.status().to_string();
  EXPECT_EQ(metrics->rows, 13);
}

// Doubles stay doubles in windows: x is 1e9 and steps that f32 does not have.
TEST(Streams, OfDoubles) {
  constexpr const char* kCell = R"({"format":"loom-topology","version":3,"layers_per_cell":3,
      "input":{"dims":[3,2]},"cells":[
      {"at":[0,0,0,0],"type":"standardize","dtype":"f64"},
      {"at":[0,0,0,1],"type":"gru","hidden":5,"output":"last","stateful":true,"dtype":"f64"},
      {"at":[0,0,0,2],"type":"dense","out":1,"dtype":"f64"}]})";
  const RandomStream random(8, 8);
  std::vector<double> x, offset, y;
  for (std::uint64_t i = 0; i < 13 * 6; ++i) x.push_back(static_cast<double>(random.uniform(i)));
  for (std::uint64_t i = 0; i < 13; ++i)
    y.push_back(static_cast<double>(random.uniform(1000 + i)) + 0x1p-40);
  for (const double v : x) offset.push_back(v + 0x1p30);
  TrainingSpec spec = spec_of(kCell, 2, 12);
  spec.loss = Loss::mse;
  const auto near = ArrayData::create(x, 6, y, 1), far = ArrayData::create(offset, 6, y, 1);
  ASSERT_TRUE(near.ok() && far.ok());
  const auto losses = [&](const DataSource& data, double mean) {
    auto network = create_network(spec);
    for (const Network::NamedParam& p : network->params()) {
      if (p.param->spec.role != "mean") continue;
      std::ranges::fill(p.param->store->mutable_master64(), mean);
      p.param->store->touch();
    }
    ThreadPool pool(1);
    auto trainer = Trainer::create(spec, *network, data, pool, {.poison = true});
    EXPECT_TRUE(trainer.ok()) << trainer.status().to_string();
    std::vector<double> seen;
    EXPECT_TRUE((*trainer)
                    ->run([&](const StepReport& r) -> Result<bool> {
                      seen.push_back(r.loss);
                      return true;
                    })
                    .ok());
    auto evaluator = Evaluator::create(*network, data, pool, {.loss = Loss::mse, .stream = true});
    EXPECT_TRUE(evaluator.ok()) << evaluator.status().to_string();
    seen.push_back(evaluator->measure()->loss);
    return seen;
  };
  const std::vector<double> here = losses(**near, 0), there = losses(**far, 0x1p30);
  ASSERT_EQ(here.size(), there.size());
  for (std::size_t i = 0; i < here.size(); ++i) EXPECT_NEAR(there[i], here[i], 1e-5 * here[i]) << i;
}

// What is judged has the losses of the training's windows.
TEST(Streams, JudgedAsOneLane) {
  const auto data = tokens(60, {25, 60}, 8);
  TrainingSpec spec = spec_of(kLstm, 1, 8);
  spec.schedule.lr = 1e-30;
  spec.optimizer.kind = OptimizerKind::sgd;
  auto network = create_network(spec);
  ThreadPool pool(1);
  auto evaluator =
      Evaluator::create(*network, *data, pool, {.loss = Loss::cross_entropy, .stream = true});
  ASSERT_TRUE(evaluator.ok()) << evaluator.status().to_string();
  auto metrics = evaluator->measure();
  ASSERT_TRUE(metrics.ok()) << metrics.status().to_string();
  EXPECT_EQ(metrics->rows, 58);
  double sum = 0;
  const Outcome outcome = train(spec, *data);
  for (std::size_t i = 0; i < 8; ++i) sum += outcome.losses[i] * (i < 7 ? 8 : 2);
  EXPECT_NEAR(metrics->loss, sum / 58, 1e-5);
}

TEST(Streams, RefusedByName) {
  const auto data = tokens(60, {}, 8);
  EXPECT_NE(
      refusal(over_rows(R"("type":"attention","heads":3)"), *data).find("attention at 0.0.0.1"),
      std::string::npos);
  EXPECT_NE(refusal(over_rows(R"("type":"positions","count":40)"), *data).find("positions at"),
            std::string::npos);
  EXPECT_NE(refusal(over_rows(R"("type":"dense","out":6)"), *data).find("nothing is carried"),
            std::string::npos);
  EXPECT_NE(refusal(R"({"format":"loom-topology","version":3,"layers_per_cell":4,"input":{"ids":11},
    "cells":[{"at":[0,0,0,0],"type":"embedding","out":6},
    {"at":[0,0,0,1],"type":"reshape","dims":[2,3]},
    {"at":[0,0,0,2],"type":"lstm","hidden":4,"stateful":true,"output":"last"},
    {"at":[0,0,0,3],"type":"dense","out":11}]})",
                    *data)
                .find("lstm at 0.0.0.2 runs within a row"),
            std::string::npos);
  EXPECT_NE(refusal(kLstm, *data, 60).find("60 \"streams\" need as many rows, the data has 59"),
            std::string::npos);
  const auto parsed = [](const std::string& more) {
    const std::string text =
        R"({"format":"loom-training","version":2,"steps":1,"streams":8)" + more + "}";
    auto spec = parse_training_spec(std::string_view(text));
    return spec.ok() ? std::to_string(spec->batch) + (spec->shuffle ? " shuffled" : "")
                     : spec.status().message();
  };
  EXPECT_EQ(parsed(""), "8");
  EXPECT_EQ(parsed(R"(,"batch":8,"shuffle":false)"), "8");
  EXPECT_NE(parsed(R"(,"batch":4)").find("each of 8 \"streams\", \"batch\" says 4"),
            std::string::npos);
  EXPECT_NE(parsed(R"(,"shuffle":true)").find("\"shuffle\""), std::string::npos);
  EXPECT_NE(parsed(R"(,"random_translate":1)").find("\"random_translate\""), std::string::npos);
  EXPECT_NE(parsed(R"(,"micro_batches":3)").find("3 micro_batches"), std::string::npos);
  // Batches that are given.
  const TrainingSpec spec = spec_of(kLstm, 2, 2);
  auto network = create_network(spec);
  ThreadPool pool(1);
  auto trainer = Trainer::create(spec, *network, *data, pool);
  ASSERT_TRUE(trainer.ok());
  EXPECT_NE((*trainer)->step_on(*data).status().message().find("\"streams\""), std::string::npos);
}

}  // namespace
}  // namespace loom
