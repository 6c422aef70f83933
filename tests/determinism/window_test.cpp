// Convolutions run without unfolded rows (ops/lowering/fuse_convolutions.cpp) and give the bits of
// the program as it is written: outputs and gradients, for windows of all kinds.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "conformance/same_bits.h"
#include "train/learner/learner.h"

namespace loom {
namespace {

struct Case {
  std::string cell, dims, dtype;
  std::int64_t width, rows;
  Loss loss = Loss::mse;
};

// A convolution of each rank whose numbers follow from `seed`, over as many values as its window
// needs and some more.
Case random_case(std::uint64_t seed) {
  const RandomStream random(17, seed);
  std::uint64_t drawn = 0;
  auto pick = [&](std::int64_t low, std::int64_t high) {
    return low +
           std::min(high - low, static_cast<std::int64_t>(random.uniform(drawn++) *
                                                          static_cast<float>(high - low + 1)));
  };
  const std::int64_t rank = 1 + static_cast<std::int64_t>(seed % 3), channels = pick(1, 5),
                     filters = pick(1, 1 + 34 * static_cast<std::int64_t>(seed % 2));
  std::string kernel, stride, padding, padding_end, dilation, dims = std::to_string(channels);
  std::int64_t width = channels;
  for (std::int64_t d = 0; d < rank; ++d) {
    const std::int64_t k = pick(1, rank == 3 ? 2 : 4), s = pick(1, 3), apart = pick(1, 2),
                       before = pick(0, 2), after = pick(0, 2);
    const std::int64_t reach = (k - 1) * apart + 1,
                       in = std::max<std::int64_t>(1, reach - before - after) +
                            pick(0, rank == 1   ? 90
                                    : rank == 2 ? 11
                                                : 4);
    kernel += (d ? "," : "") + std::to_string(k);
    stride += (d ? "," : "") + std::to_string(s);
    dilation += (d ? "," : "") + std::to_string(apart);
    padding += std::to_string(before) + ",";
    padding_end += (d ? "," : "") + std::to_string(after);
    dims += "," + std::to_string(in);
    width *= in;
  }
  Case c;
  constexpr const char* kActivations[] = {"linear", "silu", "relu"};
  c.cell = R"("type":"conv)" + std::to_string(rank) + R"(d","filters":)" + std::to_string(filters) +
           R"(,"kernel":[)" + kernel + R"(],"stride":[)" + stride + R"(],"dilation":[)" + dilation +
           R"(],"padding":[)" + padding + padding_end + R"(],"bias":)" +
           (pick(0, 1) ? "true" : "false") + R"(,"activation":")" + kActivations[pick(0, 2)] + "\"";
  c.dims = dims;
  c.dtype = seed % 5 == 1   ? "fp8e4m3"
            : seed % 5 == 2 ? "f16"
            : seed % 5 == 3 ? "i8"
                            : "f32";  // one of each class of products
  c.width = width;
  c.rows = pick(1, 5);
  return c;
}

struct Outcome {
  std::vector<float> values;  // of the inference and of all gradients
  std::size_t instructions;
};

Outcome run(Network& n, const Case& c, int threads, bool fuse, std::string_view isa) {
  Outcome out{};
  ThreadPool pool(threads);
  const RandomStream random(5, 2);
  std::vector<float> x(static_cast<std::size_t>(c.rows * 3)),
      target(static_cast<std::size_t>(c.rows * n.output().width));
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = 2 * random.uniform(i) - 1;
  for (std::size_t i = 0; i < target.size(); ++i) target[i] = random.uniform(1000 + i);
  auto s = Session::create(
      n, pool, {.max_rows = c.rows, .isa = std::string(isa), .fuse = fuse, .poison = true});
  EXPECT_TRUE(s.ok() && s->run(x, c.rows).ok());
  for (std::int64_t r = 0; s.ok() && r < c.rows; ++r)
    out.values.insert(out.values.end(), s->output(r).begin(), s->output(r).end());
  auto learner = Learner::create(n, pool,
                                 {.loss = c.loss,
                                  .max_rows = c.rows,
                                  .update = false,
                                  .isa = std::string(isa),
                                  .fuse = fuse,
                                  .poison = true});
  EXPECT_TRUE(learner.ok() && learner->batch(x, target).ok() && learner->accumulate().ok());
  if (!learner.ok()) return out;
  for (const auto& g : learner->gradients())
    for (std::int64_t r = 0; r < g.rows; ++r) {
      const auto row = learner->executor().row<float>(g.value.buffer, r);
      out.values.insert(out.values.end(), row.begin(), row.end());
    }
  out.instructions = learner->executor().instructions();
  return out;
}

std::string topology_of(const Case& c) {
  return R"({"format":"loom-topology","version":1,"layers_per_cell":3,"input":{"width":3},"cells":[{"at":[0,0,0,0],"type":"dense","activation":"sigmoid","out":)" +
         std::to_string(c.width) + R"(},{"at":[0,0,0,1],"type":"reshape","dims":[)" + c.dims +
         R"(]},{"at":[0,0,0,2],)" + c.cell + "}]}";
}

// That all instruction sets and teams give the bits of the program as it is written; whether they
// ran another one.
bool check(Network& n, const Case& c) {
  const Outcome want = run(n, c, 1, false, "generic");
  EXPECT_FALSE(want.values.empty());
  bool rewritten = true;
  for (const int threads : {1, 2, 3}) {
    for (const std::string_view isa : cpu::available_isas()) {
      const Outcome got = run(n, c, threads, true, isa);
      const bool same = got.values.size() == want.values.size() &&
                        std::memcmp(got.values.data(), want.values.data(),
                                    want.values.size() * sizeof(float)) == 0;
      EXPECT_TRUE(same) << isa << ", " << threads << " threads";
      rewritten &= got.instructions < want.instructions;
    }
  }
  return rewritten;
}

TEST(Window, ConvolutionsWithoutUnfoldedRowsHaveTheSameBits) {
  int rewritten = 0;
  constexpr int kCases = 90;
  for (std::uint64_t seed = 0; seed < kCases; ++seed) {
    const Case c = random_case(seed);
    const std::string topology = topology_of(c);
    SCOPED_TRACE(topology);
    Network n = test::random_network(topology, c.dtype);
    rewritten += check(n, c);
  }
  EXPECT_GT(rewritten, kCases / 2);
}

// Sizes at which the input's gradient comes in several pieces: bands of lines, parts of a line,
// depths, groups of channels.
TEST(Window, LargeGradientsComeInPieces) {
  const Case cases[] = {
      {R"("type":"conv2d","filters":64,"kernel":[3],"padding":[1],"activation":"linear")",
       "7,21,45", "f32", 7 * 21 * 45, 2},
      {R"("type":"conv1d","filters":70,"kernel":[4],"padding":[1,2],"activation":"linear")",
       "3,901", "f32", 3 * 901, 1},
      {R"("type":"conv3d","filters":33,"kernel":[3,2,3],"padding":[1,0,1,1,1,1],"activation":"linear")",
       "2,5,9,17", "f32", 2 * 5 * 9 * 17, 2},
      {R"("type":"conv2d","filters":40,"kernel":[3],"dilation":[2],"padding":[2],"activation":"linear")",
       "41,16,16", "f32", 41 * 16 * 16, 1},
  };
  for (const Case& c : cases) {
    const std::string topology = topology_of(c);
    SCOPED_TRACE(topology);
    Network n = test::random_network(topology, c.dtype);
    EXPECT_TRUE(check(n, c));
  }
}

// A weight that is not finite belongs to the places that are there, and to no others.
TEST(Window, InfiniteWeightsReachNoFurtherThanTheirPlaces) {
  const Case c{R"("type":"conv1d","filters":5,"kernel":[3],"activation":"linear")",
               "7,80",
               "f32",
               7 * 80,
               2,
               Loss::huber};
  Network n = test::random_network(topology_of(c), c.dtype);
  const auto params = n.params();
  const auto weight = std::find_if(params.begin(), params.end(),
                                   [](const auto& p) { return p.param->store->rows() == 5; });
  ASSERT_NE(weight, params.end());
  weight->param->store->mutable_master()[3 * 21 + 4] = __builtin_inff();
  weight->param->store->touch();
  const std::vector<float> values = run(n, c, 1, false, "generic").values;
  EXPECT_TRUE(std::any_of(values.begin(), values.end(), [](float v) { return v - v != 0; }));
  check(n, c);
}

}  // namespace
}  // namespace loom
