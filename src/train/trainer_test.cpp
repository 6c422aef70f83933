#include "train/trainer.h"

#include <gtest/gtest.h>

#include <limits>

#include "base/files/source.h"
#include "base/random.h"
#include "ops/cpu/isa.h"
#include "train/checkpoint.h"
#include "train/data/images/augment.h"

namespace loom {
namespace {

const char* const kMlp =
    R"({"format":"loom-topology","version":1,"layers_per_cell":2,"input":{"width":6},"cells":[
  {"at":[0,0,0,0],"type":"dense","out":17,"activation":"tanh"},{"at":[0,0,0,1],"type":"dense","out":3}]})";
const char* const kDecoder =
    R"({"format":"loom-topology","version":1,"layers_per_cell":4,"input":{"ids":29},"cells":[
  {"at":[0,0,0,0],"type":"embedding","out":16,"std":0.3},
  {"at":[0,0,0,1],"type":"sequential","layers":[{"type":"sequential","layers":[{"type":"rms_norm"},{"type":"attention","heads":4,"kv_heads":2}]},{"type":"residual"},
     {"type":"sequential","layers":[{"type":"rms_norm"},{"type":"swiglu","hidden":24}]},{"type":"residual"}]},
  {"at":[0,0,0,2],"type":"rms_norm"},
  {"at":[0,0,0,3],"type":"dense","out":29,"bias":false,"tie":"0.0.0.0:weight"}]})";

TrainingSpec spec_of(const char* topology) {
  TrainingSpec spec;
  spec.network = *Json::parse(topology);
  spec.batch = 12;
  spec.steps = 20;
  spec.seed = 5;
  spec.schedule = {.kind = ScheduleKind::cosine, .lr = 0.01, .warmup = 2, .floor = 0.001};
  spec.optimizer.weight_decay = 0.05;
  spec.optimizer.clip_norm = 1;
  spec.loss = topology == kDecoder ? Loss::cross_entropy : Loss::mse;
  return spec;
}

std::unique_ptr<DataSource> data_for(const char* topology) {
  const RandomStream random(9, 1);
  if (topology == kDecoder) {
    std::vector<std::uint32_t> ids;
    std::vector<std::uint64_t> ends;
    for (std::uint32_t d = 0; d < 40; ++d) {
      const std::uint32_t length = 2 + random.below(1000 + d, 14),
                          first = random.below(2000 + d, 29);
      for (std::uint32_t i = 0; i < length; ++i) ids.push_back((first + i * (1 + d % 3)) % 29);
      ends.push_back(ids.size());
    }
    return std::move(*TokenData::create(std::move(ids), ends, 10));
  }
  std::vector<float> x, y;
  for (std::uint64_t i = 0; i < 50 * 6; ++i) x.push_back(2 * random.uniform(i) - 1);
  for (std::size_t r = 0; r < 50; ++r)
    for (std::size_t t = 0; t < 3; ++t) y.push_back(x[r * 6 + t] * x[r * 6 + t + 3]);
  return std::move(*ArrayData::create(std::move(x), 6, std::move(y), 3));
}

struct Outcome {
  std::string digest;
  std::vector<double> losses;
};

Outcome train(const TrainingSpec& spec, const DataSource& data, int threads = 1,
              const std::string& isa = "") {
  auto network = create_network(spec);
  EXPECT_TRUE(network.ok()) << network.status().to_string();
  ThreadPool pool(threads);
  auto trainer = Trainer::create(spec, *network, data, pool, {.isa = isa, .poison = true});
  EXPECT_TRUE(trainer.ok()) << trainer.status().to_string();
  Outcome outcome;
  const Status s = (*trainer)->run([&](const StepReport& r) -> Result<bool> {
    outcome.losses.push_back(r.loss);
    return true;
  });
  EXPECT_TRUE(s.ok()) << s.to_string();
  outcome.digest = (*trainer)->digest();
  return outcome;
}

