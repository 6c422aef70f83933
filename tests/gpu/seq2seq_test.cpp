// Encoder-decoders step by step on a device: what they give on the CPU, also in other rows.
#include "exec/seq2seq.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "conformance/layer_samples.h"
#include "gpu/test_device.h"
#include "support/places.h"

namespace loom {
namespace {

TEST(EncoderDecoders, HaveTheBitsOfTheCpu) {
  LOOM_TEST_DEVICE(device);
  for (const char* name : {"transformer", "states", "masked"}) {
    std::ifstream file(test::source_dir() + "/tests/conformance/seq2seq/" + name + ".json");
    std::stringstream text;
    text << file.rdbuf();
    auto n = Network::from_json(std::string_view(text.view()));
    ASSERT_TRUE(n.ok() && n->initialize(7).ok()) << name;
    auto cpu = Seq2Seq::create(*n, test::pool_of(1), {.target = "target", .lanes = 3});
    auto there =
        Seq2Seq::create(*n, test::pool_of(1), {.target = "target", .lanes = 3, .device = device});
    ASSERT_TRUE(cpu.ok() && there.ok()) << there.status().to_string();
    std::vector<double> x;
    for (std::int64_t r = 0; r < 2; ++r)
      for (const Shape& part : cpu->sources())
        for (std::int64_t i = 0; i < part.count(); ++i)
          x.push_back(part.ids > 0          ? static_cast<double>((i * 3 + r + 1) % part.ids)
                      : part.name == "mask" ? static_cast<double>(i == 4)
                                            : 0.1 * static_cast<double>((i * 7 + r) % 19 - 9));
    const std::vector<double> two{1, 2}, three{3, 4, 5};
    const std::vector<std::uint32_t> from{1, 0, 1};
    for (Seq2Seq* s : {&*cpu, &*there}) {
      ASSERT_TRUE(s->encode(x, 2).ok());
      ASSERT_TRUE(s->step(two).ok());
      ASSERT_TRUE(s->step(two).ok());
      ASSERT_TRUE(s->reorder(from).ok());
      const Status ran = s->step(three);
      ASSERT_TRUE(ran.ok()) << ran.to_string();
    }
    for (std::int64_t r = 0; r < 3; ++r) {
      const auto a = cpu->output(r), b = there->output(r);
      EXPECT_EQ(std::vector<float>(a.begin(), a.end()), std::vector<float>(b.begin(), b.end()))
          << name << " row " << r;
    }
  }
}

}  // namespace
}  // namespace loom
