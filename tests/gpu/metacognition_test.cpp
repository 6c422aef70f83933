// Rules on a device: the acts and the bits of the CPU.
#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "exec/metacognition/engine.h"
#include "exec/session.h"
#include "gpu/test_device.h"

namespace loom {
namespace {

struct Ran {
  std::string trace;
  std::vector<float> outputs;
};

Ran run(gpu::Device* device) {
  Ran ran;
  auto network = Network::from_json(std::string_view(
      R"({"format":"loom-topology","version":3,"depth":2,"input":{"width":33},"cells":[
        {"at":[0,0,0,0],"type":"metacognition","layers":[{"type":"dense","out":40,"activation":"relu"}],
         "rules":[{"when":"growth","above":1.2,"over":1,"do":"morph","dtype":"i4"},
                  {"when":"max","above":9,"do":"gate","factor":0.5},
                  {"when":"std","above":3,"do":"activation","activation":"silu"}]},
        {"at":[1,0,0,0],"type":"dense","out":7}]})"));
  EXPECT_TRUE(network.ok() && network->initialize(4).ok());
  ThreadPool pool(2);
  const SessionOptions options{.max_rows = 20, .device = device, .watch = true};
  std::optional<Session> session;
  const auto prepare = [&]() -> Status {
    LOOM_ASSIGN(Session made, Session::create(*network, pool, options));
    session.emplace(std::move(made));
    return {};
  };
  EXPECT_TRUE(prepare().ok());
  Metacognition engine(*network);
  for (int pass = 0; pass < 6; ++pass) {
    std::vector<float> x(20 * 33);
    for (std::size_t i = 0; i < x.size(); ++i)
      x[i] = (static_cast<float>(i % 31) / 8 - 2) * static_cast<float>(1 + pass * pass);
    const auto y = session->run(x, 20);
    EXPECT_TRUE(y.ok()) << y.status().to_string();
    for (std::int64_t r = 0; r < 20; ++r)
      ran.outputs.insert(ran.outputs.end(), session->output(r).begin(), session->output(r).end());
    if (!engine.passed(session->watched())) continue;
    const Status acted = engine.act(*network, prepare);
    EXPECT_TRUE(acted.ok()) << acted.to_string();
  }
  EXPECT_GE(engine.acts(), 3);
  ran.trace = engine.trace();
  return ran;
}

TEST(DeviceMetacognition, HasTheCpusTraceAndBits) {
  LOOM_TEST_DEVICE(device);
  const Ran here = run(nullptr), there = run(device);
  EXPECT_EQ(there.trace, here.trace);
  EXPECT_EQ(there.outputs, here.outputs);
}

}  // namespace
}  // namespace loom
