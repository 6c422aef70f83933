// Several losses at one output, and activations that are computed again for backward.
#include "conformance/support.h"
#include "train/trainer.h"

namespace loom {
namespace {

using test::chain;

const std::vector<HeadSpec> kHeads = {{"place", 2, Loss::mse, 1, 0.5},
                                      {"kind", 4, Loss::cross_entropy, 1, 2},
                                      {"size", 3, Loss::huber, 0.4, 1},
                                      {"flags", 2, Loss::bce, 1, 0.25}};

TEST(Heads, GradientsOfSeveralLosses) {
  test::check_gradients(
      chain(R"({"width":4})", {R"("type":"dense","out":7,"dtype":"f64","activation":"tanh")",
                               R"("type":"dense","dtype":"f64","out":11)"}),
      Loss::mse, 5, 1, [](Network&, LearnerOptions& options) { options.heads = kHeads; });
}

// A teacher's probabilities and a label for the same logits, behind another head.
std::vector<HeadSpec> distillation() {
  HeadSpec soft{"teacher", 7, Loss::soft_cross_entropy, 1, 0.7};
  soft.temperature = 3;
  HeadSpec hard{"labels", 0, Loss::cross_entropy, 1, 0.3};
  hard.same_columns = true;
  return {{"place", 4, Loss::mse, 1, 0.5}, soft, hard};
}

TEST(Heads, GradientsOfTwoLossesOfTheSameColumns) {
  test::check_gradients(
      chain(R"({"width":4})", {R"("type":"dense","out":7,"dtype":"f64","activation":"tanh")",
                               R"("type":"dense","dtype":"f64","out":11)"}),
      Loss::mse, 5, 1, [](Network&, LearnerOptions& options) { options.heads = distillation(); });
}

TrainingSpec spec_of(const std::string& topology) {
  TrainingSpec spec;
  spec.network = *Json::parse(topology);
  spec.steps = 6;
  spec.batch = 8;
  spec.schedule.lr = 0.01;
  return spec;
}

std::unique_ptr<DataSource> data_of(std::int64_t targets) {
  std::vector<float> x, y;
  const RandomStream random(2, 2);
  for (std::uint64_t i = 0; i < 30 * 4; ++i) x.push_back(2 * random.uniform(i) - 1);
  for (std::uint64_t i = 0; i < 30 * static_cast<std::uint64_t>(targets); ++i)
    y.push_back(static_cast<float>(random.below(1000 + i, 2)));
  return std::move(*ArrayData::create(std::move(x), 4, std::move(y), targets));
}

struct Outcome {
  std::string digest;
  std::vector<double> losses;
  std::vector<std::vector<double>> heads;
  std::int64_t arena = 0;
};
Outcome train(const TrainingSpec& spec, const DataSource& data, int threads = 1) {
  auto network = create_network(spec);
  EXPECT_TRUE(network.ok()) << network.status().to_string();
  ThreadPool pool(threads);
  auto trainer = Trainer::create(spec, *network, data, pool, {.poison = true});
  EXPECT_TRUE(trainer.ok()) << trainer.status().to_string();
  Outcome o;
  EXPECT_TRUE((*trainer)
                  ->run([&](const StepReport& r) -> Result<bool> {
                    o.losses.push_back(r.loss);
                    o.heads.push_back(r.heads);
                    return true;
                  })
                  .ok());
  o.digest = (*trainer)->digest();
  o.arena = (*trainer)->arena_bytes();
  return o;
}

const std::string kMlp = chain(R"({"width":4})", {R"("type":"dense","out":7,"activation":"tanh")",
                                                  R"("type":"dense","out":11)"});

TEST(Heads, LossIsTheWeightedSumOfTheirs) {
  TrainingSpec spec = spec_of(kMlp);
  spec.heads = kHeads;
  const auto data = data_of(8);
  const Outcome o = train(spec, *data);
  for (std::size_t s = 0; s < o.losses.size(); ++s) {
    ASSERT_EQ(o.heads[s].size(), kHeads.size());
    double sum = 0;
    for (std::size_t i = 0; i < kHeads.size(); ++i) sum += kHeads[i].weight * o.heads[s][i];
    EXPECT_NEAR(o.losses[s], sum, 1e-5 * sum);
  }
  EXPECT_LT(o.losses.back(), o.losses.front());
  EXPECT_EQ(train(spec, *data, 3).digest, o.digest);
}

// One head over all columns is the loss by itself.
TEST(Heads, OneHeadIsTheLoss) {
  TrainingSpec plain = spec_of(kMlp), head = plain;
  head.heads = {{"", 11, Loss::mse, 1, 1}};
  const auto data = data_of(11);
  EXPECT_EQ(train(head, *data).digest, train(plain, *data).digest);
}

// Two losses of all columns, weighted, are one of their sum.
TEST(Heads, TwoLossesOfTheSameColumnsAddUp) {
  TrainingSpec once = spec_of(kMlp), twice = once;
  once.heads = {{"", 11, Loss::mse, 1, 1}};
  twice.heads = {{"", 11, Loss::mse, 1, 0.5}, {"", 11, Loss::mse, 1, 0.5}};
  twice.heads[1].same_columns = true;
  std::vector<float> x, y, both;
  const RandomStream random(2, 3);
  for (std::uint64_t i = 0; i < 30 * 4; ++i) x.push_back(random.uniform(i));
  for (std::uint64_t i = 0; i < 30; ++i) {
    for (std::uint64_t c = 0; c < 11; ++c) y.push_back(random.uniform(1000 + i * 11 + c));
    for (int head = 0; head < 2; ++head) both.insert(both.end(), y.end() - 11, y.end());
  }
  const auto of_one = std::move(*ArrayData::create(std::vector<float>(x), 4, std::move(y), 11));
  const auto of_both = std::move(*ArrayData::create(std::move(x), 4, std::move(both), 22));
  const Outcome a = train(once, *of_one), b = train(twice, *of_both);
  EXPECT_EQ(a.digest, b.digest);
  for (std::size_t s = 0; s < a.losses.size(); ++s) EXPECT_EQ(b.heads[s][0], b.heads[s][1]);
}

TEST(Heads, RefusesWhatDoesNotFit) {
  TrainingSpec spec = spec_of(kMlp);
  Network network = std::move(*create_network(spec));
  ThreadPool pool(1);
  auto message = [&](const std::vector<HeadSpec>& heads, std::int64_t targets) {
    spec.heads = heads;
    const auto data = data_of(targets);
    const auto trainer = Trainer::create(spec, network, *data, pool);
    return trainer.ok() ? (*trainer)->step().status().message() : trainer.status().message();
  };
  EXPECT_NE(
      message({{"", 5, Loss::mse, 1, 1}}, 5).find("the heads have 5 columns, the network gives 11"),
      std::string::npos);
  EXPECT_NE(message(kHeads, 9).find("the heads take 8 target values per row, the data has 9"),
            std::string::npos);
  EXPECT_NE(message({{"", 11, Loss::mse, 1, -1}}, 11).find("weight"), std::string::npos);
  std::vector<HeadSpec> same = {{"", 11, Loss::mse, 1, 1}, {"", 5, Loss::mse, 1, 1}};
  same[1].same_columns = true;
  EXPECT_NE(message(same, 22).find("5 columns, and by \"same_columns\" the 11 of the head before"),
            std::string::npos);
  same.erase(same.begin());
  EXPECT_NE(message(same, 5).find("\"same_columns\" has no head before it"), std::string::npos);
  auto classes = ArrayData::create(std::vector<float>(8, 0.5f), 4, std::vector<float>{0, 11}, 1);
  spec.heads = {{"kind", 11, Loss::cross_entropy, 1, 1}};
  auto trainer = Trainer::create(spec, network, **classes, pool);
  const std::string text = trainer.status().message();
  EXPECT_NE(text.find("y, row 1, column 0 (from 0) is 11: a class is a whole number from 0 to 10"),
            std::string::npos)
      << text;
}

TEST(Recompute, SameBitsInLessMemory) {
  std::string block =
      R"("type":"sequential","layers":[{"type":"sequential","layers":[{"type":"layer_norm"},{"type":"dense","out":64,"activation":"gelu_erf"},{"type":"dropout","rate":0.2},{"type":"dense","out":16}]},{"type":"residual"}])";
  TrainingSpec spec = spec_of(
      chain(R"({"width":4})",
            {R"("type":"dense","out":16)", block, block, R"("type":"dense","out":16,"dtype":"i8")",
             R"("type":"batch_norm")", block, block, R"("type":"dense","out":3)"}));
  spec.batch = 256;
  const auto data = data_of(3);
  for (const std::int64_t micro : {1, 4}) {
    spec.micro_batches = micro;
    spec.checkpoint = false;
    const Outcome kept = train(spec, *data);
    spec.checkpoint = true;
    const Outcome again = train(spec, *data);
    EXPECT_EQ(again.losses, kept.losses);
    EXPECT_EQ(again.digest, kept.digest);
    EXPECT_LT(static_cast<double>(again.arena), 0.75 * static_cast<double>(kept.arena)) << micro;
  }
}

TEST(Recompute, SameBitsOfADecoder) {
  const std::string block =
      R"("type":"sequential","layers":[{"type":"sequential","layers":[{"type":"rms_norm"},{"type":"attention","heads":2}]},{"type":"residual"},
    {"type":"sequential","layers":[{"type":"rms_norm"},{"type":"swiglu","hidden":40}]},{"type":"residual"}])";
  TrainingSpec spec =
      spec_of(chain(R"({"ids":13})",
                    {R"("type":"embedding","out":16)", block, block, block, R"("type":"rms_norm")",
                     R"("type":"dense","out":13,"bias":false,"tie":"0.0.0.0:weight")"}));
  spec.loss = Loss::cross_entropy;
  std::vector<std::uint32_t> ids;
  for (std::uint32_t i = 0; i < 400; ++i) ids.push_back((i * i + i / 7) % 13);
  const auto data = std::move(*TokenData::create(std::move(ids), {}, 24));
  const Outcome kept = train(spec, *data);
  spec.checkpoint = true;
  const Outcome again = train(spec, *data);
  EXPECT_EQ(again.digest, kept.digest);
  EXPECT_LT(static_cast<double>(again.arena), 0.7 * static_cast<double>(kept.arena));
}

}  // namespace
}  // namespace loom
