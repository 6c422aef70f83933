// Training that was silently something else: statistics of a single value (A6), probabilities that
// are none, classes and ids that nobody has (A3, A8).
#include <gtest/gtest.h>

#include "base/random.h"
#include "conformance/support.h"
#include "exec/session.h"
#include "train/data/data.h"
#include "train/judge/validation.h"
#include "train/trainer.h"

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
  const std::string flat =
      chain(R"({"width":3})",
            {R"("type":"dense","out":4)", R"("type":"batch_norm")", R"("type":"dense","out":1)"});
  for (const std::int64_t micro_batches : {1, 4}) {
    const std::string message = first_step(flat, 3, micro_batches, micro_batches);
    EXPECT_NE(message.find("batch_norm of cell 0.0.0.1"), std::string::npos) << message;
    EXPECT_NE(message.find("1 row with 1 value per channel"), std::string::npos) << message;
  }
  EXPECT_EQ(first_step(flat, 3, 2), "");
  EXPECT_EQ(first_step(flat, 3, 8, 4), "");
  const std::string places =
      chain(R"({"dims":[2,2,2]})", {R"("type":"batch_norm")", R"("type":"dense","out":1)"});
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
  const std::string message = refusal({0, 1, 0, 1, 1, 255, 0, 0}, {});
  EXPECT_NE(message.find("y, row 2, column 1 (from 0) is 255"), std::string::npos) << message;
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
  EXPECT_NE(refusal({9, 1, 0, 2, 1, 0, 0, 0}, heads).find("row 1, column 0 of 'b' (from 0) is 2"),
            std::string::npos);
  EXPECT_NE(refusal({9, 1, 0, __builtin_nanf(""), 1, 0, 0, 0}, heads)
                .find("y, row 1, column 0 of 'b' (from 0) is NaN"),
            std::string::npos);
}

// What a trainer says of classes for a network of two of them.
std::string class_refusal_of(const std::vector<std::int32_t>& classes, std::int64_t ignore) {
  const auto data = ArrayData::create(std::vector<float>(3 * classes.size(), 0.5f), 3, classes);
  TrainingSpec spec;
  spec.loss = Loss::cross_entropy;
  spec.ignore = ignore;
  spec.steps = 1;
  Network n = network_of(chain(R"({"width":3})", {R"("type":"dense","out":2)"}));
  ThreadPool pool(1);
  const auto trainer = Trainer::create(spec, n, **data, pool);
  return trainer.ok() ? std::string() : trainer.status().message();
}

// torch.nn.CrossEntropyLoss leaves out the class ignore_index, -100, alone: "Target -1 is out of
// bounds."
TEST(Findings, A3_OnlyOneClassIsLeftOut) {
  const std::string message = class_refusal_of({1, 0, -1, 1}, kIgnoredClass);
  EXPECT_NE(message.find("classes, row 2 is -1: a class is a whole number from 0 to 1, or -100"),
            std::string::npos)
      << message;
  EXPECT_NE(message.find("make labels -1 and +1 the classes 0 and 1"), std::string::npos)
      << message;
  EXPECT_EQ(class_refusal_of({1, 0, -100, 1}, kIgnoredClass), "");
  EXPECT_EQ(class_refusal_of({1, 0, -1, 1}, -1), "");
  EXPECT_EQ(class_refusal_of({1, 0, 255, 1}, 255), "");
  EXPECT_NE(class_refusal_of({1, 0, -100, 1}, 255).find("row 2 is -100"), std::string::npos);
  EXPECT_NE(class_refusal_of({1, 2}, kIgnoredClass).find("row 1 is 2"), std::string::npos);
}

// A row that is left out changes neither the mean nor a weight.
TEST(Findings, A3_WhatIsLeftOutDoesNotCount) {
  const auto digest = [](std::vector<float> x, std::vector<std::int32_t> classes,
                         std::int64_t ignore, double* loss) {
    const auto data = ArrayData::create(std::move(x), 1, std::move(classes));
    TrainingSpec spec;
    spec.loss = Loss::cross_entropy;
    spec.ignore = ignore;
    spec.steps = 1;
    spec.batch = (*data)->samples();
    spec.shuffle = false;
    Network n = network_of(chain(R"({"width":1})", {R"("type":"dense","out":2)"}));
    ThreadPool pool(1);
    auto trainer = Trainer::create(spec, n, **data, pool);
    EXPECT_TRUE(trainer.ok()) << trainer.status().to_string();
    auto step = (*trainer)->step();
    EXPECT_TRUE(step.ok()) << step.status().to_string();
    *loss = step->loss;
    return (*trainer)->digest();
  };
  double all = 0, some = 0;
  const std::string want = digest({1, 2, 3}, {0, 1, 1}, kIgnoredClass, &all);
  EXPECT_EQ(digest({1, 2, 3, 9}, {0, 1, 1, 255}, 255, &some), want);
  EXPECT_EQ(all, some);
}

