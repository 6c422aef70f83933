// A training killed at random moments and resumed ends with the same bits as one that was left
// alone.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

#include "base/random.h"
#include "e2e/process.h"
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
// Networks that go on from the state of the window before.
const char* const kOverRows = R"({"format":"loom-topology","version":3,"layers_per_cell":3,
  "input":{"ids":19},"cells":[
  {"at":[0,0,0,0],"type":"embedding","out":6,"std":0.3},
  {"at":[0,0,0,1],"type":"lstm","hidden":7,"num_layers":2},
  {"at":[0,0,0,2],"type":"dense","out":19}]})";
const char* const kInRows = R"({"format":"loom-topology","version":3,"layers_per_cell":2,
  "input":{"dims":[3,1]},"cells":[
  {"at":[0,0,0,0],"type":"gru","hidden":5,"output":"last","stateful":true,"dtype":"f64"},
  {"at":[0,0,0,1],"type":"dense","out":2,"dtype":"f64"}]})";

struct Case {
  const char* name;
  const char* topology;
  OptimizerSpec optimizer;
  std::int64_t streams = 0;
  bool of_ids() const { return topology == kDecoder || topology == kOverRows; }
};
const Case kCases[] = {
    {"decoder, adamw", kDecoder, {.weight_decay = 0.1, .clip_norm = 1}},
    {"mlp, sgd with momentum", kMlp, {.kind = OptimizerKind::sgd, .momentum = 0.9}},
    {"mlp, centered rmsprop",
     kMlp,
     {.kind = OptimizerKind::rmsprop, .momentum = 0.5, .centered = true}},
    {"decoder, lion", kDecoder, {.kind = OptimizerKind::lion, .weight_decay = 0.1}},
    {"f64 mlp, adamw", kWide, {}},
    {"streams of ids, lstm", kOverRows, {.clip_norm = 1}, 6},
    {"streams of values, f64 gru", kInRows, {}, 6}};

TrainingSpec spec_of(const Case& c) {
  TrainingSpec spec;
  spec.network = *Json::parse(c.topology);
  spec.optimizer = c.optimizer;
  spec.loss = c.of_ids() ? Loss::cross_entropy : Loss::mse;
  spec.streams = c.streams;
  spec.shuffle = c.streams == 0;
  spec.schedule = {.kind = ScheduleKind::cosine, .lr = 0.01, .warmup = 5};
  spec.batch = 6;
  spec.micro_batches = 3;
  spec.steps = 60;
  spec.seed = 3;
  return spec;
}

std::unique_ptr<DataSource> data_of(const Case& c) {
  const RandomStream random(4, 0);
  if (c.of_ids()) {
    std::vector<std::uint32_t> ids;
    for (std::uint64_t i = 0; i < 300; ++i) ids.push_back(random.below(i, 19));
    std::vector<std::uint64_t> ends;
    if (c.streams > 0) ends = {90, 200, 300};
    return std::move(*TokenData::create(std::move(ids), ends, 7));
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

// What `loom train` gives at the end.
std::string digest_of(const test::Outcome& outcome) {
  const std::size_t at = outcome.err.rfind("sha256 ");
  return at == std::string::npos ? outcome.err : outcome.err.substr(at + 7, 64);
}

// Starts the program, and ends it with a signal after so many microseconds; false: it was faster.
bool stop_program(const std::vector<std::string>& args, int number, std::uint32_t wait_us) {
  const std::string path = test::program();
  std::vector<char*> argv{const_cast<char*>(path.c_str())};
  for (const std::string& a : args) argv.push_back(const_cast<char*>(a.c_str()));
  argv.push_back(nullptr);
  const pid_t child = ::fork();
  if (child == 0) {
    ::setenv("LOOM_THREADS", "1", 1);
    for (const int s : {SIGINT, SIGTERM, SIGHUP}) ::signal(s, SIG_DFL);
    const int nothing = ::open("/dev/null", O_WRONLY);
    ::dup2(nothing, 1);
    ::dup2(nothing, 2);
    ::execv(path.c_str(), argv.data());
    ::_exit(127);
  }
  ::usleep(wait_us);
  ::kill(child, number);
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  // SIGTERM saves and ends as if by the signal; one that comes too early ends the program at once.
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  EXPECT_TRUE(code == 0 || code == 128 + number) << code;
  return code != 0;
}

// The program, with streams: SIGKILL leaves the last checkpoint, SIGTERM saves where it is.
TEST(KillResume, StreamsOfTheProgram) {
  const test::Folder folder;
  std::string text;
  for (int i = 0; i < 400; ++i) text += "the rain in spain "[(i * i / 7 + i) % 18];
  folder.write("text.txt", text);
  folder.write("spec.json", R"({"format":"loom-training","version":2,
    "network":{"format":"loom-topology","version":3,
    "layers_per_cell":3,"input":{"ids":256},"cells":[
    {"at":[0,0,0,0],"type":"embedding","out":8},{"at":[0,0,0,1],"type":"lstm","hidden":16},
    {"at":[0,0,0,2],"type":"dense","out":256}]},
    "data":{"type":"text","length":5},"loss":"cross_entropy","streams":4,"batch":4,
    "shuffle":false,"seed":5,"steps":900,"checkpoint_every":2,"log_every":100,
    "optimizer":{"type":"adamw"},"schedule":{"lr":0.01}})");
  std::vector<std::string> args = {"train", folder / "spec.json",   "--data", folder / "text.txt",
                                   "--out", folder / "whole.entity"};
  const test::Outcome whole = test::loom(args);
  ASSERT_EQ(whole.code, 0) << whole.err;
  const std::string want = digest_of(whole);
  ASSERT_EQ(want.size(), 64u) << want;
  const char* more = std::getenv("LOOM_SOAK");
  const int kills = 12 * (more ? std::atoi(more) : 1);
  args.back() = folder / "t.entity";
  const RandomStream random(9, 0);
  std::set<std::string> found;  // files that trainings went on from
  for (int killed = 0; killed < kills;) {
    const bool there = std::filesystem::exists(args[5]);
    if (there) found.insert(test::file_bytes(args[5]));
    std::vector<std::string> now = args;
    if (there) now.push_back("--resume");
    const int number = killed % 2 == 0 ? SIGKILL : SIGTERM;
    const auto wait = 4000 + random.below(static_cast<std::uint64_t>(killed), 60000);
    if (stop_program(now, number, wait)) {
      ++killed;
      continue;
    }
    // It came to its end first.
    const test::Outcome end =
        test::loom({"train", args[1], "--data", args[3], "--out", args[5], "--resume"});
    ASSERT_EQ(digest_of(end), want);
    std::filesystem::remove(args[5]);
  }
  EXPECT_GT(found.size(), 3u);
  args.push_back("--resume");
  const test::Outcome end = test::loom(args);
  ASSERT_EQ(end.code, 0) << end.err;
  EXPECT_EQ(digest_of(end), want);
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