TEST(Trainer, LearnsAndReports) {
  TrainingSpec spec = spec_of(kDecoder);
  spec.steps = 0;
  spec.epochs = 25;
  spec.optimizer.weight_decay = 0;
  const auto data = data_for(kDecoder);
  auto network = create_network(spec);
  ASSERT_TRUE(network.ok()) << network.status().to_string();
  ThreadPool pool(1);
  auto trainer = Trainer::create(spec, *network, *data, pool);
  ASSERT_TRUE(trainer.ok()) << trainer.status().to_string();
  EXPECT_EQ((*trainer)->steps(), (25 * data->samples() + 11) / 12);
  double first = 0, last = 0;
  std::int64_t calls = 0;
  ASSERT_TRUE((*trainer)
                  ->run([&](const StepReport& r) -> Result<bool> {
                    EXPECT_EQ(r.step, ++calls);
                    EXPECT_EQ(r.lr, (*trainer)->spec().schedule.at(r.step));
                    EXPECT_EQ(r.counted, r.rows);
                    if (r.step == 1) first = r.loss;
                    last = r.loss;
                    return true;
                  })
                  .ok());
  EXPECT_GT(first, 2.5);
  EXPECT_LT(last, 0.5 * first);
  EXPECT_EQ((*trainer)->step().status().code(), Code::invalid_argument);
}

// L0 and L1: threads and instruction sets do not change a bit of the weights or moments.
TEST(Trainer, SameBitsForThreadsAndInstructionSets) {
  for (const char* topology : {kMlp, kDecoder}) {
    TrainingSpec spec = spec_of(topology);
    spec.steps = 3;
    spec.micro_batches = 3;
    const auto data = data_for(topology);
    const Outcome want = train(spec, *data, 1, "generic");
    for (int threads = 2; threads <= 7; ++threads)
      EXPECT_EQ(train(spec, *data, threads).digest, want.digest) << threads << " threads";
    for (const std::string_view isa : cpu::available_isas())
      EXPECT_EQ(train(spec, *data, 3, std::string(isa)).digest, want.digest) << isa;
  }
}

TEST(Trainer, EveryLossAndOptimizerHasTheSameBitsForThreadsAndInstructionSets) {
  const auto values = data_for(kMlp);
  Batch all;
  for (std::int64_t i = 0; i < values->samples(); ++i) values->append(i, all);
  for (float& y : all.values) y = y > 0 ? 0.75f : 0;
  const auto odds = std::move(*ArrayData::create(all.x, 6, all.values, 3));
  const std::pair<Loss, OptimizerSpec> pairs[] = {
      {Loss::mae, {.kind = OptimizerKind::sgd, .momentum = 0.9, .nesterov = true}},
      {Loss::huber, {.kind = OptimizerKind::rmsprop, .momentum = 0.5, .centered = true}},
      {Loss::bce, {.kind = OptimizerKind::lion}},
      {Loss::mae, {.kind = OptimizerKind::adam, .decay_vectors = true}},
      {Loss::huber, {.kind = OptimizerKind::adamw, .uncorrected_eps = true}}};
  for (const auto& [loss, optimizer] : pairs) {
    SCOPED_TRACE(kLossNames[static_cast<std::size_t>(loss)]);
    TrainingSpec spec = spec_of(kMlp);
    spec.optimizer = optimizer;
    spec.optimizer.weight_decay = 0.05;
    spec.loss = loss;
    spec.delta = 0.2;
    spec.steps = 3;
    const DataSource* data = loss == Loss::bce ? odds.get() : values.get();
    for (const std::int64_t batch : {2, 12}) {  // fewer rows than workers, and more
      spec.batch = batch;
      const Outcome want = train(spec, *data, 1, "generic");
      for (const int threads : {2, 5})
        EXPECT_EQ(train(spec, *data, threads).digest, want.digest) << threads << " threads";
      for (const std::string_view isa : cpu::available_isas())
        EXPECT_EQ(train(spec, *data, 3, std::string(isa)).digest, want.digest) << isa;
    }
  }
}

