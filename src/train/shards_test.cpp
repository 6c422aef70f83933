#include "train/shards.h"

#include <gtest/gtest.h>

#include "base/files/bytes.h"
#include "base/random.h"
#include "train/data/data.h"

namespace loom {
namespace {

// With a batch norm, dropout, a fixed bias and f64: all that a shard has to carry.
const char* const kNetwork =
    R"({"format":"loom-topology","version":3,"layers_per_cell":5,"input":{"width":6},"cells":[
  {"at":[0,0,0,0],"type":"dense","out":10,"activation":"tanh","fixed":["bias"]},
  {"at":[0,0,0,1],"type":"batch_norm"},
  {"at":[0,0,0,2],"type":"dropout","rate":0.2},
  {"at":[0,0,0,3],"type":"dense","out":7,"dtype":"f64"},
  {"at":[0,0,0,4],"type":"dense","out":3,"dtype":"i8"}]})";

struct Worker {
  Worker(Network n, std::unique_ptr<DataSource> d) : network(std::move(n)), data(std::move(d)) {}
  Network network;
  std::unique_ptr<DataSource> data;
  ThreadPool pool{1};
  std::unique_ptr<Trainer> trainer;
};

std::unique_ptr<Worker> run_of(std::int64_t shards, OptimizerSpec optimizer = {},
                               std::string extra = "{}") {
  TrainingSpec spec;
  spec.network = *Json::parse(kNetwork);
  spec.batch = 12;
  spec.steps = 30;
  spec.seed = 3;
  spec.micro_batches = shards;
  spec.optimizer = optimizer;
  spec.optimizer.clip_norm = 0.5;
  spec.schedule = {.kind = ScheduleKind::cosine, .lr = 0.02};
  if (extra == "fp8") spec.fp8 = true;
  auto network = create_network(spec);
  EXPECT_TRUE(network.ok()) << network.status().to_string();
  const RandomStream random(9, 1);
  std::vector<float> x, y;
  for (std::uint64_t i = 0; i < 50 * 6; ++i) x.push_back(2 * random.uniform(i) - 1);
  for (std::size_t r = 0; r < 50; ++r)
    for (std::size_t t = 0; t < 3; ++t) y.push_back(x[r * 6 + t] * x[r * 6 + t + 3]);
  auto run = std::make_unique<Worker>(
      std::move(*network), std::move(*ArrayData::create(std::move(x), 6, std::move(y), 3)));
  auto trainer = Trainer::create(spec, run->network, *run->data, run->pool, {.poison = true});
  EXPECT_TRUE(trainer.ok()) << trainer.status().to_string();
  run->trainer = std::move(*trainer);
  return run;
}

std::vector<Shard> all_of(const std::vector<Worker*>& workers, std::int64_t shards) {
  std::vector<Shard> list(static_cast<std::size_t>(shards));
  for (std::int64_t i = shards; i-- > 0;) {  // the last first, whoever it is
    Trainer& t = *workers[static_cast<std::size_t>(i) % workers.size()]->trainer;
    auto made = t.shard(i);
    EXPECT_TRUE(made.ok()) << made.status().to_string();
    auto read = Shard::from_bytes(made->to_bytes());
    EXPECT_TRUE(read.ok()) << read.status().to_string();
    list[static_cast<std::size_t>(i)] = std::move(*read);
  }
  return list;
}

TEST(Shards, AnyNumberOfWorkersHaveTheBitsOfOne) {
  for (const std::int64_t shards : {1, 2, 3, 4, 6})
    for (const OptimizerKind kind :
         {OptimizerKind::sgd, OptimizerKind::adamw, OptimizerKind::adam}) {
      const OptimizerSpec optimizer{.kind = kind, .momentum = 0.9, .weight_decay = 0.01};
      const auto alone = run_of(shards, optimizer);
      std::vector<double> losses;
      for (int i = 0; i < 8; ++i) {
        auto r = alone->trainer->step();
        ASSERT_TRUE(r.ok()) << r.status().to_string();
        losses.push_back(r->loss);
      }
      for (const std::size_t count : {1u, 2u, 3u}) {
        std::vector<std::unique_ptr<Worker>> runs;
        std::vector<Worker*> workers;
        for (std::size_t w = 0; w < count; ++w) runs.push_back(run_of(shards, optimizer));
        for (const auto& r : runs) workers.push_back(r.get());
        for (int i = 0; i < 8; ++i) {
          std::vector<Shard> step = all_of(workers, shards);
          for (Worker* w : workers) {
            auto r = w->trainer->apply(step);
            ASSERT_TRUE(r.ok()) << r.status().to_string();
            EXPECT_EQ(r->loss, losses[static_cast<std::size_t>(i)]);
            EXPECT_EQ(r->rows, 12);
          }
        }
        for (Worker* const w : workers) {
          EXPECT_EQ(w->trainer->digest(), alone->trainer->digest());
        }
      }
    }
}

TEST(Shards, StepsAndShardsMayAlternate) {
  const auto alone = run_of(3), mixed = run_of(3);
  for (int i = 0; i < 6; ++i) {
    ASSERT_TRUE(alone->trainer->step().ok());
    if (i % 2) {
      ASSERT_TRUE(mixed->trainer->step().ok());
      continue;
    }
    std::vector<Shard> step = all_of({mixed.get()}, 3);
    ASSERT_TRUE(mixed->trainer->apply(step).ok());
  }
  EXPECT_EQ(mixed->trainer->digest(), alone->trainer->digest());
}

