// Mode auto: a session with a device and the CPU takes what was faster, and no bit depends on
// which.
#include <cstring>

#include "conformance/layer_samples.h"
#include "gpu/test_device.h"
#include "train/data/data.h"
#include "train/trainer.h"

namespace loom {
namespace {

TEST(Auto, RunsOnBothThenOnOneWithTheSameBits) {
  LOOM_TEST_DEVICE(device);
  for (const char* dtype : {"f32", "i4"}) {
    const test::LayerSample sample{"dense", 8, "",
                                   R"("type":"dense","out":7,"activation":"gelu_tanh")", ""};
    auto n = test::network_of(sample, *parse_weight_format(dtype));
    ASSERT_TRUE(n.ok());
    const test::SampleRows rows;
    auto cpu = Session::create(*n, test::pool_of(1), {.max_rows = 6});
    auto either = Session::create(*n, test::pool_of(1),
                                  {.max_rows = 6, .device = device, .auto_device = true});
    ASSERT_TRUE(cpu.ok() && either.ok()) << either.status().to_string();
    std::set<std::string> ran_on;
    std::string last;
    for (int i = 0; i < 12; ++i) {
      ASSERT_TRUE(cpu->run(rows.x, 6).ok());
      const auto y = either->run(rows.x, 6);
      ASSERT_TRUE(y.ok()) << y.status().to_string();
      last = either->executor().target();
      ran_on.insert(last);
      for (std::int64_t r = 0; r < 6; ++r)
        EXPECT_EQ(std::memcmp(either->output(r).data(), cpu->output(r).data(), 5 * sizeof(float)),
                  0)
            << i;
    }
    EXPECT_EQ(ran_on.size(), 2u);  // both were tried
    for (int i = 0; i < 4; ++i) {
      ASSERT_TRUE(either->run(rows.x, 6).ok());
      EXPECT_EQ(either->executor().target(), last);
    }
    // What the weights become is seen on both sides.
    for (auto& p : n->params()) {
      if (!p.param->store->has_master()) continue;
      p.param->store->mutable_master()[0] += 1;
      p.param->store->touch();
    }
    ASSERT_TRUE(cpu->refresh().ok() && either->refresh().ok());
    ASSERT_TRUE(cpu->run(std::span(rows.x).first(4), 1).ok());
    for (int i = 0; i < 7; ++i) {
      ASSERT_TRUE(either->run(std::span(rows.x).first(4), 1).ok());
      EXPECT_EQ(std::memcmp(either->output(0).data(), cpu->output(0).data(), 5 * sizeof(float)), 0)
          << i;
    }
  }
}

// States stay on one side.
TEST(Auto, SessionsWithStatesChooseOnce) {
  LOOM_TEST_DEVICE(device);
  const auto sample = test::samples_of(*find_layer_type("attention"))[0];
  auto n = test::network_of(sample, default_format(DType::i4));
  ASSERT_TRUE(n.ok());
  const test::SampleRows rows;
  auto cpu = Session::create(*n, test::pool_of(1), {.max_rows = 6, .max_positions = 16});
  auto either =
      Session::create(*n, test::pool_of(1),
                      {.max_rows = 6, .max_positions = 16, .device = device, .auto_device = true});
  ASSERT_TRUE(cpu.ok() && either.ok()) << either.status().to_string();
  const std::string chosen(either->executor().target());
  for (std::size_t i = 0; i < 6; ++i) {
    for (Session* s : {&*cpu, &*either})
      ASSERT_TRUE(s->run_tokens(std::span(rows.ids).subspan(i, 1),
                                std::span(rows.sequences).subspan(i, 1),
                                std::span(rows.positions).subspan(i, 1), {})
                      .ok());
    EXPECT_EQ(either->executor().target(), chosen);
    EXPECT_EQ(std::memcmp(either->output(0).data(), cpu->output(0).data(), 5 * sizeof(float)), 0)
        << i;
  }
}

// Also with products in FP8, whose loss scale the device's gradients move.
TEST(Auto, LearnsTheSameWeights) {
  LOOM_TEST_DEVICE(device);
  std::string digests[4];
  for (const int way : {0, 1, 2, 3}) {
    const bool auto_device = way == 1, in_fp8 = way >= 2;
    auto n =
        test::network_of({"dense", 8, "", R"("type":"dense","out":7,"activation":"tanh")", ""}, {});
    ASSERT_TRUE(n.ok());
    const test::SampleRows rows;
    auto data = ArrayData::create(rows.x, 4, rows.y, 5);
    ASSERT_TRUE(data.ok());
    TrainingSpec spec;
    spec.loss = Loss::mse;
    spec.batch = 3;
    spec.steps = 4;
    spec.fp8 = in_fp8;
    auto trainer =
        Trainer::create(spec, *n, **data, test::pool_of(1),
                        {.device = way % 2 ? device : nullptr, .auto_device = auto_device});
    ASSERT_TRUE(trainer.ok()) << trainer.status().to_string();
    while ((*trainer)->done() < 4) ASSERT_TRUE((*trainer)->step().ok());
    ASSERT_TRUE((*trainer)->sync().ok());
    digests[way] = (*trainer)->digest();
  }
  EXPECT_EQ(digests[0], digests[1]);
  EXPECT_EQ(digests[2], digests[3]);
  EXPECT_NE(digests[0], digests[2]);
}

// Matrices of methods learn, or stay, on the device, too.
TEST(Device, LearnsByOtherMethodsWithTheSameBits) {
  LOOM_TEST_DEVICE(device);
  std::vector<float> x, y;
  for (int i = 0; i < 12 * 4; ++i) x.push_back(static_cast<float>(i * 37 % 101) / 50 - 1);
  for (int i = 0; i < 12 * 3; ++i) y.push_back(static_cast<float>(i * 53 % 89) / 89);
  auto data = ArrayData::create(x, 4, y, 3);
  ASSERT_TRUE(data.ok());
  for (const MethodSpec& method :
       {MethodSpec{.kind = MethodKind::mono_forward},
        MethodSpec{.kind = MethodKind::direct_feedback_alignment},
        MethodSpec{.kind = MethodKind::difference_target_propagation},
        MethodSpec{.kind = MethodKind::target_propagation},
        MethodSpec{.kind = MethodKind::target_propagation, .mode = TargetMode::layer_wise},
        MethodSpec{.kind = MethodKind::target_propagation,
                   .mode = TargetMode::layer_wise,
                   .difference_correction = false}}) {
    std::string digests[2];
    for (const bool on_device : {false, true}) {
      TrainingSpec spec;
      spec.network = *Json::parse(
          R"({"format":"loom-topology","version":3,"layers_per_cell":3,"input":{"width":4},"cells":[
            {"at":[0,0,0,0],"type":"dense","out":7,"activation":"tanh"},
            {"at":[0,0,0,1],"type":"dense","out":6,"activation":"relu"},
            {"at":[0,0,0,2],"type":"dense","out":3}]})");
      spec.loss = Loss::mse;
      spec.method = method;
      spec.batch = 6;
      spec.micro_batches = 2;
      spec.steps = 5;
      auto n = create_network(spec);
      ASSERT_TRUE(n.ok()) << n.status().to_string();
      auto trainer = Trainer::create(spec, *n, **data, test::pool_of(1),
                                     {.device = on_device ? device : nullptr});
      ASSERT_TRUE(trainer.ok()) << trainer.status().to_string();
      while ((*trainer)->done() < 5) ASSERT_TRUE((*trainer)->step().ok());
      ASSERT_TRUE((*trainer)->sync().ok());
      digests[on_device] = (*trainer)->digest();
    }
    EXPECT_EQ(digests[0], digests[1]) << name(method.kind) << ' ' << name(method.mode);
  }
}