// How a step is cut into micro-batches belongs to the numbers: sums are grouped otherwise, so
// results agree up to rounding.
TEST(Trainer, MicroBatchesAgreeUpToRounding) {
  for (const char* topology : {kMlp, kDecoder}) {
    TrainingSpec spec = spec_of(topology);
    spec.schedule.lr = 0.003;
    spec.steps = 6;
    const auto data = data_for(topology);
    const Outcome whole = train(spec, *data);
    for (std::int64_t parts : {2, 3, 4, 6, 12}) {
      spec.micro_batches = parts;
      const Outcome cut = train(spec, *data);
      for (std::size_t i = 0; i < whole.losses.size(); ++i)
        EXPECT_NEAR(cut.losses[i], whole.losses[i], 2e-5) << parts << " parts, step " << i + 1;
    }
  }
}

TEST(Trainer, RestoresBitForBit) {
  const OptimizerSpec optimizers[] = {
      {.kind = OptimizerKind::sgd, .momentum = 0.9},
      {.kind = OptimizerKind::sgd, .momentum = 0.9, .nesterov = true},
      {.kind = OptimizerKind::adamw},
      {.kind = OptimizerKind::adam},
      {.kind = OptimizerKind::rmsprop},
      {.kind = OptimizerKind::rmsprop, .momentum = 0.5, .centered = true},
      {.kind = OptimizerKind::lion}};
  for (const OptimizerSpec& optimizer : optimizers) {
    TrainingSpec spec = spec_of(kDecoder);
    spec.optimizer = optimizer;
    spec.optimizer.weight_decay = 0.05;
    const auto data = data_for(kDecoder);
    const Outcome want = train(spec, *data);
    ThreadPool pool(1);
    TrainingState state;
    {
      auto network = create_network(spec);
      auto trainer = Trainer::create(spec, *network, *data, pool);
      ASSERT_TRUE(trainer.ok());
      const Status s =
          (*trainer)->run([&](const StepReport& r) -> Result<bool> { return r.step < 7; });
      EXPECT_EQ(s.code(), Code::cancelled);
      state = (*trainer)->state();
    }
    auto network = create_network(spec);
    auto trainer = Trainer::create(spec, *network, *data, pool);
    ASSERT_TRUE(trainer.ok());
    Status s = (*trainer)->restore(state);
    ASSERT_TRUE(s.ok()) << s.to_string();
    EXPECT_EQ((*trainer)->done(), 7);
    std::vector<double> losses;
    ASSERT_TRUE((*trainer)
                    ->run([&](const StepReport& r) -> Result<bool> {
                      losses.push_back(r.loss);
                      return true;
                    })
                    .ok());
    EXPECT_EQ(losses, std::vector<double>(want.losses.begin() + 7, want.losses.end()));
    EXPECT_EQ((*trainer)->digest(), want.digest);
  }
}