TEST(Findings, A3_IgnoreIsOfClasses) {
  TrainingSpec spec;
  spec.steps = 1;
  spec.ignore = 255;
  EXPECT_NE(spec.check().message().find("\"ignore\" is a class: it goes with the loss"),
            std::string::npos);
  spec.loss = Loss::cross_entropy;
  EXPECT_TRUE(spec.check().ok()) << spec.check().to_string();
  EXPECT_NE(spec.to_json().dump().find("\"ignore\":255"), std::string::npos);
}

TEST(Findings, A8_ClassesOfHeadsAreWholeNumbersInRange) {
  const auto refusal = [](float second) {
    const auto data =
        ArrayData::create(std::vector<float>(6, 0.5f), 3, std::vector<float>{0, 1, 0, second}, 2);
    TrainingSpec spec;
    spec.heads = {{.name = "a", .columns = 1, .loss = Loss::mse},
                  {.name = "b", .columns = 2, .loss = Loss::cross_entropy}};
    spec.steps = 1;
    Network n = network_of(chain(R"({"width":3})", {R"("type":"dense","out":3)"}));
    ThreadPool pool(1);
    const auto trainer = Trainer::create(spec, n, **data, pool);
    return trainer.ok() ? std::string() : trainer.status().message();
  };
  for (const float good : {0.0f, 1.0f, -100.0f}) EXPECT_EQ(refusal(good), "") << good;
  for (const auto& [bad, text] :
       {std::pair{0.75f, "0.75"}, {2.0f, "2"}, {-1.0f, "-1"}, {4294967297.0f, "4294967296"}}) {
    const std::string message = refusal(bad);
    EXPECT_NE(message.find("y, row 1, column 0 of 'b' (from 0) is " + std::string(text)),
              std::string::npos)
        << message;
  }
  EXPECT_NE(refusal(std::numeric_limits<float>::quiet_NaN())
                .find("row 1, column 0 of 'b' (from 0) is NaN"),
            std::string::npos);
}

TEST(Findings, A8_IdsThatTheNetworkDoesNotTakeAreNamed) {
  const std::string topology =
      R"({"format":"loom-topology","version":2,"layers_per_cell":2,"input":{"ids":5,"dims":[2]},"cells":[
      {"at":[0,0,0,0],"type":"embedding","out":4},{"at":[0,0,0,1],"type":"dense","out":3}]})";
  const auto data = ArrayData::create(std::vector<std::uint32_t>{0, 1, 4, 5}, 2,
                                      std::vector<std::int32_t>{0, 1, 2, 0});
  TrainingSpec spec;
  spec.loss = Loss::cross_entropy;
  spec.steps = 1;
  Network n = network_of(topology);
  ThreadPool pool(1);
  const std::string message = Trainer::create(spec, n, **data, pool).status().message();
  EXPECT_NE(message.find("ids, row 1, column 1 (from 0) is 5: the network takes ids below 5"),
            std::string::npos)
      << message;
  // And by who learns without a trainer.
  auto learner = Learner::create(n, pool, {.loss = Loss::cross_entropy});
  ASSERT_TRUE(learner.ok()) << learner.status().to_string();
  const std::vector<std::uint32_t> good{0, 1}, bad{0, 7};
  const std::vector<std::int32_t> classes{0, 1}, none{0, 3};
  EXPECT_TRUE(learner->batch(std::span(good), std::span(classes)).ok());
  EXPECT_NE(learner->batch(std::span(bad), std::span(classes)).message().find("id 1 is 7"),
            std::string::npos);
  EXPECT_NE(learner->batch(std::span(good), std::span(none)).message().find("target 1 is 3"),
            std::string::npos);
}

// Rows of ids have no value that is not finite, but their targets may.
TEST(Findings, A2_TargetsOfIdsAreFinite) {
  const std::string topology =
      R"({"format":"loom-topology","version":2,"layers_per_cell":3,"input":{"ids":5,"dims":[2]},"cells":[
      {"at":[0,0,0,0],"type":"embedding","out":4},{"at":[0,0,0,1],"type":"flatten"},
      {"at":[0,0,0,2],"type":"dense","out":1}]})";
  const auto data =
      ArrayData::create(std::vector<std::uint32_t>{0, 1, 4, 3}, 2,
                        std::vector<float>{1, std::numeric_limits<float>::quiet_NaN()}, 1);
  ASSERT_TRUE(data.ok());
  TrainingSpec spec;
  spec.steps = 1;
  Network n = network_of(topology);
  ThreadPool pool(1);
  const std::string message = Trainer::create(spec, n, **data, pool).status().message();
  EXPECT_NE(message.find("y, row 1, column 0 (from 0) is NaN"), std::string::npos) << message;
}

