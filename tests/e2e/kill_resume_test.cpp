// A training killed with SIGKILL at random moments and resumed ends with the same bits as one that
// was left alone.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/random.h"
#include "train/checkpoint.h"

namespace loom {
namespace {

const char* const kDecoder =
    R"({"format":"loom-topology","version":1,"layers_per_cell":4,"input":{"ids":19},"cells":[
  {"at":[0,0,0,0],"type":"embedding","out":8,"std":0.3},
  {"at":[0,0,0,1],"type":"sequential","layers":[{"type":"sequential","layers":[{"type":"rms_norm"},{"type":"attention","heads":2,"kv_heads":1}]},{"type":"residual"},
     {"type":"sequential","layers":[{"type":"rms_norm"},{"type":"swiglu","hidden":12}]},{"type":"residual"}]},
  {"at":[0,0,0,2],"type":"rms_norm"},
  {"at":[0,0,0,3],"type":"dense","out":19,"bias":false,"tie":"0.0.0.0:weight"}]})";
const char* const kMlp =
    R"({"format":"loom-topology","version":1,"layers_per_cell":2,"input":{"width":3},"cells":[
  {"at":[0,0,0,0],"type":"dense","out":20,"activation":"silu"},{"at":[0,0,0,1],"type":"dense","out":2}]})";
const char* const kWide =
    R"({"format":"loom-topology","version":1,"layers_per_cell":2,"input":{"width":3},"cells":[
  {"at":[0,0,0,0],"type":"dense","out":9,"activation":"gelu_tanh","dtype":"f64"},{"at":[0,0,0,1],"type":"dense","out":2,"dtype":"f64"}]})";

struct Case {
  const char* name;
  const char* topology;
  OptimizerSpec optimizer;
};
const Case kCases[] = {
    {"decoder, adamw", kDecoder, {.weight_decay = 0.1, .clip_norm = 1}},
    {"mlp, sgd with momentum", kMlp, {.kind = OptimizerKind::sgd, .momentum = 0.9}},
    {"mlp, centered rmsprop",
     kMlp,
     {.kind = OptimizerKind::rmsprop, .momentum = 0.5, .centered = true}},
    {"decoder, lion", kDecoder, {.kind = OptimizerKind::lion, .weight_decay = 0.1}},
    {"f64 mlp, adamw", kWide, {}}};

TrainingSpec spec_of(const Case& c) {
  TrainingSpec spec;
  spec.network = *Json::parse(c.topology);
  spec.optimizer = c.optimizer;
  spec.loss = c.topology == kDecoder ? Loss::cross_entropy : Loss::mse;
  spec.schedule = {.kind = ScheduleKind::cosine, .rate = 0.01, .warmup = 5};
  spec.batch = 6;
  spec.micro_batches = 3;
  spec.steps = 60;
  spec.seed = 3;
  return spec;
}

std::unique_ptr<DataSource> data_of(const Case& c) {
  const RandomStream random(4, 0);
  if (c.topology == kDecoder) {
    std::vector<std::uint32_t> ids;
    for (std::uint64_t i = 0; i < 300; ++i) ids.push_back(random.below(i, 19));
    return std::move(*TokenData::create(std::move(ids), {}, 7));
  }
  std::vector<float> x, y;
  for (std::uint64_t i = 0; i < 50 * 3; ++i) x.push_back(random.uniform(i));
  for (std::uint64_t i = 0; i < 50 * 2; ++i) y.push_back(random.uniform(1000 + i));
  return std::move(*ArrayData::create(std::move(x), 3, std::move(y), 2));
}

// Trains to the end, from the file where there is one; saves after each step. The digest, or the
// error.
std::string train(const Case& c, const std::string& path, int wait_us) {
  const TrainingSpec spec = spec_of(c);
  const auto data = data_of(c);
  auto network = create_network(spec);
  if (!network.ok()) return network.status().to_string();
  ThreadPool pool(1);
  auto trainer = Trainer::create(spec, *network, *data, pool);
  if (!trainer.ok()) return trainer.status().to_string();
  if (!path.empty() && std::filesystem::exists(path)) {
    const Status s = resume_checkpoint(path, **trainer);
    if (!s.ok()) return s.to_string();
  }
  const Status s = (*trainer)->run([&](const StepReport&) -> Result<bool> {
    if (!path.empty()) LOOM_TRY(save_checkpoint(path, **trainer));
    if (wait_us > 0) ::usleep(static_cast<useconds_t>(wait_us));
    return true;
  });
  return s.ok() ? (*trainer)->digest() : s.to_string();
}