// Every optimizer and every schedule: 100 steps at once, and 50 and 50 with a file between, give
// the same bits.
TEST(Trainer, EveryOptimizerAndScheduleGoesOnWithTheSameBits) {
  const auto data = data_for(kMlp);
  const OptimizerSpec optimizers[] = {
      {.kind = OptimizerKind::sgd},
      {.kind = OptimizerKind::sgd, .momentum = 0.9},
      {.kind = OptimizerKind::sgd, .momentum = 0.9, .nesterov = true},
      {.kind = OptimizerKind::adamw},
      {.kind = OptimizerKind::rmsprop},
      {.kind = OptimizerKind::rmsprop, .momentum = 0.5, .centered = true},
      {.kind = OptimizerKind::lion, .beta2 = 0.99}};
  const Schedule schedules[] = {
      {.kind = ScheduleKind::constant, .lr = 0.003},
      {.kind = ScheduleKind::cosine, .lr = 0.003, .warmup = 10},
      {.kind = ScheduleKind::step, .lr = 0.003, .every = 30, .factor = 0.5},
      {.kind = ScheduleKind::multi_step, .lr = 0.003, .factor = 0.5, .milestones = {20, 60}},
      {.kind = ScheduleKind::exponential, .lr = 0.003, .factor = 0.99},
      {.kind = ScheduleKind::linear, .lr = 0.003},
      {.kind = ScheduleKind::polynomial, .lr = 0.003, .power = 2},
      {.kind = ScheduleKind::cosine_restarts, .lr = 0.003, .every = 40},
      {.kind = ScheduleKind::one_cycle, .lr = 0.003}};
  ThreadPool pool(1);
  for (std::size_t i = 0; i < std::size(schedules); ++i) {
    const OptimizerSpec& optimizer = optimizers[i % std::size(optimizers)];
    const Schedule& schedule = schedules[i];
    SCOPED_TRACE(std::to_string(static_cast<int>(optimizer.kind)) + " " +
                 std::string(name(schedule.kind)));
    TrainingSpec spec = spec_of(kMlp);
    spec.batch = 4;
    spec.steps = 100;
    spec.optimizer = optimizer;
    spec.optimizer.weight_decay = 0.01;
    spec.schedule = schedule;
    const Outcome want = train(spec, *data);
    auto first = create_network(spec), second = create_network(spec);
    auto half = Trainer::create(spec, *first, *data, pool);
    ASSERT_TRUE(half.ok()) << half.status().to_string();
    while ((*half)->done() < 50) ASSERT_TRUE((*half)->step().ok());
    std::vector<std::byte> file;
    ASSERT_TRUE(save_checkpoint(&file, **half).ok());
    auto rest = Trainer::create(spec, *second, *data, pool);
    const Status resumed = resume_checkpoint(source_from_bytes(std::move(file), "half"), **rest);
    ASSERT_TRUE(resumed.ok()) << resumed.to_string();
    while ((*rest)->done() < 100) ASSERT_TRUE((*rest)->step().ok());
    EXPECT_EQ((*rest)->digest(), want.digest);
  }
}

TEST(Trainer, RestoreNamesWhatDiffers) {
  const TrainingSpec spec = spec_of(kMlp);
  const auto data = data_for(kMlp);
  ThreadPool pool(1);
  auto network = create_network(spec);
  auto trainer = Trainer::create(spec, *network, *data, pool);
  ASSERT_TRUE(trainer.ok());
  ASSERT_TRUE((*trainer)->step().ok());
  const TrainingState state = (*trainer)->state();
  auto refusal = [&](const TrainingSpec& other, const DataSource& source,
                     const TrainingState& from) {
    auto n = create_network(other);
    auto t = Trainer::create(other, *n, source, pool);
    EXPECT_TRUE(t.ok()) << t.status().to_string();
    const std::string before = (*t)->digest();
    const Status s = (*t)->restore(from);
    EXPECT_EQ((*t)->digest(), before);
    return s.message();
  };
  TrainingSpec other = spec;
  other.optimizer.beta2 = 0.99;
  EXPECT_NE(refusal(other, *data, state).find("\"optimizer: beta2\": 0.999, now 0.99"),
            std::string::npos)
      << refusal(other, *data, state);
  other = spec;
  other.batch = 6;
  EXPECT_NE(refusal(other, *data, state).find("\"batch\": 12, now 6"), std::string::npos);
  other = spec;
  other.network = *Json::parse(std::string(kMlp).replace(std::string(kMlp).find("17"), 2, "18"));
  EXPECT_NE(refusal(other, *data, state).find("topology"), std::string::npos);
  std::vector<float> x(60), y(30);
  EXPECT_NE(refusal(spec, **ArrayData::create(x, 6, y, 3), state).find("other data"),
            std::string::npos);
  TrainingState broken = state;
  broken.tensors[2].f32.pop_back();
  EXPECT_NE(refusal(spec, *data, broken).find(broken.tensors[2].name), std::string::npos);
  broken = state;
  broken.tensors.pop_back();
  EXPECT_NE(refusal(spec, *data, broken).find("no tensor"), std::string::npos);
  // A longer training with the same schedule goes on.
  other = spec;
  other.schedule.steps = spec.steps;
  other.steps = 40;
  EXPECT_EQ(refusal(other, *data, TrainingState{}), "training state: expected an object");
  auto n = create_network(other);
  auto longer = Trainer::create(other, *n, *data, pool);
  EXPECT_TRUE((*longer)->restore(state).ok());
}

