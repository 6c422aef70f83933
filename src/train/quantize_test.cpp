// "quantize" of the training spec: weights learned in the dtype in which they will run.
#include <gtest/gtest.h>

#include "base/random.h"
#include "train/checkpoint.h"
#include "train/judge/validation.h"

namespace loom {
namespace {

constexpr std::string_view kSpec =
    R"({"format":"loom-training","version":2,"network":{"format":"loom-topology","version":1,"layers_per_cell":3,"input":{"width":5},"cells":[
  {"at":[0,0,0,0],"type":"dense","out":33,"activation":"relu"},{"at":[0,0,0,1],"type":"dense","out":17,"activation":"relu"},{"at":[0,0,0,2],"type":"dense","out":2}]},
  "optimizer":{"type":"adamw"},"schedule":{"type":"constant","lr":0.003},"steps":40,"batch":8)";

TrainingSpec spec_with(const std::string& quantize, const std::string& cells = "") {
  std::string text(kSpec);
  if (!cells.empty())
    for (std::size_t at = 0; (at = text.find("\"type\":\"dense\"", at)) != std::string::npos;
         at += cells.size() + 15)
      text.insert(at, "\"dtype\":\"" + cells + "\",");
  auto spec = parse_training_spec(
      std::string_view(text += quantize.empty() ? "}" : ",\"quantize\":" + quantize + "}"));
  EXPECT_TRUE(spec.ok()) << spec.status().to_string();
  return std::move(*spec);
}

std::unique_ptr<DataSource> data() {
  const RandomStream random(4, 1);
  std::vector<float> x, y;
  for (std::uint64_t i = 0; i < 64 * 5; ++i) x.push_back(2 * random.uniform(i) - 1);
  for (std::size_t r = 0; r < 64; ++r)
    for (std::size_t t = 0; t < 2; ++t) y.push_back(x[r * 5 + t] * x[r * 5 + t + 2]);
  return std::move(*ArrayData::create(std::move(x), 5, std::move(y), 2));
}

struct Course {
  std::unique_ptr<DataSource> samples = data();
  std::optional<Network> network;
  ThreadPool pool{1};
  std::unique_ptr<Trainer> trainer;

  explicit Course(const TrainingSpec& spec) : network(std::move(*create_network(spec))) {
    auto made = Trainer::create(spec, *network, *samples, pool, {.judged = true, .poison = true});
    EXPECT_TRUE(made.ok()) << made.status().to_string();
    trainer = std::move(*made);
  }
  std::vector<double> go(std::int64_t until) {
    std::vector<double> losses;
    while (trainer->done() < until) {
      const auto r = trainer->step();
      EXPECT_TRUE(r.ok()) << r.status().to_string();
      losses.push_back(r.ok() ? r->loss : -1);
    }
    return losses;
  }
  std::string format(const char* path) const {
    return to_string(const_cast<Network&>(*network).find(path, "weight")->format());
  }
};

// It is what a network does whose cells have the dtype.
TEST(Quantize, LearnsAsCellsOfTheDtypeDo) {
  for (const char* dtype :
       {"ternary", "binary", "i2", "i4", "i8:block16", "fp4", "fp8e4m3", "bf16", "u16"}) {
    SCOPED_TRACE(dtype);
    Course cells(spec_with("", dtype)),
        spec(spec_with("{\"dtype\":\"" + std::string(dtype) + "\"}")), plain(spec_with(""));
    const std::vector<double> losses = spec.go(40);
    EXPECT_EQ(losses, cells.go(40));
    EXPECT_EQ(spec.trainer->digest(), cells.trainer->digest());
    EXPECT_NE(losses, plain.go(40));
    EXPECT_EQ(spec.format("0.0.0.1"), dtype);
    EXPECT_LT(losses.back(), losses.front());
  }
}

TEST(Quantize, KeepsCellsThatItIsTold) {
  Course run(spec_with(R"({"dtype":"binary","keep":["first","0.0.0.2"]})"));
  run.go(3);
  EXPECT_EQ(run.format("0.0.0.0"), "f32");
  EXPECT_EQ(run.format("0.0.0.1"), "binary");
  EXPECT_EQ(run.format("0.0.0.2"), "f32");
}

