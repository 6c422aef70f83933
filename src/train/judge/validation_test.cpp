#include "train/judge/validation.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "train/checkpoint.h"
#include "train/data/tensor_data.h"

namespace loom {
namespace {

constexpr std::string_view kSpec =
    R"({"format":"loom-training","version":2,"network":{"format":"loom-topology","version":1,"layers_per_cell":2,"input":{"width":3},"cells":[
  {"at":[0,0,0,0],"type":"dense","out":40,"activation":"relu"},{"at":[0,0,0,1],"type":"dense","out":1}]},
  "optimizer":{"type":"rmsprop","centered":true},"schedule":{"type":"constant","lr":0.01},"validation":{"share":0.25,"every":5,"patience":6},"steps":400,"batch":8})";

struct Course {
  TrainingSpec spec;
  std::unique_ptr<DataSource> whole;
  Split split_;
  std::optional<Network> network;
  ThreadPool pool{1};
  std::unique_ptr<Trainer> trainer;
  std::unique_ptr<Validation> validation;

  explicit Course() : spec(*parse_training_spec(kSpec)) {
    // Few samples and much noise: the best network comes early.
    const RandomStream random(3, 1);
    std::vector<float> x, y;
    for (std::uint64_t i = 0; i < 40 * 3; ++i) x.push_back(random.uniform(i));
    for (std::uint64_t i = 0; i < 40; ++i) y.push_back(x[3 * i] + random.uniform(1000 + i));
    whole = std::move(*ArrayData::create(std::move(x), 3, std::move(y), 1));
    split_ = std::move(*split(*whole, spec.validation.share, 0));
    network = std::move(*create_network(spec));
    auto made = Trainer::create(spec, *network, *split_.learned, pool, {.judged = true});
    EXPECT_TRUE(made.ok()) << made.status().to_string();
    trainer = std::move(*made);
    validation = std::move(*Validation::create(*trainer, *split_.held_back, pool));
  }
  // Up to `steps` steps; the losses of what was held back.
  std::vector<double> go(std::int64_t steps) {
    std::vector<double> losses;
    const Status s = trainer->run([&](const StepReport& r) -> Result<bool> {
      if (validation->due()) {
        LOOM_ASSIGN(const Metrics m, validation->judge());
        losses.push_back(m.loss);
      }
      return r.step < steps && !validation->spent();
    });
    EXPECT_TRUE(s.ok() || s.code() == Code::cancelled) << s.to_string();
    return losses;
  }
};

// Two outputs by name: each is judged, and the sum of their losses by their weights decides.
TEST(Validation, JudgesEachOutput) {
  constexpr std::string_view kTwo =
      R"({"format":"loom-training","version":2,"network":{"format":"loom-topology","version":3,)"
      R"("layers_per_cell":3,"input":{"width":3},"outputs":["kind","size"],"cells":[)"
      R"({"at":[0,0,0,0],"type":"dense","out":3},)"
      R"({"at":[0,0,0,1],"type":"dense","out":1,"links":[{"read":[0,0,0,0]}]},)"
      R"({"at":[0,0,0,2],"merge":"operands","links":[{"read":[0,0,0,0]},{"read":[0,0,0,1]}]}]},)"
      R"("heads":[{"name":"kind","loss":"cross_entropy"},{"name":"size","loss":"mae","weight":2}],)"
      R"("validation":{"share":0.25,"every":5},"steps":10,"batch":8})";
  const auto spec = parse_training_spec(kTwo);
  ASSERT_TRUE(spec.ok()) << spec.status().to_string();
  std::vector<float> x, y;
  for (int i = 0; i < 120; ++i) x.push_back(static_cast<float>(i * 37 % 101) / 50 - 1);
  for (int i = 0; i < 40; ++i) y.push_back(i % 5 == 0 ? -100.0f : i % 3), y.push_back(0.25f);
  const auto data = ArrayData::create(x, 3, y, 2);
  const auto halves = split(**data, spec->validation.share, 0);
  ASSERT_TRUE(halves.ok());
  auto network = create_network(*spec);
  ASSERT_TRUE(network.ok());
  ThreadPool pool(1);
  auto trainer = Trainer::create(*spec, *network, *halves->learned, pool, {.judged = true});
  ASSERT_TRUE(trainer.ok()) << trainer.status().to_string();
  auto validation = Validation::create(**trainer, *halves->held_back, pool);
  ASSERT_TRUE(validation.ok()) << validation.status().to_string();
  const auto metrics = (*validation)->judge();
  ASSERT_TRUE(metrics.ok()) << metrics.status().to_string();
  ASSERT_EQ(metrics->heads.size(), 2u);
  EXPECT_EQ(metrics->heads[0].name, "kind");
  EXPECT_LT(metrics->heads[0].rows, 10);  // some have no class
  EXPECT_EQ(metrics->heads[1].rows, 10);
  EXPECT_EQ(metrics->loss, metrics->heads[0].loss + 2 * metrics->heads[1].loss);
  EXPECT_NE(metrics->to_text().find("  kind: loss "), std::string::npos) << metrics->to_text();

  auto other = *spec;
  std::swap(other.heads[0], other.heads[1]);
  const auto refused = Trainer::create(other, *network, **data, pool, {.judged = true});
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.status().message().find("the outputs kind, size"), std::string::npos);
}