TEST(Trainer, RefusesDataOfAnotherForm) {
  ThreadPool pool(1);
  TrainingSpec spec = spec_of(kMlp);
  auto network = create_network(spec);
  std::vector<float> x(60), y(20);
  const auto narrow = ArrayData::create(x, 6, y, 2),
             wide = ArrayData::create(x, 5, std::vector<float>(36), 3);
  EXPECT_NE(Trainer::create(spec, *network, **narrow, pool)
                .status()
                .message()
                .find("gives 3 values per row, the data has 2 targets"),
            std::string::npos);
  EXPECT_NE(Trainer::create(spec, *network, **wide, pool)
                .status()
                .message()
                .find("the network takes [B, 6], the data has rows of 5 values"),
            std::string::npos);
  TrainingSpec tokens = spec_of(kDecoder);
  auto decoder = create_network(tokens);
  const auto large = TokenData::create({1, 2, 29, 3}, {}, 4);
  EXPECT_NE(Trainer::create(tokens, *decoder, **large, pool)
                .status()
                .message()
                .find("ids, sequence 0, position 2 (from 0) is 29: the network takes ids below 29"),
            std::string::npos);
}

// What is learned with shifts is what images that were moved before give.
TEST(Trainer, ShiftsPicturesAsTheyAreTaken) {
  constexpr std::int64_t kSamples = 24, kWidth = 2 * 4 * 5;
  TrainingSpec spec;
  spec.network = *Json::parse(
      R"({"format":"loom-topology","version":1,"layers_per_cell":3,"input":{"dims":[2,4,5]},"cells":[
    {"at":[0,0,0,0],"type":"conv2d","filters":3,"kernel":[3],"padding":[1]},{"at":[0,0,0,1],"type":"flatten"},{"at":[0,0,0,2],"type":"dense","out":2}]})");
  spec.batch = 6;
  spec.epochs = 1;
  spec.shuffle = false;
  spec.seed = 11;
  spec.schedule.lr = 0.01;
  std::vector<float> x, y(kSamples * 2, 0.5f);
  for (std::uint64_t i = 0; i < kSamples * kWidth; ++i) x.push_back(RandomStream(2, 3).uniform(i));
  std::vector<float> moved = x;
  for (std::uint64_t i = 0; i < kSamples; ++i)
    random_translate(std::span(moved).subspan(i * kWidth, kWidth), 4, 5, 2, 11, i);
  const auto as_they_are =
      std::move(*ArrayData::create(std::move(x), kWidth, std::vector<float>(y), 2));
  const auto before = std::move(*ArrayData::create(std::move(moved), kWidth, std::move(y), 2));
  const std::string still = train(spec, *as_they_are).digest, want = train(spec, *before).digest;
  spec.random_translate = 2;
  EXPECT_EQ(train(spec, *as_they_are).digest, want);
  EXPECT_EQ(train(spec, *as_they_are, 3).digest, want);
  EXPECT_NE(still, want);

  TrainingSpec rows = spec_of(kMlp);
  rows.random_translate = 1;
  auto network = create_network(rows);
  ThreadPool pool(1);
  const auto refused = Trainer::create(rows, *network, *data_for(kMlp), pool, {});
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(
      refused.status().message().find(
          "\"random_translate\" moves images: the network's input must be [..., height, width]"),
      std::string::npos)
      << refused.status().message();
}

