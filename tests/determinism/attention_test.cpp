// Attention over caches of q15 has the bits of the generic instruction set, whichever instruction
// set runs it and however many rows pass at once: heads of several sizes, groups of heads, windows,
// ALiBi, more than one block of positions, rows of several sequences, scores beyond all numbers.
#include <gtest/gtest.h>

#include <cstring>

#include "conformance/same_bits.h"

namespace loom {
namespace {

constexpr std::uint32_t kPositions = 150, kSequences = 3;

struct Case {
  int heads, kv_heads, head_dim;
  const char* more;
  float scale = 1;  // of the rows
};

Network network_of(const Case& c) {
  return test::random_network(
      R"({"format":"loom-topology","version":2,"layers_per_cell":1,"input":{"width":24},)"
      R"("cells":[{"at":[0,0,0,0],"type":"attention","heads":)" +
          std::to_string(c.heads) + R"(,"kv_heads":)" + std::to_string(c.kv_heads) +
          R"(,"head_dim":)" + std::to_string(c.head_dim) + c.more + "}]}",
      "i8");
}

// Outputs of all positions of all sequences, `chunk` positions of each per run.
std::vector<float> outputs_of(Network& n, const Case& c, std::uint32_t chunk, int threads,
                              const std::string& isa) {
  ThreadPool pool(threads);
  auto s = Session::create(n, pool,
                           {.max_rows = kSequences * chunk,
                            .max_positions = 192,
                            .sequences = kSequences,
                            .isa = isa,
                            .poison = true});
  EXPECT_TRUE(s.ok()) << s.status().to_string();
  if (!s.ok()) return {};
  const RandomStream random(23, 1);
  const auto width = static_cast<std::size_t>(n.output().width);
  std::vector<float> y(kSequences * kPositions * width);
  for (std::uint32_t first = 0; first < kPositions; first += chunk) {
    std::vector<float> x;
    std::vector<std::uint32_t> sequences, positions;
    for (std::uint32_t q = 0; q < kSequences; ++q)
      for (std::uint32_t p = first; p < std::min(first + chunk, kPositions); ++p) {
        sequences.push_back(q);
        positions.push_back(p);
        for (std::uint64_t i = 0; i < 24; ++i)
          x.push_back(c.scale * (2 * random.uniform((q * kPositions + p) * 24 + i) - 1));
      }
    const Status ran = s->run(x, sequences, positions).status();
    EXPECT_TRUE(ran.ok()) << ran.to_string();
    if (!ran.ok()) return {};
    for (std::size_t r = 0; r < sequences.size(); ++r) {
      const auto row = s->output(static_cast<std::int64_t>(r));
      std::copy(row.begin(), row.end(),
                y.begin() + static_cast<std::ptrdiff_t>((sequences[r] * kPositions + positions[r]) *
                                                        width));
    }
  }
  return y;
}

TEST(Attention, OfAnyNumberOfRowsHasTheSameBits) {
  for (const Case& c : {Case{4, 2, 8, ""},
                        {6, 2, 16, ""},
                        {3, 1, 20, R"(,"window":40)"},
                        {2, 2, 48, ""},
                        {4, 2, 64, ""},
                        {6, 3, 64, R"(,"rope":false,"alibi":true)"},
                        {2, 1, 80, ""},
                        {2, 1, 96, R"(,"window":70)"},
                        {4, 1, 128, ""},
                        {4, 2, 64, "", 1e30f}}) {
    SCOPED_TRACE(std::to_string(c.heads) + " heads of " + std::to_string(c.head_dim) + c.more);
    Network n = network_of(c);
    const std::vector<float> want = outputs_of(n, c, 1, 1, "generic");
    ASSERT_FALSE(want.empty());
    for (const std::string_view isa : cpu::available_isas())
      for (const std::uint32_t chunk : {3u, 5u, 9u, 37u, kPositions})
        for (const int threads : {1, 3}) {
          const std::vector<float> got = outputs_of(n, c, chunk, threads, std::string(isa));
          ASSERT_EQ(got.size(), want.size());
          EXPECT_EQ(std::memcmp(got.data(), want.data(), got.size() * sizeof(float)), 0)
              << isa << ", " << chunk << " positions at once, " << threads << " threads";
        }
  }
}

}  // namespace
}  // namespace loom