// The first steps are those of f32; after them the file and what is judged have the dtype, and a
// resumed training has the same bits on either side.
TEST(Quantize, BeginsLater) {
  const TrainingSpec spec = spec_with(R"({"dtype":"ternary","after":20,"keep":["last"]})");
  Course whole(spec), plain(spec_with(""));
  std::vector<double> first = whole.go(20);
  EXPECT_EQ(first, plain.go(20));
  EXPECT_FALSE(whole.trainer->quantized());
  EXPECT_EQ(whole.format("0.0.0.0"), "f32");
  const std::vector<double> rest = whole.go(40);
  EXPECT_NE(rest, plain.go(40));
  EXPECT_EQ(whole.format("0.0.0.0"), "ternary");
  EXPECT_EQ(whole.format("0.0.0.2"), "f32");
  for (const std::int64_t cut : {7, 19, 20, 21, 33}) {
    SCOPED_TRACE(cut);
    Course half(spec), again(spec);
    half.go(cut);
    std::vector<std::byte> file;
    ASSERT_TRUE(save_checkpoint(&file, *half.trainer).ok());
    const Status resumed = resume_checkpoint(source_from_bytes(file, "half"), *again.trainer);
    ASSERT_TRUE(resumed.ok()) << resumed.to_string();
    EXPECT_EQ(again.trainer->digest(), half.trainer->digest());
    again.go(40);
    EXPECT_EQ(again.trainer->digest(), whole.trainer->digest());
    // And back: a trainer that is further takes the earlier state.
    ASSERT_TRUE(resume_checkpoint(source_from_bytes(file, "half"), *again.trainer).ok());
    again.go(40);
    EXPECT_EQ(again.trainer->digest(), whole.trainer->digest());
  }
}

TEST(Quantize, TheBestIsOneOfItsOwn) {
  TrainingSpec spec = spec_with(R"({"dtype":"binary","after":20})");
  spec.validation = {.share = 0.25, .every = 5, .patience = 1};
  Course run(spec);
  auto validation = Validation::create(*run.trainer, *run.samples, run.pool);
  ASSERT_TRUE(validation.ok());
  double before = 0;
  while (run.trainer->done() < 40) {
    ASSERT_TRUE(run.trainer->step().ok());
    if (!(*validation)->due()) continue;
    ASSERT_TRUE((*validation)->judge().ok());
    if (run.trainer->done() == 20) before = (*validation)->best.loss;
    EXPECT_TRUE(run.trainer->done() > 20 || !(*validation)->spent());
  }
  EXPECT_GT((*validation)->best.step, 20);
  EXPECT_NE((*validation)->best.loss, before);
}

TEST(Quantize, WrongValuesAreRefused) {
  const auto refusal = [](const std::string& quantize) {
    const std::string text = std::string(kSpec) + ",\"quantize\":" + quantize + "}";
    return parse_training_spec(std::string_view(text)).status().message();
  };
  EXPECT_NE(refusal(R"({"dtype":"i3"})").find("quantize: 'i3' is not a weight format"),
            std::string::npos)
      << refusal(R"({"dtype":"i3"})");
  EXPECT_NE(refusal(R"({"dtype":"f64"})").find("a cell learns in f64 as it is"), std::string::npos);
  EXPECT_NE(refusal(R"({"dtype":"f32"})").find("a cell learns in f32 as it is"), std::string::npos);
  EXPECT_NE(refusal(R"({"dtype":"i8","after":40})").find("\"after\" must be below \"steps\""),
            std::string::npos);
  EXPECT_NE(refusal(R"({"dtype":"i8","after":-1})")
                .find("quantize: \"after\" must be in 0..1099511627776, got -1"),
            std::string::npos);
  EXPECT_NE(refusal(R"({"after":3})").find("give a \"dtype\""), std::string::npos);
  EXPECT_NE(refusal(R"({"dtype":"i8","from":3})")
                .find("quantize: unknown key \"from\": known are dtype, keep, after"),
            std::string::npos);
  EXPECT_NE(refusal(R"({"dtype":7})").find("\"dtype\""), std::string::npos);
  EXPECT_NE(refusal(R"({"dtype":"i8"},"lora":{"rank":2})").find("beside \"lora\""),
            std::string::npos);
  auto created = [](const std::string& quantize) {
    const TrainingSpec spec = spec_with(quantize);
    auto network = create_network(spec);
    ThreadPool pool(1);
    const auto samples = data();
    return Trainer::create(spec, *network, *samples, pool).status().message();
  };
  EXPECT_NE(
      created(R"({"dtype":"i8","keep":["0.0.0.9"]})")
          .find("\"0.0.0.9\" is no cell with matrices: expects first, last, or a path as 0.0.0.0"),
      std::string::npos);
  EXPECT_NE(
      created(R"({"dtype":"i8","keep":["first","0.0.0.1","last"]})").find("no matrix is left"),
      std::string::npos);
}

}  // namespace
}  // namespace loom