// States of streams stay on the device, over documents that end in a window, in several
// micro-batches and where cells are computed again.
TEST(Device, LearnsStreamsWithTheSameBits) {
  LOOM_TEST_DEVICE(device);
  std::vector<std::uint32_t> ids;
  for (std::uint32_t i = 0; i < 60; ++i) ids.push_back(i * i % 7);
  const std::uint64_t ends[] = {13, 60};
  auto data = TokenData::create(ids, ends, 5);
  ASSERT_TRUE(data.ok());
  for (const char* layer : {R"("type":"lstm","hidden":6,"num_layers":2)",
                            R"("type":"gru","hidden":5)", R"("type":"rnn","hidden":5)"}) {
    std::string digests[2];
    for (const bool on_device : {false, true}) {
      TrainingSpec spec;
      spec.network = *Json::parse(
          R"({"format":"loom-topology","version":3,"layers_per_cell":3,"input":{"ids":7},"cells":[
            {"at":[0,0,0,0],"type":"embedding","out":4},{"at":[0,0,0,1],)" +
          std::string(layer) + R"(},{"at":[0,0,0,2],"type":"dense","out":7}]})");
      spec.loss = Loss::cross_entropy;
      spec.streams = spec.batch = 4;
      spec.micro_batches = 2;
      spec.shuffle = false;
      spec.checkpoint = true;
      spec.steps = 5;  // three an epoch
      auto n = create_network(spec);
      ASSERT_TRUE(n.ok()) << n.status().to_string();
      auto trainer = Trainer::create(spec, *n, **data, test::pool_of(1),
                                     {.device = on_device ? device : nullptr});
      ASSERT_TRUE(trainer.ok()) << trainer.status().to_string();
      while ((*trainer)->done() < 5) {
        const auto step = (*trainer)->step();
        ASSERT_TRUE(step.ok()) << step.status().to_string();
      }
      ASSERT_TRUE((*trainer)->sync().ok());
      digests[on_device] = (*trainer)->digest();
    }
    EXPECT_EQ(digests[0], digests[1]) << layer;
  }
}

}  // namespace
}  // namespace loom