TEST(Trainer, StopsBeforeItRuinsTheWeights) {
  TrainingSpec spec = spec_of(kMlp);
  spec.optimizer = {.kind = OptimizerKind::sgd};
  spec.schedule = {.lr = 1e6};
  spec.steps = 200;
  const auto data = data_for(kMlp);
  auto network = create_network(spec);
  ThreadPool pool(1);
  auto trainer = Trainer::create(spec, *network, *data, pool);
  ASSERT_TRUE(trainer.ok());
  const Status s = (*trainer)->run([](const StepReport&) -> Result<bool> { return true; });
  EXPECT_NE(s.message().find("the loss is not finite"), std::string::npos) << s.to_string();
}

TEST(Trainer, ProgressMeter) {
  ProgressMeter meter;
  StepReport r{.step = 1, .steps = 101, .rows = 50};
  EXPECT_EQ(meter.update(r, 1000).rows_per_second, 0);
  ProgressMeter::Reading reading;
  for (r.step = 2; r.step <= 61; ++r.step)
    reading = meter.update(r, 1000 + 0.5 * static_cast<double>(r.step - 1));
  EXPECT_NEAR(reading.rows_per_second, 100, 1e-9);
  EXPECT_NEAR(reading.seconds_left, 20, 1e-9);
  // Ten times slower: after the window the old speed is forgotten.
  for (; r.step <= 80; ++r.step)
    reading = meter.update(r, 1030 + 5.0 * static_cast<double>(r.step - 61));
  EXPECT_NEAR(reading.rows_per_second, 10, 1e-9);
}

// Masters are finer than what a program reads: a weight below 2^-40 is 0 in every product (numerics
// rule 8), wherever its values are read from. Gradients of 1e12 would make it visible in the layer
// before.
TEST(Learner, ReadsWeightsBelowTheSmallestValueAsZero) {
  for (const int out : {3, 16, 35}) {
    const std::string topology =
        R"({"format":"loom-topology","version":1,"layers_per_cell":2,"input":{"width":21},"cells":[
      {"at":[0,0,0,0],"type":"dense","out":37},{"at":[0,0,0,1],"type":"dense","out":)" +
        std::to_string(out) + "}]}";
    auto n = Network::from_json(std::string_view(topology));
    ASSERT_TRUE(n.ok()) << n.status().to_string();
    ASSERT_TRUE(n->initialize(1).ok());
    WeightStore& tiny = *n->find("0.0.0.1", "weight");
    for (float& v : tiny.mutable_master()) v = 0x1p-60f;
    tiny.touch();
    const std::vector<float> before(n->find("0.0.0.0", "weight")->master().begin(),
                                    n->find("0.0.0.0", "weight")->master().end());
    constexpr std::int64_t kRows = 20;
    std::vector<float> x(kRows * 21, 1.0f), target(static_cast<std::size_t>(kRows * out), 1e12f);
    ThreadPool pool(2);
    auto learner = Learner::create(
        *n, pool, {.optimizer = {.kind = OptimizerKind::sgd}, .max_rows = kRows, .poison = true});
    ASSERT_TRUE(learner.ok()) << learner.status().to_string();
    ASSERT_TRUE(learner->batch(std::span<const float>(x), std::span<const float>(target)).ok());
    ASSERT_TRUE(learner->accumulate().ok());
    ASSERT_TRUE(learner->update(1, static_cast<double>(kRows), 1).ok());
    const auto after = n->find("0.0.0.0", "weight")->master();
    EXPECT_TRUE(std::equal(before.begin(), before.end(), after.begin(), after.end())) << out;
    EXPECT_NE(tiny.master()[0], 0x1p-60f);  // it learned itself
  }
}