TEST(Validation, StopsEarlyAndKeepsTheBest) {
  Course run;
  const std::vector<double> losses = run.go(400);
  const auto best = std::min_element(losses.begin(), losses.end());
  EXPECT_TRUE(run.validation->spent());
  EXPECT_LT(run.trainer->done(), 400);
  EXPECT_EQ(run.validation->best.loss, *best);
  EXPECT_EQ(run.validation->best.step, 5 * (best - losses.begin() + 1));
  EXPECT_EQ(run.trainer->done(), run.validation->best.step + 5 * 6);

  // The file's network is the best one, and it judges so.
  std::vector<std::byte> file;
  ASSERT_TRUE(save_checkpoint(&file, *run.trainer, {}, &run.validation->best).ok());
  const auto entity = Entity::open(source_from_bytes(file, "file"));
  ASSERT_TRUE(entity.ok());
  auto kept = load_network(*entity);
  ASSERT_TRUE(kept.ok()) << kept.status().to_string();
  auto evaluator = Evaluator::create(*kept, *run.split_.held_back, run.pool, {});
  ASSERT_TRUE(evaluator.ok());
  EXPECT_EQ(evaluator->measure()->loss, *best);
}

TEST(Validation, ResumesWithTheSameBits) {
  Course whole;
  const std::vector<double> want = whole.go(400);
  for (const std::int64_t cut : {3, 20, 33}) {
    Course first;
    std::vector<double> losses = first.go(cut);
    std::vector<std::byte> file;
    ASSERT_TRUE(save_checkpoint(&file, *first.trainer, {}, &first.validation->best).ok());
    Course second;
    const Status s = resume_checkpoint(source_from_bytes(file, "file"), *second.trainer,
                                       &second.validation->best);
    ASSERT_TRUE(s.ok()) << s.to_string();
    EXPECT_EQ(second.trainer->done(), cut);
    EXPECT_EQ(second.trainer->digest(), first.trainer->digest());
    const std::vector<double> rest = second.go(400);
    losses.insert(losses.end(), rest.begin(), rest.end());
    EXPECT_EQ(losses, want) << "cut at " << cut;
    EXPECT_EQ(second.trainer->digest(), whole.trainer->digest());
    std::vector<std::byte> a, b;
    ASSERT_TRUE(save_checkpoint(&a, *whole.trainer, {}, &whole.validation->best).ok());
    ASSERT_TRUE(save_checkpoint(&b, *second.trainer, {}, &second.validation->best).ok());
    EXPECT_EQ(a, b) << "cut at " << cut;
  }
}

TEST(Validation, NeedsSomebodyWhoJudges) {
  Course run;
  const auto refused = Trainer::create(run.spec, *run.network, *run.whole, run.pool);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.status().message().find("\"validation\""), std::string::npos);
}

}  // namespace
}  // namespace loom
