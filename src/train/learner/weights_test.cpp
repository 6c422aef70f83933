// Weights of samples and of classes: a step's loss is the mean by weights, as of
// torch.nn.CrossEntropyLoss(weight=); tests/parity/pytorch/torch_weights.py compares the curves.
#include <gtest/gtest.h>

#include "train/checkpoint.h"
#include "train/data/tensor_data.h"
#include "train/judge/validation.h"

namespace loom {
namespace {

constexpr std::int64_t kWidth = 3;

std::vector<float> inputs(std::size_t rows) {
  std::vector<float> x;
  for (std::size_t i = 0; i < rows * kWidth; ++i)
    x.push_back(static_cast<float>(i * 37 % 101) / 50 - 1);
  return x;
}

const std::vector<std::int32_t> kClasses = {0, 1, 2, 1, 1, 0, kIgnoredClass, 1, 2, 1, 0, 1};

TrainingSpec spec_of(const std::string& more = "") {
  const std::string text =
      R"({"format":"loom-training","version":2,"network":{"format":"loom-topology","version":1,)"
      R"("layers_per_cell":2,"input":{"width":3},"cells":[)"
      R"({"at":[0,0,0,0],"type":"dense","out":8,"activation":"tanh"},)"
      R"({"at":[0,0,0,1],"type":"dense","out":3}]},"loss":"cross_entropy","steps":6,"batch":4,)"
      R"("schedule":{"type":"constant","lr":0.05})" +
      more + "}";
  auto spec = parse_training_spec(std::string_view(text));
  EXPECT_TRUE(spec.ok()) << spec.status().to_string();
  return std::move(*spec);
}

std::shared_ptr<DataSource> classes_data(const std::vector<float>& weights = {}) {
  std::shared_ptr<DataSource> data =
      std::move(*ArrayData::create(inputs(kClasses.size()), kWidth, kClasses));
  if (weights.empty()) return data;
  auto made = WeightedData::create(data, weights);
  EXPECT_TRUE(made.ok()) << made.status().to_string();
  return std::move(*made);
}

struct Course {
  std::optional<Network> network;
  std::shared_ptr<DataSource> data;
  ThreadPool pool;
  std::unique_ptr<Trainer> trainer;
  Course(const TrainingSpec& spec, std::shared_ptr<DataSource> d, int threads = 1)
      : data(std::move(d)), pool(threads) {
    network = std::move(*create_network(spec));
    auto made = Trainer::create(spec, *network, *data, pool, {.poison = true});
    EXPECT_TRUE(made.ok()) << made.status().to_string();
    if (made.ok()) trainer = std::move(*made);
  }
  std::string digest(std::int64_t steps = 1000) {
    const Status s =
        trainer->run([&](const StepReport& r) -> Result<bool> { return r.step < steps; });
    EXPECT_TRUE(s.ok() || s.code() == Code::cancelled) << s.to_string();
    return trainer->digest();
  }
};

std::string refusal(const TrainingSpec& spec, const DataSource& data) {
  Network network = std::move(*create_network(spec));
  ThreadPool pool(1);
  const auto trainer = Trainer::create(spec, network, data, pool);
  return trainer.ok() ? std::string() : trainer.status().message();
}

TEST(Weights, OfAClassAreThoseOfItsSamples) {
  const double of_class[] = {3, 0.25, 1};
  std::vector<float> weights;
  for (const std::int32_t c : kClasses)
    weights.push_back(c < 0 ? 9 : static_cast<float>(of_class[c]));
  const std::string want =
      Course(spec_of(R"(,"class_weights":[3,0.25,1])"), classes_data()).digest();
  EXPECT_EQ(Course(spec_of(), classes_data(weights)).digest(), want);
  EXPECT_NE(Course(spec_of(), classes_data()).digest(), want);
  // Both multiply; ones change no bit; only proportions count, up to the last place.
  EXPECT_EQ(Course(spec_of(R"(,"class_weights":[1,1,1])"), classes_data()).digest(),
            Course(spec_of(), classes_data()).digest());
  for (float& w : weights) w *= 4;
  EXPECT_EQ(Course(spec_of(), classes_data(weights)).digest(), want);
}

TEST(Weights, ThreadsPausesAndResumingChangeNoBit) {
  const TrainingSpec spec = spec_of(R"(,"class_weights":"balanced","micro_batches":2)");
  const std::vector<float> weights = {1, 2, 0.5f, 1, 3, 1, 1, 0, 1, 2, 1, 1};
  const std::string want = Course(spec, classes_data(weights)).digest();
  for (const int threads : {2, 5})
    EXPECT_EQ(Course(spec, classes_data(weights), threads).digest(), want);
  Course first(spec, classes_data(weights)), second(spec, classes_data(weights));
  first.digest(3);
  ASSERT_TRUE(second.trainer->restore(first.trainer->state()).ok());
  EXPECT_EQ(second.digest(), want);
  // Other weights are another training.
  Course other(spec, classes_data(std::vector<float>(12, 1))),
      classes(spec_of(R"(,"class_weights":[1,2,3],"micro_batches":2)"), classes_data(weights));
  EXPECT_NE(other.trainer->restore(first.trainer->state()).message().find("with other data"),
            std::string::npos);
  EXPECT_NE(classes.trainer->restore(first.trainer->state()).message().find("\"class_weights\""),
            std::string::npos);
}

TEST(Weights, AreAMeanAndZeroIsNone) {
  TrainingSpec spec = spec_of();
  spec.batch = 4;
  spec.steps = 1;
  spec.shuffle = false;
  const auto loss = [&](const std::vector<float>& weights) {
    Course run(spec, classes_data(weights));
    const auto step = run.trainer->step();
    EXPECT_TRUE(step.ok()) << step.status().to_string();
    return step.ok() ? step->loss : 0;
  };
  double each[4], sum = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    std::vector<float> alone(12, 0);
    alone[i] = 1;
    each[i] = loss(alone);
  }
  const float weights[] = {1, 2, 0.5f, 0};
  for (std::size_t i = 0; i < 4; ++i) sum += static_cast<double>(weights[i]) * each[i];
  EXPECT_NEAR(loss({1, 2, 0.5f, 0, 1, 1, 1, 1, 1, 1, 1, 1}), sum / 3.5, 1e-6);
  Course none(spec, classes_data({0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1}));
  EXPECT_NE(none.trainer->step().status().message().find("all of its rows have the weight 0"),
            std::string::npos);
}

// sklearn.utils.class_weight.compute_class_weight("balanced") of 3, 6 and 2 rows.
TEST(Weights, BalancedIsResolved) {
  Course run(spec_of(R"(,"class_weights":"balanced")"), classes_data());
  const std::vector<double> weights = run.trainer->spec().weights_of_classes();
  ASSERT_EQ(weights.size(), 3u);
  EXPECT_DOUBLE_EQ(weights[0], 11.0 / 9);
  EXPECT_DOUBLE_EQ(weights[1], 11.0 / 18);
  EXPECT_DOUBLE_EQ(weights[2], 11.0 / 6);
}

TEST(Weights, MetricsSayThatTheyWeigh) {
  const TrainingSpec spec = spec_of(R"(,"class_weights":[3,0.25,1])");
  Course run(spec, classes_data());
  const auto judged = [&](const EvaluatorOptions& options, const DataSource& data) {
    auto evaluator = Evaluator::create(*run.network, data, run.pool, options);
    EXPECT_TRUE(evaluator.ok()) << evaluator.status().to_string();
    return *evaluator->measure();
  };
  EvaluatorOptions options = judging(*run.trainer, "");
  const Metrics weighed = judged(options, *run.data);
  options.class_weights.clear();
  const Metrics plain = judged(options, *run.data);
  std::vector<float> weights;
  for (const std::int32_t c : kClasses) weights.push_back(c == 0 ? 3 : c == 1 ? 0.25f : 1);
  const Metrics samples = judged(options, *classes_data(weights));
  EXPECT_TRUE(weighed.weighted && samples.weighted && !plain.weighted);
  EXPECT_EQ(weighed.loss, samples.loss);
  EXPECT_NE(weighed.loss, plain.loss);
  EXPECT_EQ(weighed.accuracy, plain.accuracy);
  EXPECT_EQ(weighed.rows, 11);
  EXPECT_TRUE(weighed.to_json().find("weighted") && !plain.to_json().find("weighted"));
  // The step's loss is the same mean.
  TrainingSpec all = spec;
  all.batch = 12;
  const auto step = Course(all, classes_data()).trainer->step();
  ASSERT_TRUE(step.ok());
  EXPECT_NEAR(step->loss, weighed.loss, 1e-6);
}

// Values, several heads, classes of steps, and tokens.
TEST(Weights, OfEveryLoss) {
  TrainingSpec spec = spec_of();
  spec.loss = Loss::huber;
  std::shared_ptr<DataSource> values =
      std::move(*ArrayData::create(inputs(8), kWidth, inputs(8), kWidth));
  const std::vector<float> weights = {1, 2, 1, 0, 3, 1, 1, 2}, ones(8, 1);
  const auto weighed = [&](const TrainingSpec& s, const std::vector<float>& w) {
    return Course(s, std::shared_ptr<DataSource>(std::move(*WeightedData::create(values, w))))
        .digest();
  };
  const std::string plain = Course(spec, values).digest();
  EXPECT_EQ(weighed(spec, ones), plain);
  EXPECT_NE(weighed(spec, weights), plain);
  TrainingSpec heads = spec;
  heads.loss = Loss::mse;
  heads.heads = {{.name = "a", .columns = 3, .loss = Loss::huber}};
  EXPECT_EQ(weighed(heads, weights), weighed(spec, weights));

  constexpr std::string_view kTokens =
      R"({"format":"loom-training","version":2,"network":{"format":"loom-topology","version":1,)"
      R"("layers_per_cell":2,"input":{"ids":7},"cells":[{"at":[0,0,0,0],"type":"embedding","out":4},)"
      R"({"at":[0,0,0,1],"type":"dense","out":7}]},"loss":"cross_entropy","steps":4,"batch":2})";
  auto tokens = parse_training_spec(kTokens);
  ASSERT_TRUE(tokens.ok()) << tokens.status().to_string();
  values = std::move(*TokenData::create({1, 2, 3, 4, 5, 6, 0, 1, 2}, {}, 4));
  EXPECT_EQ(weighed(*tokens, {1, 1}), Course(*tokens, values).digest());
  EXPECT_NE(weighed(*tokens, {1, 2}), Course(*tokens, values).digest());
}

TEST(Weights, RefusesWhatIsNone) {
  const auto data = classes_data();
  const auto wrong = [&](const std::vector<float>& weights) {
    return WeightedData::create(data, weights).status().message();
  };
  EXPECT_NE(wrong({1, 2}).find("a weight for each of 12 samples, got 2"), std::string::npos);
  std::vector<float> weights(12, 1);
  weights[5] = -1;
  EXPECT_NE(wrong(weights).find("sample 5 has -1"), std::string::npos) << wrong(weights);
  weights[5] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_NE(wrong(weights).find("sample 5 has "), std::string::npos) << wrong(weights);
  EXPECT_NE(wrong(std::vector<float>(12, 0)).find("all samples are 0"), std::string::npos);
  EXPECT_NE(refusal(spec_of(R"(,"class_weights":[1,2])"), *data)
                .find("\"class_weights\" has 2 weights, the network gives 3 logits"),
            std::string::npos);
  TrainingSpec spec = spec_of();
  for (const char* text : {R"("heavy")", "[1,-1,1]", "[0,0,0]", "[1,\"2\",3]", "3", "{}"}) {
    spec.class_weights = *Json::parse(text);
    EXPECT_NE(spec.check().message().find("expected \"balanced\", or a list"), std::string::npos)
        << text;
  }
  spec.class_weights = *Json::parse("[1,2,3]");
  spec.loss = Loss::mse;
  EXPECT_NE(spec.check().message().find("go with the loss \"cross_entropy\""), std::string::npos);
}

// A longer training is one training: order, noise, moments, and adapters too.
TEST(Extend, GivesTheBitsOfOneTraining) {
  for (const char* more : {"", R"(,"lora":{"rank":2})"}) {
    TrainingSpec spec = spec_of(more);
    const std::string want = Course(spec, classes_data()).digest();
    spec.steps = 2;
    Course run(spec, classes_data());
    run.digest();
    ASSERT_TRUE(run.trainer->extend(1, 0).ok());
    run.digest();
    // 12 samples by 4: three steps are one epoch.
    ASSERT_TRUE(run.trainer->extend(0, 1).ok());
    EXPECT_EQ(run.trainer->steps(), 6);
    EXPECT_EQ(run.digest(), want) << more;
  }
}

TEST(Extend, RefusesWhatHasAnEnd) {
  TrainingSpec spec = spec_of();
  spec.schedule = {.kind = ScheduleKind::cosine, .lr = 0.1, .steps = 8};
  Course run(spec, classes_data());
  EXPECT_TRUE(run.trainer->extend(2, 0).ok());
  EXPECT_NE(run.trainer->extend(1, 0).message().find(
                "the schedule \"cosine\" ends at step 8, this would be step 9"),
            std::string::npos);
  EXPECT_EQ(run.trainer->steps(), 8);
  for (const auto& [steps, epochs] : {std::pair<std::int64_t, std::int64_t>{0, 0}, {1, 1}, {-1, 0}})
    EXPECT_NE(run.trainer->extend(steps, epochs).message().find("either steps or epochs"),
              std::string::npos);
  Course plain(spec_of(), classes_data());
  EXPECT_NE(plain.trainer->extend(INT64_MAX, 0).message().find("more than 2^60"),
            std::string::npos);
}

// Batches that are given are steps as those that are read, whatever their size.
TEST(StepOn, GivesTheBitsOfDataInOrder) {
  for (const char* more : {"", R"(,"class_weights":[1,2,3])"}) {
    TrainingSpec spec = spec_of(more);
    spec.shuffle = false;
    const std::vector<float> all = inputs(12);
    const std::string want = Course(spec, classes_data()).digest();
    Course given(spec, classes_data());
    for (std::size_t step = 0; step < 6; ++step) {
      const std::size_t first = step % 3 * 4;
      const auto x = std::span(all).subspan(first * kWidth, 4 * kWidth);
      const auto c = std::span(kClasses).subspan(first, 4);
      const auto batch = ArrayData::create(std::vector<float>(x.begin(), x.end()), kWidth,
                                           std::vector<std::int32_t>(c.begin(), c.end()));
      ASSERT_TRUE(batch.ok());
      const auto report = given.trainer->step_on(**batch);
      ASSERT_TRUE(report.ok()) << report.status().to_string();
      EXPECT_EQ(report->rows, 4);
    }
    EXPECT_EQ(given.trainer->digest(), want);
  }
}

// One that is larger than those before, or the first with weights, takes another program with the
// same moments.
TEST(StepOn, TakesBatchesOfAnySize) {
  TrainingSpec spec = spec_of();
  spec.shuffle = false;
  const auto run = [&](std::int64_t room) {
    TrainingSpec s = spec;
    s.batch = room;
    Course course(s, classes_data());
    using Batch = std::pair<std::size_t, bool>;
    for (const auto& [rows, weighted] : {Batch{2, false}, {12, false}, {1, true}, {7, false}}) {
      const auto c = std::span(kClasses).first(rows);
      std::shared_ptr<const DataSource> batch = std::move(
          *ArrayData::create(inputs(rows), kWidth, std::vector<std::int32_t>(c.begin(), c.end())));
      if (weighted) batch = std::move(*WeightedData::create(batch, std::vector<float>(rows, 2)));
      const auto report = course.trainer->step_on(*batch);
      EXPECT_TRUE(report.ok()) << report.status().to_string();
    }
    return course.trainer->digest();
  };
  EXPECT_EQ(run(2), run(12));
}

TEST(StepOn, RefusesWhatDoesNotFit) {
  Course course(spec_of(), classes_data());
  const auto wide = ArrayData::create(inputs(2), 2, std::vector<std::int32_t>{0, 1, 1});
  EXPECT_NE(
      course.trainer->step_on(**wide).status().message().find("the data has rows of 2 values"),
      std::string::npos);
  const auto none = ArrayData::create(inputs(2), kWidth, std::vector<std::int32_t>{0, 3});
  EXPECT_NE(course.trainer->step_on(**none).status().message().find("classes, row 1 is 3"),
            std::string::npos);
  EXPECT_EQ(course.trainer->done(), 0);
  course.digest();
  EXPECT_NE(course.trainer->step_on(*course.data).status().message().find("all 6 steps are done"),
            std::string::npos);
  Course parts(spec_of(R"(,"micro_batches":2)"), classes_data());
  EXPECT_NE(parts.trainer->step_on(*parts.data).status().message().find("\"micro_batches\""),
            std::string::npos);
}

}  // namespace
}  // namespace loom
