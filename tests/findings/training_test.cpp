// Training that was silently something else: statistics of a single value (A6), probabilities that
// are none (A8).
#include <gtest/gtest.h>

#include "base/random.h"
#include "conformance/support.h"
#include "train/data/data.h"
#include "train/trainer.h"
#include "train/validation.h"

namespace loom {
namespace {

using test::chain;

Network network_of(const std::string& topology) {
  auto n = Network::from_json(std::string_view(topology));
  EXPECT_TRUE(n.ok()) << n.status().to_string();
  EXPECT_TRUE(n->initialize(1).ok());
  return std::move(*n);
}

// What the first step of a training with such micro-batches says; "" where it is done.
std::string first_step(const std::string& topology, std::int64_t width, std::int64_t batch,
                       std::int64_t micro_batches = 1) {
  const RandomStream random(3, 1);
  std::vector<float> x, y;
  for (std::int64_t i = 0; i < 8 * width; ++i)
    x.push_back(random.uniform(static_cast<std::uint64_t>(i)));
  for (std::int64_t i = 0; i < 8; ++i) y.push_back(x[static_cast<std::size_t>(i * width)]);
  const auto data = ArrayData::create(x, width, y, 1);
  EXPECT_TRUE(data.ok());
  TrainingSpec spec;
  spec.batch = batch;
  spec.micro_batches = micro_batches;
  spec.steps = 2;
  Network n = network_of(topology);
  ThreadPool pool(1);
  auto trainer = Trainer::create(spec, n, **data, pool);
  EXPECT_TRUE(trainer.ok()) << trainer.status().to_string();
  if (!trainer.ok()) return "not made";
  const auto step = (*trainer)->step();
  return step.ok() ? std::string() : step.status().message();
}

// torch.nn.BatchNorm1d(4).train()(torch.zeros(1, 4)) raises "Expected more than 1 value per channel
// when training, got input size torch.Size([1, 4])"; BatchNorm2d of (1, 4, 2, 2) does not.
TEST(Findings, A6_BatchNormOfOneValueIsRefused) {
  const std::string flat = chain(R"({"width":3})", {R"("type":"dense","out":4)",
                                                    R"("type":"batch_norm")",
                                                    R"("type":"dense","out":1)"});
  for (const std::int64_t micro_batches : {1, 4}) {
    const std::string said = first_step(flat, 3, micro_batches, micro_batches);
    EXPECT_NE(said.find("batch_norm of cell 0.0.0.1"), std::string::npos) << said;
    EXPECT_NE(said.find("1 row with 1 value per channel"), std::string::npos) << said;
  }
  EXPECT_EQ(first_step(flat, 3, 2), "");
  EXPECT_EQ(first_step(flat, 3, 8, 4), "");
  const std::string places = chain(R"({"dims":[2,2,2]})", {R"("type":"batch_norm")",
                                                           R"("type":"dense","out":1)"});
  EXPECT_EQ(first_step(places, 8, 1), "");
}

// torch.nn.functional.binary_cross_entropy of such targets raises "all elements of target should be
// between 0 and 1"; with logits the loss has no lower bound.
TEST(Findings, A8_TargetsOfBceAreProbabilities) {
  const std::vector<float> x(12, 0.5f);
  auto refusal = [&](std::vector<float> y, const std::vector<HeadSpec>& heads) {
    const auto data = ArrayData::create(x, 3, std::move(y), 2);
    EXPECT_TRUE(data.ok());
    TrainingSpec spec;
    if (heads.empty()) spec.loss = Loss::bce;
    spec.heads = heads;
    spec.steps = 1;
    Network n = network_of(chain(R"({"width":3})", {R"("type":"dense","out":2)"}));
    ThreadPool pool(1);
    const auto trainer = Trainer::create(spec, n, **data, pool);
    return trainer.ok() ? std::string() : trainer.status().message();
  };
  EXPECT_EQ(refusal({0, 1, 0.5f, 1, 1, 0, 0, 0}, {}), "");
  const std::string said = refusal({0, 1, 0, 1, 1, 255, 0, 0}, {});
  EXPECT_NE(said.find("y, row 2, column 1 (from 0) is 255"), std::string::npos) << said;
  EXPECT_NE(refusal({0, 1, -0.25f, 1, 1, 0, 0, 0}, {}).find("row 1, column 0 (from 0) is -0.25"),
            std::string::npos);
  // Samples held back as well.
  const auto good = ArrayData::create(x, 3, std::vector<float>{0, 1, 0.5f, 1, 1, 0, 0, 0}, 2);
  const auto held = ArrayData::create(x, 3, std::vector<float>{0, 1, 0, 1, 1, 255, 0, 0}, 2);
  TrainingSpec spec;
  spec.loss = Loss::bce;
  spec.steps = 1;
  Network n = network_of(chain(R"({"width":3})", {R"("type":"dense","out":2)"}));
  ThreadPool pool(1);
  auto trainer = Trainer::create(spec, n, **good, pool);
  ASSERT_TRUE(trainer.ok()) << trainer.status().to_string();
  const std::string judged = Validation::create(**trainer, **held, pool).status().message();
  EXPECT_NE(judged.find("the samples held back: training: y, row 2, column 1 (from 0) is 255"),
            std::string::npos)
      << judged;
  // Of several heads those of "bce" alone.
  const std::vector<HeadSpec> heads{{.name = "a", .columns = 1, .loss = Loss::mse},
                                    {.name = "b", .columns = 1, .loss = Loss::bce}};
  EXPECT_EQ(refusal({9, 1, 0, 1, -9, 0, 0, 0}, heads), "");
  EXPECT_NE(refusal({9, 1, 0, 2, 1, 0, 0, 0}, heads).find("row 1, column 1 (from 0) is 2"),
            std::string::npos);
}

}  // namespace
}  // namespace loom
