// Activations of one plane on a device: the bits of the CPU, for many rows at once and for one,
// which a device decodes in fewer dispatches.
#include <cstring>

#include "conformance/layer_samples.h"
#include "gpu/test_device.h"

namespace loom {
namespace {

constexpr std::string_view kDecoder =
    R"({"format":"loom-topology","version":1,"layers_per_cell":4,"input":{"ids":40},"cells":[
{"at":[0,0,0,0],"type":"embedding","out":64},
{"at":[0,0,0,1],"type":"sequential","layers":[{"type":"rms_norm"},{"type":"attention","heads":4,"kv_heads":2,"head_dim":16,"causal":true,"rope":true}]},
{"at":[0,0,0,2],"type":"sequential","layers":[{"type":"rms_norm"},{"type":"swiglu","hidden":96,"bias":false}]},
{"at":[0,0,0,3],"type":"dense","out":40,"bias":false}]})";
constexpr std::int64_t kRows = 37;

std::vector<float> answers(Network& n, gpu::Device* device, const std::string& activations,
                           std::size_t at_once) {
  std::vector<float> all;
  auto session = Session::create(n, test::pool_of(1),
                                 {.max_rows = kRows,
                                  .max_head_rows = kRows,
                                  .max_positions = 64,
                                  .device = device,
                                  .activations = activations});
  EXPECT_TRUE(session.ok()) << session.status().to_string();
  for (std::size_t first = 0; session.ok() && first < kRows;) {
    const std::size_t count = std::min(at_once, kRows - first);
    std::vector<std::uint32_t> ids, positions, sequences(count, 0);
    for (std::size_t i = 0; i < count; ++i) {
      ids.push_back(static_cast<std::uint32_t>((7 * (first + i)) % 40));
      positions.push_back(static_cast<std::uint32_t>(first + i));
    }
    const Status ran = session->run_tokens(ids, sequences, positions, {});
    EXPECT_TRUE(ran.ok()) << ran.to_string();
    for (std::size_t i = 0; i < count; ++i) {
      const auto row = session->output(static_cast<std::int64_t>(i));
      all.insert(all.end(), row.begin(), row.end());
    }
    first += count;
  }
  return all;
}

TEST(Activations, OfOnePlaneHaveTheBitsOfTheCpu) {
  LOOM_TEST_DEVICE(device);
  for (const char* format : {"i4", "i8", "ternary", "q4_0", "i4:s4"}) {
    auto n = Network::from_json(kDecoder);
    ASSERT_TRUE(n.ok()) << n.status().to_string();
    ASSERT_TRUE(n->initialize(3).ok());
    ASSERT_TRUE(n->morph(*parse_weight_format(format)).ok());
    const std::vector<float> one = answers(*n, nullptr, "i8", kRows);
    EXPECT_NE(one, answers(*n, nullptr, "q15", kRows)) << format;
    for (const std::size_t at_once : {std::size_t{1}, std::size_t{5}, std::size_t{kRows}}) {
      EXPECT_EQ(answers(*n, nullptr, "i8", at_once), one) << format << ", " << at_once << " rows";
      EXPECT_EQ(answers(*n, device, "i8", at_once), one) << format << ", " << at_once << " rows";
    }
  }
}

// Rows of several sequences at once: few of each, or many.
TEST(Activations, OfSeveralPromptsHaveTheBitsOfTheCpu) {
  LOOM_TEST_DEVICE(device);
  auto n = Network::from_json(kDecoder);
  ASSERT_TRUE(n.ok() && n->initialize(3).ok() && n->morph(*parse_weight_format("i8")).ok());
  std::vector<float> answers[2];
  for (const bool on_device : {false, true}) {
    auto session = Session::create(*n, test::pool_of(1),
                                   {.max_rows = kRows,
                                    .max_head_rows = kRows,
                                    .max_positions = 64,
                                    .sequences = 5,
                                    .device = on_device ? device : nullptr});
    ASSERT_TRUE(session.ok()) << session.status().to_string();
    std::vector<std::uint32_t> seen(5);
    constexpr int kRuns[][5] = {{13, 0, 7, 1, 16}, {1, 1, 2, 1, 2}, {2, 20, 3, 2, 3}, {5, 5}};
    for (const auto& counts : kRuns) {
      std::vector<std::uint32_t> ids, positions, sequences;
      for (std::uint32_t s = 0; s < 5; ++s)
        for (int i = 0; i < counts[s]; ++i) {
          ids.push_back((7 * seen[s] + 3 * s) % 40);
          positions.push_back(seen[s]++);
          sequences.push_back(s);
        }
      const Status ran = session->run_tokens(ids, sequences, positions, {});
      ASSERT_TRUE(ran.ok()) << ran.to_string();
      for (std::size_t i = 0; i < ids.size(); ++i) {
        const auto row = session->output(static_cast<std::int64_t>(i));
        answers[on_device].insert(answers[on_device].end(), row.begin(), row.end());
      }
    }
  }
  EXPECT_EQ(answers[1], answers[0]);
}

}  // namespace
}  // namespace loom