TEST(Shards, GivenSamplesAreThoseOfTheData) {
  const auto alone = run_of(1), given = run_of(1);
  const RandomStream random(9, 1);
  for (int i = 0; i < 3; ++i) {
    auto own = alone->trainer->shard(0);
    ASSERT_TRUE(own.ok());
    std::vector<float> x(12 * 6, 0.25f), y(12 * 3, 0.5f);
    const auto batch = std::move(*ArrayData::create(x, 6, y, 3));
    auto made = given->trainer->shard(0, batch.get());
    ASSERT_TRUE(made.ok()) << made.status().to_string();
    EXPECT_EQ(made->rows, 12);
    std::vector<Shard> one{std::move(*made)};
    ASSERT_TRUE(given->trainer->apply(one).ok());
    std::vector<Shard> two{std::move(*own)};
    ASSERT_TRUE(alone->trainer->apply(two).ok());
  }
  const auto large =
      std::move(*ArrayData::create(std::vector<float>(13 * 6), 6, std::vector<float>(13 * 3), 3));
  const auto refused = given->trainer->shard(0, large.get());
  EXPECT_EQ(refused.status().code(), Code::invalid_argument) << refused.status().to_string();
}

TEST(Shards, RefusesWhatIsOfAnotherStep) {
  const auto run = run_of(3);
  std::vector<Shard> step = all_of({run.get()}, 3);
  const std::string before = run->trainer->digest();
  const auto refused = [&](std::vector<Shard> list, std::string_view part) {
    const auto r = run->trainer->apply(list);
    EXPECT_EQ(r.status().code(), Code::invalid_argument);
    EXPECT_NE(r.status().message().find(part), std::string::npos) << r.status().to_string();
    EXPECT_EQ(run->trainer->digest(), before);
  };
  refused({step[0], step[1]}, "got 2 shards: a step has 3");
  refused({step[0], step[2], step[1]}, "shard 1 is number 2");
  refused({step[0], step[1], step[1]}, "shard 2 is number 1");
  std::vector<Shard> other = step;
  other[1].step = 2;
  refused(other, "is of step 2, the next one is 1");
  other = step;
  other[2].run = "0";
  refused(other, "another spec");
  other = step;
  other[0].gradients.pop_back();
  refused(other, "other gradients");
  other = step;
  other[0].weights = "0";
  refused(other, "other weights");
  EXPECT_FALSE(run->trainer->shard(3).ok());
  EXPECT_FALSE(run->trainer->shard(-1).ok());
  ASSERT_TRUE(run->trainer->apply(step).ok());
  const auto r = run->trainer->apply(step);  // once more
  EXPECT_NE(r.status().message().find("is of step 1, the next one is 2"), std::string::npos);
}

TEST(Shards, RefusesBytesThatWereChanged) {
  const auto run = run_of(3);
  const std::vector<std::byte> bytes = run->trainer->shard(1)->to_bytes();
  ASSERT_TRUE(Shard::from_bytes(bytes).ok());
  for (std::size_t size = 0; size < bytes.size(); size += 1 + size / 7)
    EXPECT_FALSE(Shard::from_bytes(std::span(bytes).first(size)).ok());
  for (std::size_t i = 0; i < bytes.size(); i += 13) {
    std::vector<std::byte> changed = bytes;
    changed[i] ^= std::byte{1};
    EXPECT_FALSE(Shard::from_bytes(changed).ok()) << i;
  }
}

TEST(Shards, MomentsGoInAndOut) {
  const OptimizerSpec adam{.kind = OptimizerKind::adam};
  const auto one = run_of(1, adam), two = run_of(1, adam);
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(one->trainer->step().ok());
  const auto names = one->trainer->moments();
  ASSERT_FALSE(names.empty());
  // The bias is fixed, so that it has none.
  for (const TrainingTensor& m : names) EXPECT_NE(m.name, "0.0.0.0:bias:m");
  std::vector<TrainingTensor> weights = one->trainer->weights();
  ASSERT_TRUE(two->trainer->set_weights(weights).ok());
  for (const TrainingTensor& m : names) {
    auto t = one->trainer->moment(m.name);
    ASSERT_TRUE(t.ok());
    std::vector<double> values(t->f64.begin(), t->f64.end());
    values.insert(values.end(), t->f32.begin(), t->f32.end());
    ASSERT_TRUE(two->trainer->set_moment(m.name, values).ok());
  }
  ASSERT_TRUE(two->trainer->set_done(5).ok());
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(one->trainer->step().ok());
    ASSERT_TRUE(two->trainer->step().ok());
  }
  EXPECT_EQ(one->trainer->digest(), two->trainer->digest());
  EXPECT_EQ(two->trainer->set_moment("0.0.0.0:weight:x", {}).code(), Code::not_found);
  EXPECT_EQ(two->trainer->set_moment("0.0.0.0:weight:m", {}).code(), Code::invalid_argument);
  EXPECT_EQ(two->trainer->set_done(31).code(), Code::invalid_argument);
}

TEST(Shards, RefusedWithFp8) {
  const auto run = run_of(2, {.kind = OptimizerKind::sgd}, "fp8");
  const auto r = run->trainer->shard(0);
  EXPECT_EQ(r.status().code(), Code::invalid_argument);
  EXPECT_NE(r.status().message().find("\"fp8\""), std::string::npos) << r.status().to_string();
}

}  // namespace
}  // namespace loom
