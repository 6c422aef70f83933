// Ids beside values in a row: answers and what is learned, on a device as on the CPU.
#include <cstring>

#include "conformance/layer_samples.h"
#include "gpu/test_device.h"

namespace loom {
namespace {

constexpr std::string_view kNetwork =
    R"({"format":"loom-topology","version":3,"layers_per_cell":2,"input":{"parts":[{"name":"text","ids":5,"dims":[3]},{"name":"price","width":2}]},"cells":[
{"at":[0,0,0,0],"type":"parallel","layers":[{"type":"sequential","layers":[{"type":"part","of":"text"},{"type":"embedding","out":4,"std":1},{"type":"positions"},{"type":"flatten"}]},
{"type":"part","of":"price"}]},{"at":[0,0,0,1],"type":"dense","out":3}]})";

TEST(Parts, IdsBesideValuesGiveTheBitsOfTheCpu) {
  LOOM_TEST_DEVICE(device);
  const std::vector<float> x{0, 4, 2, 0.5f, -1, 3, 3, 1, 2, 0.25f, 1, 0, 4, -2, 1},
      y{1, 0, -1, 0.5f, 2, 1, 0, 0, 1};
  std::vector<std::vector<float>> answers, learned;
  for (const bool on_device : {false, true}) {
    auto n = Network::from_json(kNetwork);
    ASSERT_TRUE(n.ok()) << n.status().to_string();
    ASSERT_TRUE(n->initialize(3).ok());
    auto session = Session::create(*n, test::pool_of(1),
                                   {.max_rows = 4, .device = on_device ? device : nullptr});
    ASSERT_TRUE(session.ok()) << session.status().to_string();
    const auto out = session->run(x, 3);
    ASSERT_TRUE(out.ok()) << out.status().to_string();
    answers.emplace_back(out->begin(), out->end());
    EXPECT_EQ(session->run(std::vector<float>{0, 5, 2, 0, 0}, 1).status().code(),
              Code::out_of_range);
    LearnerOptions options{.max_rows = 4};
    options.device = on_device ? device : nullptr;
    auto learner = Learner::create(*n, test::pool_of(1), options);
    ASSERT_TRUE(learner.ok()) << learner.status().to_string();
    for (int step = 1; step <= 3; ++step) {
      ASSERT_TRUE(learner->batch(x, y).ok());
      ASSERT_TRUE(learner->accumulate().ok());
      ASSERT_TRUE(learner->update(0.1, 9, step).ok());
    }
    ASSERT_TRUE(learner->sync().ok());
    const auto table = n->find("0.0.0.0/0/1", "weight")->master();
    learned.emplace_back(table.begin(), table.end());
  }
  for (const auto* both : {&answers, &learned}) {
    ASSERT_EQ((*both)[0].size(), (*both)[1].size());
    EXPECT_EQ(std::memcmp((*both)[0].data(), (*both)[1].data(), (*both)[0].size() * sizeof(float)),
              0);
  }
}

}  // namespace
}  // namespace loom