TEST(KillResume, EndsWithTheSameBits) {
  const auto folder =
      std::filesystem::temp_directory_path() / ("loom_kill_" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.name);
    const std::string want = train(c, "", 0), path = (folder / "t.entity").string();
    ASSERT_EQ(want.size(), 64u) << want;
    const char* more = std::getenv("LOOM_SOAK");
    const int kills = 20 * (more ? std::atoi(more) : 1);
    int killed = 0;
    std::string got;
    const RandomStream random(8, static_cast<std::uint64_t>(&c - kCases));
    // Kills at random moments; when the training came to its end first, it starts anew.
    for (std::uint64_t attempt = 0; killed < kills && attempt < 1000; ++attempt) {
      const pid_t child = ::fork();
      ASSERT_GE(child, 0);
      if (child == 0) {
        const std::string result = train(c, path, 300);
        std::ofstream(path + ".digest") << result;
        ::_exit(0);
      }
      ::usleep(static_cast<useconds_t>(random.below(attempt, 60000)));
      ::kill(child, SIGKILL);
      int status = 0;
      ASSERT_EQ(::waitpid(child, &status, 0), child);
      if (WIFSIGNALED(status)) {
        ++killed;
      } else {
        std::ifstream(path + ".digest") >> got;
        ASSERT_EQ(got, want);
        std::filesystem::remove(path);
      }
    }
    EXPECT_EQ(killed, kills);
    EXPECT_EQ(train(c, path, 0), want);
    std::filesystem::remove(path);
  }
  std::filesystem::remove_all(folder);
}

TEST(KillResume, RefusesAnotherTraining) {
  const std::string path = (std::filesystem::temp_directory_path() /
                            ("loom_other_" + std::to_string(::getpid()) + ".entity"))
                               .string();
  const Case& c = kCases[1];
  ASSERT_EQ(train(c, path, 0).size(), 64u);
  TrainingSpec spec = spec_of(c);
  spec.seed = 4;
  const auto data = data_of(c);
  auto network = create_network(spec);
  ThreadPool pool(1);
  auto trainer = Trainer::create(spec, *network, *data, pool);
  ASSERT_TRUE(trainer.ok());
  EXPECT_NE(resume_checkpoint(path, **trainer).message().find("\"seed\": 3, now 4"),
            std::string::npos);
  // A network without a training.
  ASSERT_TRUE(save_network(path, *network).ok());
  EXPECT_EQ(resume_checkpoint(path, **trainer).code(), Code::not_found);
  std::filesystem::remove(path);
}

// Cells of a packed type keep their masters in the file.
TEST(KillResume, PackedWeightsGoOnFromTheirMasters) {
  const std::string path = (std::filesystem::temp_directory_path() /
                            ("loom_packed_" + std::to_string(::getpid()) + ".entity"))
                               .string();
  const char* const mlp =
      R"({"format":"loom-topology","version":1,"layers_per_cell":2,"input":{"width":3},"cells":[
    {"at":[0,0,0,0],"type":"dense","out":20,"activation":"silu","dtype":"f16"},{"at":[0,0,0,1],"type":"dense","out":2,"dtype":"i16"}]})";
  const Case c{"f16 and i16", mlp, {}};
  const TrainingSpec spec = spec_of(c);
  const auto data = data_of(c);
  ThreadPool pool(1);
  auto network = create_network(spec);
  ASSERT_TRUE(network.ok()) << network.status().to_string();
  auto trainer = Trainer::create(spec, *network, *data, pool);
  ASSERT_TRUE(trainer.ok()) << trainer.status().to_string();
  for (int i = 0; i < 5; ++i) ASSERT_TRUE((*trainer)->step().ok());
  Status s = save_checkpoint(path, **trainer);
  ASSERT_TRUE(s.ok()) << s.to_string();
  for (int i = 0; i < 5; ++i) ASSERT_TRUE((*trainer)->step().ok());
  auto other = create_network(spec);
  auto resumed = Trainer::create(spec, *other, *data, pool);
  ASSERT_TRUE(resumed.ok());
  s = resume_checkpoint(path, **resumed);
  ASSERT_TRUE(s.ok()) << s.to_string();
  for (int i = 0; i < 5; ++i) ASSERT_TRUE((*resumed)->step().ok());
  EXPECT_EQ((*resumed)->digest(), (*trainer)->digest());
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace loom
