// Learning rates and loss curves beside PyTorch's (tests/golden/torch.json, made by
// tests/parity/pytorch/torch_golden.py in f64).
#include <gtest/gtest.h>

#include <cmath>

#include "base/files/source.h"
#include "support/places.h"
#include "train/trainer.h"

namespace loom {
namespace {

Json golden() {
  const auto text = read_text_file(loom::test::source_dir() + "/tests/golden/torch.json");
  EXPECT_TRUE(text.ok()) << text.status().to_string();
  auto json = Json::parse(*text);
  EXPECT_TRUE(json.ok()) << json.status().to_string();
  return std::move(*json);
}

// torch_golden.py: hashed().
std::uint32_t hashed(std::size_t i, std::size_t stream) {
  auto x = static_cast<std::uint32_t>(i + 100003 * (stream + 1));
  x = (x ^ (x >> 16)) * 0x7FEB352Du;
  x = (x ^ (x >> 15)) * 0x846CA68Bu;
  return (x ^ (x >> 16)) >> 16;
}
double value(std::size_t i, std::size_t stream, double scale, double middle) {
  return (hashed(i, stream) / 65536.0 - 0.5) * scale + middle;
}

constexpr std::size_t kSamples = 40;

std::unique_ptr<DataSource> data_of(const Network& network, Loss loss) {
  if (network.input().ids > 0) {
    std::vector<std::uint32_t> ids;
    for (std::size_t i = 0; i <= kSamples; ++i)
      ids.push_back(hashed(i, 1000) % static_cast<std::uint32_t>(network.input().ids));
    return std::move(*TokenData::create(std::move(ids), {}, 1));
  }
  std::vector<float> x, y;
  std::vector<std::int32_t> classes;
  const auto outputs = static_cast<std::size_t>(network.output().width);
  for (std::size_t i = 0; i < kSamples * static_cast<std::size_t>(network.input().width); ++i)
    x.push_back(static_cast<float>(value(i, 1000, 2, 0)));
  for (std::size_t i = 0; i < kSamples * outputs; ++i)
    y.push_back(static_cast<float>(value(i, 1001, 1, 0.5)));
  for (std::size_t i = 0; i < kSamples; ++i)
    classes.push_back(static_cast<std::int32_t>(hashed(i, 1001) % outputs));
  if (takes_classes(loss))
    return std::move(*ArrayData::create(std::move(x), network.input().width, std::move(classes)));
  return std::move(*ArrayData::create(std::move(x), network.input().width, std::move(y),
                                      network.output().width));
}

TEST(Torch, RatesAreTheSame) {
  const Json all = golden();
  for (const Json& one : all.find("rates")->as_array()) {
    SCOPED_TRACE(one.find("schedule")->dump());
    Json spec = Json::object();
    spec.set("format", "loom-training");
    spec.set("version", 2);
    spec.set("steps", 100);
    spec.set("schedule", *one.find("schedule"));
    const auto parsed = parse_training_spec(spec);
    ASSERT_TRUE(parsed.ok()) << parsed.status().to_string();
    const Schedule& s = parsed->schedule;
    ASSERT_TRUE(s.check().ok());
    std::int64_t step = 0;
    for (const Json& want : one.find("rates")->as_array()) {
      ++step;
      EXPECT_NEAR(s.at(step), want.as_number(), 1e-12) << "step " << step;
      // A warm-up moves the rest along.
      Schedule later = s;
      later.warmup = 7;
      later.steps += 7;
      if (s.kind != ScheduleKind::one_cycle) {
        EXPECT_EQ(later.at(step + 7), s.at(step));
      }
    }
    EXPECT_EQ(step, 100);
  }
}

TEST(Torch, CurvesAreTheSame) {
  const Json all = golden();
  double worst = 0;
  int curves = 0;
  for (const Json& one : all.find("curves")->as_array()) {
    const Json& json = *one.find("spec");
    SCOPED_TRACE(json.find("loss")->dump() + " " + json.find("optimizer")->dump() + " " +
                 json.find("schedule")->dump());
    const auto spec = parse_training_spec(json);
    ASSERT_TRUE(spec.ok()) << spec.status().to_string();
    auto network = create_network(*spec);
    ASSERT_TRUE(network.ok()) << network.status().to_string();
    std::size_t stream = 0;
    for (const Json& param : one.find("params")->as_array()) {
      const std::string& name = param.find("name")->as_string();
      const std::size_t colon = name.find(':');
      WeightStore* store = network->find(name.substr(0, colon), name.substr(colon + 1));
      ASSERT_NE(store, nullptr) << name;
      const std::span<float> w = store->mutable_master();
      for (std::size_t i = 0; i < w.size(); ++i)
        w[i] = static_cast<float>(
            value(i, stream, param.find("scale")->as_number(), param.find("middle")->as_number()));
      store->touch();
      ++stream;
    }
    ASSERT_EQ(stream, network->params().size());
    const auto data = data_of(*network, spec->loss);
    ThreadPool pool(1);
    auto trainer = Trainer::create(*spec, *network, *data, pool);
    ASSERT_TRUE(trainer.ok()) << trainer.status().to_string();
    double largest = 0;
    for (const Json& want : one.find("losses")->as_array()) {
      const auto report = (*trainer)->step();
      ASSERT_TRUE(report.ok()) << report.status().to_string();
      largest = std::max(largest, std::abs(report->loss - want.as_number()));
    }
    EXPECT_EQ((*trainer)->done(), 100);
    EXPECT_LT(largest, 1e-4);
    worst = std::max(worst, largest);
    ++curves;
  }
  EXPECT_EQ(curves, 42);
  RecordProperty("largest_difference", std::to_string(worst));
  std::printf("%d curves, largest difference %.1e\n", curves, worst);
}

}  // namespace
}  // namespace loom
