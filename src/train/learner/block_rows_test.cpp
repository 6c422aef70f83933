// Logits of some rows at a time have the bits of all at once, and take less memory.
#include <gtest/gtest.h>

#include <cstring>

#include "base/files/sha256.h"
#include "train/learner/learner.h"

namespace loom {
namespace {

struct Case {
  const char* name;
  const char* head;  // of a network of `classes` ids
  std::int64_t classes, max_rows;
  std::vector<std::int64_t> rows;
  const char* dtype = "f32";
  std::int64_t rank = 0;  // of an adapter that learns; 0: the network
  std::vector<std::string> targets{};
  std::int64_t micro_batches = 1;
  bool weights = false, clip = false, recompute = false;
  const char* deviation = "0.3";  // of the embedding
  std::int64_t counted = 1;       // one row of as many has a class
};

// Rows around the ends of blocks: of 128 (64 with `recompute`) where no weight gradient sums over
// them, else of 1,024, of which three are the most.
const Case kCases[] = {
    {"tied", R"("bias":false,"tie":"0.0.0.0:weight")", 400, 2500, {1, 1024, 1025, 2049, 2500}},
    {"untied", R"("bias":false)", 400, 2049, {33, 1023, 2048, 2049}},
    {"with_bias", R"("bias":true)", 400, 3072, {31, 2047, 3071, 3072}},
    {"larger_blocks", R"("bias":true)", 200, 4100, {2048, 2049, 4096, 4100}},
    {"micro_batches", R"("bias":true)", 400, 2100, {1500, 2100}, "f32", 0, {}, 2},
    {"weighted", R"("bias":true)", 400, 2100, {1500, 2100}, "f32", 0, {}, 1, true, true},
    {"sums_below_what_is_stored",
     R"("bias":true,"tie":"0.0.0.0:weight")",
     400,
     2100,
     {2100},
     "f32",
     0,
     {},
     1,
     false,
     false,
     false,
     "0.9",
     700},
    {"f64", R"("bias":true)", 300, 2100, {1025, 2100}, "f64"},
    {"adapter", R"("bias":false,"tie":"0.0.0.0:weight")", 2000, 333, {1, 128, 129, 333}, "i4", 4},
    {"adapter_of_f32", R"("bias":true)", 2000, 333, {127, 257, 333}, "f32", 4},
    {"adapter_of_bf16", R"("bias":true)", 2000, 333, {130, 333}, "bf16", 4, {}, 1, true},
    {"recomputed", R"("bias":true)", 2000, 333, {65, 333}, "q4_0", 4, {}, 1, false, false, true},
    {"adapter_of_the_head", R"("bias":false)", 400, 2100, {1000, 2100}, "i8", 4, {"weight"}},
};

Network network_of(const Case& c) {
  const std::string n = std::to_string(c.classes);
  const std::string text =
      R"({"format":"loom-topology","version":1,"layers_per_cell":4,"input":{"ids":)" + n +
      R"(},"cells":[{"at":[0,0,0,0],"type":"embedding","out":32,"std":)" + c.deviation +
      R"(},)"
      R"({"at":[0,0,0,1],"type":"sequential","layers":[{"type":"sequential","layers":)"
      R"([{"type":"rms_norm"},{"type":"swiglu","hidden":32}]},{"type":"residual"}]},)"
      R"({"at":[0,0,0,2],"type":"rms_norm"},{"at":[0,0,0,3],"type":"dense","out":)" +
      n + "," + c.head + "}]}";
  auto network = Network::from_json(std::string_view(text));
  EXPECT_TRUE(network.ok()) << network.status().to_string();
  EXPECT_TRUE(network->initialize(3).ok());
  EXPECT_TRUE(network->morph(*parse_weight_format(c.dtype)).ok());
  return std::move(*network);
}

struct Course {
  std::vector<double> losses;
  std::string hash;  // of all gradients, and what the update makes of them
  std::int64_t arena = 0;
};

void add_rows(Sha256& hash, Executor& executor, const NetworkEmitter::Gradient& g) {
  for (std::int64_t r = 0; r < g.rows; ++r)
    if (g.type == ValueType::f64) hash.update_f64(executor.row<double>(g.value.buffer, r));
    else hash.update_f32(executor.row<float>(g.value.buffer, r));
}

Course course_of(const Case& c, bool blocks, int threads) {
  Network network = network_of(c);
  ThreadPool pool(threads);
  LearnerOptions options;
  options.loss = Loss::cross_entropy;
  options.max_rows = c.max_rows;
  options.max_positions = c.max_rows;
  options.micro_batches = c.micro_batches;
  options.recompute = c.recompute;
  options.optimizer.clip_norm = c.clip ? 1 : 0;
  options.poison = true;
  options.block_rows = blocks;
  if (c.weights) options.class_weights.assign(static_cast<std::size_t>(c.classes), 0.75);
  if (c.rank > 0) {
    auto adapter = Adapter::create(network, adapter_places(network),
                                   {.rank = c.rank, .targets = c.targets}, 4);
    EXPECT_TRUE(adapter.ok()) << adapter.status().to_string();
    options.adapter = std::make_shared<Adapter>(std::move(*adapter));
  }
  auto learner = Learner::create(network, pool, options);
  EXPECT_TRUE(learner.ok()) << learner.status().to_string();
  Course course;
  course.arena = learner->executor().arena_bytes();
  Sha256 hash;
  std::int64_t step = 0;
  for (const std::int64_t rows : c.rows) {
    double weight = 0;
    for (std::int64_t micro = 0; micro < c.micro_batches; ++micro) {
      std::vector<std::uint32_t> ids, positions;
      std::vector<std::int32_t> targets;
      for (std::int64_t r = 0; r < rows; ++r) {
        ids.push_back(static_cast<std::uint32_t>((r * 7 + micro + step) % c.classes));
        positions.push_back(static_cast<std::uint32_t>(r));
        targets.push_back(r % 11 == 5 || r % c.counted != 0
                              ? kIgnoredClass
                              : static_cast<std::int32_t>((r * r + step) % c.classes));
      }
      EXPECT_TRUE(learner->batch(ids, positions, targets).ok());
      EXPECT_TRUE(learner->accumulate(micro).ok());
      course.losses.push_back(learner->loss_sum());
      weight += learner->weight();
    }
    for (const NetworkEmitter::Gradient& g : learner->gradients())
      add_rows(hash, learner->executor(), g);
    EXPECT_TRUE(learner->update(0.01, weight, ++step).ok());
  }
  course.hash = Sha256::hex(hash.finish());
  return course;
}

class BlockRows : public testing::TestWithParam<Case> {};

TEST_P(BlockRows, ChangeNoBit) {
  const Course want = course_of(GetParam(), false, 1);
  for (const double loss : want.losses) EXPECT_GT(loss, 0);
  for (const int threads : {1, 2, 5}) {
    const Course got = course_of(GetParam(), true, threads);
    EXPECT_EQ(got.losses, want.losses) << threads;
    EXPECT_EQ(got.hash, want.hash) << threads;
    if (threads == 1) {
      EXPECT_LT(got.arena, want.arena - (1 << 20));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Learner, BlockRows, testing::ValuesIn(kCases),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace loom