// What an f32 network would take for 0 is refused by its column.
TEST(Findings, A5_ColumnsBelowWhatF32HoldsAreNamed) {
  const auto refusal = [](const std::string& first, const std::string& last, float x, float y) {
    std::vector<float> in, out;
    for (int i = 0; i < 4; ++i) {
      in.insert(in.end(), {static_cast<float>(i), x * static_cast<float>(i)});
      out.push_back(y * static_cast<float>(i));
    }
    const auto data = ArrayData::create(in, 2, out, 1);
    TrainingSpec spec;
    spec.steps = 1;
    Network n = network_of(
        chain(R"({"width":2})", {R"("type":"standardize")" + first, R"("type":"dense","out":1)",
                                 R"("type":"standardize")" + last}));
    ThreadPool pool(1);
    const auto trainer = Trainer::create(spec, n, **data, pool);
    return trainer.ok() ? std::string() : trainer.status().message();
  };
  const std::string f64 = R"(,"dtype":"f64")";
  EXPECT_EQ(refusal("", "", 1, 1), "");
  EXPECT_EQ(refusal("", "", 0, 0), "");
  std::string message = refusal("", "", 1e-13f, 1);
  EXPECT_NE(message.find("x, column 1 (from 0) is nowhere above"), std::string::npos) << message;
  message = refusal("", "", 1, 1e-13f);
  EXPECT_NE(message.find("y, column 0 (from 0) is nowhere above"), std::string::npos) << message;
  EXPECT_EQ(refusal(f64, f64, 1e-13f, 1e-13f), "");
}

// Cells of f64 take what comes as it is, and give it so: 64 numbers from 1e9 on were one answer.
TEST(Findings, A7_DoublesGoThroughAsTheyAre) {
  Network n = network_of(chain(R"({"width":1})", {R"("type":"standardize","dtype":"f64")",
                                                  R"("type":"dense","out":1,"dtype":"f64")"}));
  WeightStore* mean = n.find("0.0.0.0", "mean");
  ASSERT_TRUE(mean->master_is_f64());
  mean->mutable_master64()[0] = 1e9 + 1;
  mean->touch();
  WeightStore *weight = n.find("0.0.0.1", "weight"), *bias = n.find("0.0.0.1", "bias");
  ASSERT_TRUE(bias->master_is_f64());
  weight->mutable_master64()[0] = 1 + 0x1p-40;
  weight->touch();
  bias->mutable_master64()[0] = 1e9 + 7;
  bias->touch();
  ThreadPool pool(1);
  auto session = Session::create(n, pool);
  ASSERT_TRUE(session.ok()) << session.status().to_string();
  EXPECT_TRUE(session->takes_f64());
  std::vector<double> x;
  for (int i = 0; i < 64; ++i) x.push_back(1e9 + i);
  ASSERT_TRUE(session->run(std::span<const double>(x), 64).ok());
  for (int i = 0; i < 64; ++i) {
    EXPECT_EQ(session->output_f64(i)[0], (i - 1) * (1 + 0x1p-40) + (1e9 + 7)) << i;
    EXPECT_EQ(session->output(i)[0], static_cast<float>(session->output_f64(i)[0]));
  }
  // What is tiny is no 0, of f32 either.
  bias->mutable_master64()[0] = 0;
  mean->mutable_master64()[0] = 0;
  bias->touch();
  mean->touch();
  ASSERT_TRUE(session->refresh().ok());
  const float tiny = 1e-13f;
  ASSERT_TRUE(session->run(std::span<const float>(&tiny, 1), 1).ok());
  EXPECT_EQ(session->output(0)[0], static_cast<float>(static_cast<double>(tiny) * (1 + 0x1p-40)));
  // A network of f32 says that it takes f32.
  ASSERT_TRUE(n.morph({}).ok());
  auto plain = Session::create(n, pool);
  ASSERT_TRUE(plain.ok());
  EXPECT_FALSE(plain->takes_f64());
  EXPECT_NE(plain->run(std::span<const double>(x), 64).message().find("computes in f32"),
            std::string::npos);
}

}  // namespace
}  // namespace loom