// A network that was made to learn in f64 goes back, and cells without matrices go along.
TEST(Learner, FollowsMorphsToDoubleAndBack) {
  auto n = Network::from_json(std::string_view(
      R"({"format":"loom-topology","version":1,"layers_per_cell":4,"input":{"width":4},"cells":[{"at":[0,0,0,0],"type":"dense","out":4},
    {"at":[0,0,0,1],"type":"sequential","layers":[{"type":"rms_norm"},{"type":"residual"}]},{"at":[0,0,0,3],"type":"layer_norm"}]})"));
  ASSERT_TRUE(n.ok()) << n.status().to_string();
  ASSERT_TRUE(n->initialize(1).ok());
  ThreadPool pool(1);
  const std::vector<float> x = {1, -2, 3, 0.5f};
  for (const char* dtype : {"f32", "f64", "i4", "f64", "f32"}) {
    ASSERT_TRUE(n->morph(*parse_weight_format(dtype)).ok()) << dtype;
    for (std::size_t i = 0; i < n->size(); ++i)
      EXPECT_TRUE(!n->node(i).type ||
                  computes_in_f64(n->node(i)) == (std::string_view(dtype) == "f64"))
          << dtype << " cell " << i;
    auto learner = Learner::create(*n, pool, {});
    ASSERT_TRUE(learner.ok()) << dtype << ": " << learner.status().to_string();
    ASSERT_TRUE(learner->batch(x, x).ok());
    ASSERT_TRUE(learner->accumulate(0).ok());
    EXPECT_GT(learner->loss_sum(), 0.01) << dtype;
  }
  // What only f64 can hold is not rounded in silence.
  ASSERT_TRUE(n->morph(default_format(DType::f64)).ok());
  ASSERT_TRUE(Learner::create(*n, pool, {}).ok());
  WeightStore& gain = *n->find("0.0.0.3", "gain");
  gain.mutable_master64()[0] = 1.0 / 3;
  gain.touch();
  ASSERT_TRUE(n->morph({}).ok());
  const Status refused = Learner::create(*n, pool, {}).status();
  EXPECT_NE(refused.message().find("parameter 0.0.0.3:gain learns in f32, its master holds f64 "
                                   "values: narrow_master() rounds them"),
            std::string::npos)
      << refused.message();
  gain.narrow_master();
  EXPECT_TRUE(Learner::create(*n, pool, {}).ok());
}

// Weights that the dtype of a cell cannot hold are seen when they are prepared, after they were
// put.
TEST(Trainer, ARefusedStateChangesNothing) {
  const auto spec = parse_training_spec(std::string_view(
      R"({"format":"loom-training","version":2,"network":{"format":"loom-topology","version":3,)"
      R"("layers_per_cell":1,"input":{"width":3},"cells":[)"
      R"({"at":[0,0,0,0],"type":"dense","out":2,"dtype":"i8"}]},"steps":9,"batch":2})"));
  ASSERT_TRUE(spec.ok()) << spec.status().to_string();
  const auto data =
      ArrayData::create(std::vector<float>(12, 0.5f), 3, std::vector<float>(8, 1.0f), 2);
  auto network = create_network(*spec);
  ThreadPool pool(1);
  auto trainer = Trainer::create(*spec, *network, **data, pool);
  ASSERT_TRUE(trainer.ok()) << trainer.status().to_string();
  ASSERT_TRUE((*trainer)->step().ok());
  TrainingState state = (*trainer)->state();
  ASSERT_TRUE((*trainer)->step().ok());
  const std::string before = (*trainer)->digest();
  for (float& v : state.tensors[0].f32) v = std::numeric_limits<float>::quiet_NaN();
  EXPECT_FALSE((*trainer)->restore(state).ok());
  EXPECT_EQ((*trainer)->digest(), before);
  EXPECT_EQ((*trainer)->done(), 2);
  EXPECT_TRUE((*trainer)->step().ok());
}

}  // namespace
}  // namespace loom
