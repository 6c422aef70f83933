// Steps that are cancelled: where they end, and that nothing of them is left.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include "base/random.h"
#include "support/stop_layer.h"
#include "train/trainer.h"

namespace loom {
namespace {

using namespace test::stop;

const std::string kStop = R"({"type":"custom","layer":"test.stop"})";

std::string in_a_row(const std::string& input, const std::vector<std::string>& layers) {
  std::string text = R"({"format":"loom-topology","version":2,"layers_per_cell":1,"input":)" +
                     input + R"(,"cells":[{"at":[0,0,0,0],"type":"sequential","layers":[)";
  for (std::size_t i = 0; i < layers.size(); ++i) text += (i ? "," : "") + layers[i];
  return text + "]}]}";
}

struct Case {
  std::string name, network;
  bool tokens = false;
  std::int64_t streams = 0, micro_batches = 1, quantize_after = -1;
  bool fp8 = false;
};

std::vector<Case> cases() {
  const std::string dense = R"({"type":"dense","out":7,"activation":"tanh"})",
                    last = R"({"type":"dense","out":3})";
  const std::string rows = in_a_row(R"({"width":6})", {dense, kStop, dense, kStop, last});
  const std::string noise = in_a_row(
      R"({"width":6})",
      {dense, R"({"type":"batch_norm"})", kStop, R"({"type":"dropout","rate":0.3})", kStop, last});
  const std::string lanes = in_a_row(
      R"({"ids":11})", {R"({"type":"embedding","out":6})", R"({"type":"lstm","hidden":5})", kStop,
                        R"({"type":"gru","hidden":4})", kStop, R"({"type":"dense","out":11})"});
  return {{.name = "rows", .network = rows},
          {.name = "parts", .network = rows, .micro_batches = 4},
          {.name = "noise", .network = noise},
          {.name = "fp8", .network = rows, .fp8 = true},
          {.name = "quantized", .network = rows, .quantize_after = 2},
          {.name = "streams", .network = lanes, .tokens = true, .streams = 4},
          {.name = "parts_of_streams",
           .network = lanes,
           .tokens = true,
           .streams = 4,
           .micro_batches = 2}};
}

class Cancel : public testing::Test {
 protected:
  void SetUp() override {
    flag = false, countdown = 0, late = 0, calls = 0;
    ASSERT_TRUE(register_custom_layer(std::make_shared<Stop>()).ok());
  }
  void TearDown() override { EXPECT_TRUE(unregister_custom_layer("test.stop", 1).ok()); }
};

TrainingSpec spec_of(const Case& c) {
  TrainingSpec spec;
  spec.network = *Json::parse(c.network);
  spec.batch = c.tokens ? c.streams : 8;
  spec.steps = 5;
  spec.seed = 3;
  spec.schedule = {.lr = 0.02};
  spec.optimizer.momentum = 0.9;
  spec.streams = c.streams;
  spec.shuffle = c.streams == 0;
  spec.micro_batches = c.micro_batches;
  spec.fp8 = c.fp8;
  if (c.quantize_after >= 0) spec.quantize = {.dtype = "i8", .after = c.quantize_after};
  spec.loss = c.tokens ? Loss::cross_entropy : Loss::mse;
  return spec;
}

std::unique_ptr<DataSource> data_of(const Case& c) {
  const RandomStream random(4, 2);
  if (c.tokens) {
    std::vector<std::uint32_t> ids;
    for (std::uint64_t i = 0; i < 240; ++i) ids.push_back(random.below(i, 11));
    const std::uint64_t ends[] = {100, 240};
    return std::move(*TokenData::create(std::move(ids), ends, 6));
  }
  std::vector<float> x, y;
  for (std::uint64_t i = 0; i < 20 * 6; ++i) x.push_back(random.uniform(i));
  for (std::uint64_t i = 0; i < 20 * 3; ++i) y.push_back(random.uniform(1000 + i));
  return std::move(*ArrayData::create(std::move(x), 6, std::move(y), 3));
}

TEST_F(Cancel, AStepThatWasCancelledLeavesNothingAndIsDoneAgain) {
  for (const Case& c : cases()) {
    for (const int threads : {1, 3}) {
      SCOPED_TRACE(c.name + ", threads " + std::to_string(threads));
      const TrainingSpec spec = spec_of(c);
      const auto data = data_of(c);
      ThreadPool pool(threads);
      auto plain = create_network(spec), cut = create_network(spec);
      ASSERT_TRUE(plain.ok() && cut.ok()) << plain.status().to_string();
      auto whole = Trainer::create(spec, *plain, *data, pool),
           often = Trainer::create(spec, *cut, *data, pool, {.cancel = &flag});
      ASSERT_TRUE(whole.ok() && often.ok()) << whole.status().to_string();
      for (std::int64_t n = 1; n <= spec.steps; ++n) {
        calls = 0;
        const auto expected = (*whole)->step();
        ASSERT_TRUE(expected.ok()) << expected.status().to_string();
        const int of_a_step = calls;
        ASSERT_EQ(of_a_step, 4 * c.micro_batches);
        const std::string before = (*often)->digest();
        const std::string formats = cut->to_json().dump();
        for (int at = 1; at <= of_a_step; ++at) {
          countdown = at, late = 0;
          const Status status = (*often)->step().status();
          EXPECT_EQ(status.code(), Code::cancelled) << at << " " << status.to_string();
          EXPECT_NE(status.message().find("step " + std::to_string(n)), std::string::npos)
              << status.message();
          EXPECT_EQ(late, 0) << at;
          EXPECT_EQ((*often)->step().status().code(), Code::cancelled);  // the flag is still set
          flag = false;
          EXPECT_EQ((*often)->done(), n - 1);
          EXPECT_EQ((*often)->digest(), before) << "step " << n << ", call " << at;
          EXPECT_EQ(cut->to_json().dump(), formats);
        }
        const auto report = (*often)->step();
        ASSERT_TRUE(report.ok()) << report.status().to_string();
        EXPECT_EQ(report->loss, expected->loss);
        EXPECT_EQ((*often)->digest(), (*whole)->digest()) << "step " << n;
      }
    }
  }
}

TEST_F(Cancel, RunEndsAndGoesOn) {
  const Case c = cases()[0];
  const TrainingSpec spec = spec_of(c);
  const auto data = data_of(c);
  ThreadPool pool(2);
  auto network = create_network(spec);
  ASSERT_TRUE(network.ok());
  auto trainer = Trainer::create(spec, *network, *data, pool, {.cancel = &flag});
  ASSERT_TRUE(trainer.ok());
  const auto on = [](const StepReport&) -> Result<bool> { return true; };
  countdown = 4 * 2 + 3;
  EXPECT_EQ((*trainer)->run(on).code(), Code::cancelled);
  EXPECT_EQ((*trainer)->done(), 2);
  flag = false;
  EXPECT_TRUE((*trainer)->run(on).ok());
  EXPECT_EQ((*trainer)->done(), 5);
}

// A step of about two seconds, cancelled from another thread.
TEST_F(Cancel, ALongStepEndsSoon) {
  std::vector<std::string> layers(24, R"({"type":"dense","out":512,"activation":"tanh"})");
  TrainingSpec spec;
  spec.network = *Json::parse(in_a_row(R"({"width":512})", layers));
  spec.batch = 1024;
  spec.steps = 100;
  spec.schedule = {.lr = 0.01};
  std::vector<float> x(1024 * 512);
  const RandomStream random(1, 1);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = random.uniform(i);
  const auto data = std::move(*ArrayData::create(x, 512, x, 512));
  auto network = create_network(spec);
  ASSERT_TRUE(network.ok()) << network.status().to_string();
  ThreadPool pool(1);
  auto trainer = Trainer::create(spec, *network, *data, pool, {.cancel = &flag});
  ASSERT_TRUE(trainer.ok()) << trainer.status().to_string();
  using Clock = std::chrono::steady_clock;
  const auto seconds = [](Clock::time_point from) {
    return std::chrono::duration<double>(Clock::now() - from).count();
  };
  // The step before says how long one takes here and now.
  const auto start = Clock::now();
  ASSERT_TRUE((*trainer)->step().ok());
  const double whole = seconds(start);
  const std::string before = (*trainer)->digest();
  Clock::time_point asked;
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::duration<double>(0.05 * whole));
    asked = Clock::now();
    flag = true;
  });
  const Status status = (*trainer)->step().status();
  const auto end = Clock::now();
  other.join();
  EXPECT_EQ(status.code(), Code::cancelled) << "a step took " << whole << " s";
  EXPECT_LT(std::chrono::duration<double>(end - asked).count(), 0.15 * whole)
      << "a step takes " << whole << " s";
  EXPECT_EQ((*trainer)->digest(), before);
}

}  // namespace
}  // namespace loom
