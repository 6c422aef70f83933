// Convolutions run without unfolded rows (ops/cpu/windows.h) and give the bits of the program as it is written: outputs and gradients, for windows of all kinds.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "conformance/same_bits.h"
#include "train/learner.h"

namespace loom {
namespace {

struct Case {
  std::string cell, dims, dtype;
  std::int64_t width, rows;
};

// A convolution of each rank whose numbers follow from `seed`, over as many values as its window needs and some more.
Case random_case(std::uint64_t seed) {
  const RandomStream random(17, seed);
  std::uint64_t drawn = 0;
  auto pick = [&](std::int64_t low, std::int64_t high) { return low + std::min(high - low, static_cast<std::int64_t>(random.uniform(drawn++) * static_cast<float>(high - low + 1))); };
  const std::int64_t rank = 1 + static_cast<std::int64_t>(seed % 3), channels = pick(1, 5), filters = pick(1, 1 + 34 * static_cast<std::int64_t>(seed % 2));
  std::string kernel, stride, padding, padding_end, dilation, dims = std::to_string(channels);
  std::int64_t width = channels;
  for (std::int64_t d = 0; d < rank; ++d) {
    const std::int64_t k = pick(1, rank == 3 ? 2 : 4), s = pick(1, 3), apart = pick(1, 2), before = pick(0, 2), after = pick(0, 2);
    const std::int64_t reach = (k - 1) * apart + 1, in = std::max<std::int64_t>(1, reach - before - after) + pick(0, rank == 1 ? 90 : rank == 2 ? 11 : 4);
    kernel += (d ? "," : "") + std::to_string(k);
    stride += (d ? "," : "") + std::to_string(s);
    dilation += (d ? "," : "") + std::to_string(apart);
    padding += std::to_string(before) + ",";
    padding_end += (d ? "," : "") + std::to_string(after);
    dims += "," + std::to_string(in);
    width *= in;
  }
  Case c;
  c.cell = R"("type":"cnn)" + std::to_string(rank) + R"(","filters":)" + std::to_string(filters) + R"(,"kernel":[)" + kernel + R"(],"stride":[)" + stride + R"(],"dilation":[)" + dilation + R"(],"padding":[)" + padding + padding_end + R"(],"bias":)" +
           (pick(0, 1) ? "true" : "false") + R"(,"activation":")" + (pick(0, 2) ? "silu\"" : "linear\"");
  c.dims = dims;
  c.dtype = seed % 5 == 1 ? "fp8e4m3" : seed % 5 == 2 ? "f16" : seed % 5 == 3 ? "i8" : "f32";  // one of each class of products
  c.width = width;
  c.rows = pick(1, 5);
  return c;
}

struct Outcome {
  std::vector<float> values;  // of the inference and of all gradients
  std::int64_t arena;
};

Outcome run(Network& n, const Case& c, int threads, bool fuse, std::string_view isa) {
  Outcome out{};
  ThreadPool pool(threads);
  const RandomStream random(5, 2);
  std::vector<float> x(static_cast<std::size_t>(c.rows * 3)), target(static_cast<std::size_t>(c.rows * n.output().width));
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = 2 * random.uniform(i) - 1;
  for (std::size_t i = 0; i < target.size(); ++i) target[i] = random.uniform(1000 + i);
  auto s = Session::create(n, pool, {.max_rows = c.rows, .isa = std::string(isa), .fuse = fuse, .poison = true});
  EXPECT_TRUE(s.ok() && s->run(x, c.rows).ok());
  for (std::int64_t r = 0; s.ok() && r < c.rows; ++r) out.values.insert(out.values.end(), s->output(r).begin(), s->output(r).end());
  auto learner = Learner::create(n, pool, {.max_rows = c.rows, .update = false, .isa = std::string(isa), .fuse = fuse, .poison = true});
  EXPECT_TRUE(learner.ok() && learner->batch(x, target).ok() && learner->accumulate().ok());
  if (!learner.ok()) return out;
  for (const auto& g : learner->gradients())
    for (std::int64_t r = 0; r < g.rows; ++r) {
      const auto row = learner->executor().row<float>(g.value.buffer, r);
      out.values.insert(out.values.end(), row.begin(), row.end());
    }
  out.arena = learner->executor().arena_bytes();
  return out;
}

TEST(Window, ConvolutionsWithoutUnfoldedRowsHaveTheSameBits) {
  int smaller = 0;
  constexpr int kCases = 90;
  for (std::uint64_t seed = 0; seed < kCases; ++seed) {
    const Case c = random_case(seed);
    const std::string topology = R"({"format":"loom-topology","version":1,"layers_per_cell":3,"input":{"width":3},"cells":[{"at":[0,0,0,0],"type":"dense","out":)" + std::to_string(c.width) +
                                 R"(},{"at":[0,0,0,1],"type":"reshape","dims":[)" + c.dims + R"(]},{"at":[0,0,0,2],)" + c.cell + "}]}";
    SCOPED_TRACE(topology);
    Network n = test::random_network(topology, c.dtype);
    const Outcome want = run(n, c, 1, false, "generic");
    ASSERT_FALSE(want.values.empty());
    for (const int threads : {1, 2, 3}) {
      for (const std::string_view isa : cpu::available_isas()) {
        const Outcome got = run(n, c, threads, true, isa);
        ASSERT_EQ(got.values.size(), want.values.size());
        ASSERT_EQ(std::memcmp(got.values.data(), want.values.data(), want.values.size() * sizeof(float)), 0) << isa << ", " << threads << " threads";
        smaller += threads == 1 && got.arena < want.arena;
      }
    }
  }
  EXPECT_GT(smaller, kCases / 2);  // most programs were rewritten
}

}  // namespace
}  // namespace loom
