// The matrix: every layer type that is registered x every dtype x forward and backward x every
// instruction set of this machine x 1 and 3 threads gives the bits of the plainest run; gradients
// are those of finite differences in f64, and of every dtype those of f64 with the decoded weights
// within what its class rounds; networks come back from both file forms. A type without samples
// (layer_samples.h) fails.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <filesystem>

#include "checkpoint/entity.h"
#include "conformance/layer_samples.h"
#include "conformance/support.h"
#include "exec/mode.h"
#include "ops/cpu/isa.h"

namespace loom {
namespace {

using test::How;
using test::LayerSample;
using test::Slope;

constexpr int kThreads[] = {1, 3};

// What the last line counts.
struct Counts {
  std::set<std::string_view> layers, isas;
  std::set<int> dtypes, threads;
  std::set<bool> directions;
  long equal = 0, modes = 0, deltas = 0, differences = 0;
} counts;

class Matrix : public testing::TestWithParam<const LayerType*> {
 protected:
  static void TearDownTestSuite() {
    std::printf(
        "matrix: %zu layers x %zu dtypes x %zu directions x %zu ISAs x %zu thread counts = %ld "
        "combinations equal, %ld of modes, %ld deltas, %ld finite differences\n",
        counts.layers.size(), counts.dtypes.size(), counts.directions.size(), counts.isas.size(),
        counts.threads.size(), counts.equal, counts.modes, counts.deltas, counts.differences);
  }
  void SetUp() override {
    samples_ = test::samples_of(*GetParam());
    ASSERT_FALSE(samples_.empty())
        << "no sample of the layer type " << GetParam()->name()
        << ": add one to its folder, <folder>_samples.def (tests/conformance/layer_samples.h)";
    for (const LayerSample& s : samples_)
      ASSERT_NE(test::topology_of(s, "f32").find("\"type\":\"" + std::string(s.type) + "\""),
                std::string::npos)
          << s.cell << " is no sample of " << s.type;
  }
  std::vector<LayerSample> samples_;
};

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && !a.empty() &&
         std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

// Both directions; a forward result whose bits say nothing (NaN from what nobody wrote) is an
// error.
struct Answer {
  std::vector<float> y;
  std::vector<Slope> slopes;
};
Answer answer(Network& n, const How& how) {
  auto y = test::outputs_of(n, how);
  auto slopes = test::slopes_of(n, how);
  EXPECT_TRUE(y.ok() && slopes.ok()) << y.status().to_string() << slopes.status().to_string();
  if (!y.ok() || !slopes.ok()) return {};
  for (const float v : *y)
    EXPECT_TRUE(v - v == 0) << "not finite: something is read that was not written";
  for (const Slope& s : *slopes)
    for (const double v : s.values) EXPECT_TRUE(v - v == 0) << s.name << ": not finite";
  return {std::move(*y), std::move(*slopes)};
}

TEST_P(Matrix, EveryDtypeIsaAndThreadCountGivesTheSameBits) {
  for (int d = 0; d < kDTypeCount; ++d) {
    SCOPED_TRACE(name(static_cast<DType>(d)));
    bool equal[2] = {true, true};
    std::set<std::pair<std::string_view, int>> ways;
    for (const LayerSample& sample : samples_) {
      auto n = test::network_of(sample, default_format(static_cast<DType>(d)));
      ASSERT_TRUE(n.ok()) << n.status().to_string();
      const Answer want = answer(*n, {.threads = 1, .isa = "generic"});
      ASSERT_GT(want.slopes.size(), 2u);
      for (const std::string_view isa : cpu::available_isas()) {
        for (const int threads : kThreads) {
          const Answer got = answer(*n, {.threads = threads, .isa = std::string(isa)});
          const bool same[2] = {same_bits(got.y, want.y), got.slopes == want.slopes};
          EXPECT_TRUE(same[0]) << "forward, " << isa << ", " << threads << " threads";
          EXPECT_TRUE(same[1]) << "backward, " << isa << ", " << threads << " threads";
          for (int i = 0; i < 2; ++i) equal[i] = equal[i] && same[i];
          ways.insert({isa, threads});
          counts.isas.insert(isa);
          counts.threads.insert(threads);
        }
      }
    }
    counts.dtypes.insert(d);
    counts.directions = {false, true};
    for (const bool e : equal) counts.equal += e ? static_cast<long>(ways.size()) : 0;
  }
  counts.layers.insert(GetParam()->name());
}

double largest_delta(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.size() != b.size()) return HUGE_VAL;
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::abs(a[i] - b[i]));
  return largest;
}

// The definition, one thread and many: no digit of the outputs, of what the layer hands back (dX:
// the gradients of the cell before it) or of its own gradients (dW) differs.
TEST_P(Matrix, ModesDifferInNothing) {
  for (int d = 0; d < kDTypeCount; ++d) {
    SCOPED_TRACE(name(static_cast<DType>(d)));
    for (const LayerSample& sample : samples_) {
      auto n = test::network_of(sample, default_format(static_cast<DType>(d)));
      ASSERT_TRUE(n.ok()) << n.status().to_string();
      Answer definition;
      for (const std::string_view mode : mode_names()) {
        if (!mode.starts_with("cpu")) continue;  // gpu/layers_test.cpp has the others
        const auto how = mode_of(mode, 0, "");
        ASSERT_TRUE(how.ok());
        Answer got = answer(*n, {.threads = how->threads == 1 ? 1 : 3, .fuse = how->fuse});
        if (mode == "cpu-normal") {
          definition = std::move(got);
          continue;
        }
        EXPECT_TRUE(same_bits(got.y, definition.y)) << mode;
        ASSERT_EQ(got.slopes.size(), definition.slopes.size());
        double dx = 0, dw = 0;
        for (std::size_t i = 1; i < got.slopes.size(); ++i) {
          double& delta = got.slopes[i].name.starts_with("0.0.0.0:") ? dx : dw;
          delta = std::max(delta, largest_delta(got.slopes[i].values, definition.slopes[i].values));
        }
        EXPECT_EQ(dx, 0) << mode;
        EXPECT_EQ(dw, 0) << mode;
        EXPECT_TRUE(got.slopes == definition.slopes) << mode;  // zeros have their signs, too
      }
    }
    counts.modes += 3;
  }
}

// One format of every arithmetic class, and the smallest codes.
TEST_P(Matrix, RowsCutIntoRunsGiveTheSameBits) {
  for (const char* dtype : {"f32", "f64", "bf16", "i8", "i4", "ternary", "binary", "fp8e4m3"}) {
    for (const LayerSample& sample : samples_) {
      SCOPED_TRACE(dtype);
      auto n = test::network_of(sample, *parse_weight_format(dtype));
      ASSERT_TRUE(n.ok()) << n.status().to_string();
      const auto want = test::outputs_of(*n, {.isa = "generic"});
      ASSERT_TRUE(want.ok()) << want.status().to_string();
      for (const std::int64_t cut : {1, 2, 4, 6}) {
        const auto got = test::outputs_of(*n, {.threads = 2, .rows_per_run = cut});
        ASSERT_TRUE(got.ok()) << got.status().to_string();
        EXPECT_TRUE(same_bits(*got, *want)) << cut << " rows per run";
      }
    }
  }
}

// Relative to the norm of a parameter's gradient: activations have 15 bits in class I, 17 in B,
// f32's in F.
double bound(const WeightFormat& format) {
  switch (product_class(format)) {
    case ArithClass::integer: return 5e-4;
    case ArithClass::bfloat: return 3e-5;
    case ArithClass::single: return 3e-6;
    case ArithClass::real: return 1e-12;
  }
  return 0;
}

TEST_P(Matrix, BackwardOfEveryDtypeIsThatOfTheDecodedWeights) {
  for (int d = 0; d < kDTypeCount; ++d) {
    const WeightFormat format = default_format(static_cast<DType>(d));
    if (format.dtype == DType::f64) continue;  // the measure
    SCOPED_TRACE(to_string(format));
    for (const LayerSample& sample : samples_) {
      auto packed = test::network_of(sample, format),
           exact = test::network_of(sample, {.dtype = DType::f64});
      ASSERT_TRUE(packed.ok() && exact.ok())
          << packed.status().to_string() << exact.status().to_string();
      for (auto& p : packed->params()) {
        WeightStore* twin = exact->find(p.path, p.param->spec.role);
        ASSERT_NE(twin, nullptr);
        ASSERT_TRUE(twin->morph({.dtype = DType::f64}).ok());
        ASSERT_TRUE(p.param->store->values(twin->mutable_master64()).ok());
        twin->touch();
      }
      const auto got = test::slopes_of(*packed, {}), want = test::slopes_of(*exact, {});
      ASSERT_TRUE(got.ok() && want.ok()) << got.status().to_string() << want.status().to_string();
      ASSERT_EQ(got->size(), want->size());
      double largest = 0;
      const auto norm_of = [](const Slope& s) {
        double sum = 0;
        for (const double v : s.values) sum += v * v;
        return std::sqrt(sum);
      };
      for (std::size_t i = 1; i < want->size(); ++i)
        largest = std::max(largest, norm_of((*want)[i]));
      EXPECT_GT(largest, 0);
      for (std::size_t i = 0; i < want->size(); ++i) {
        const Slope &a = (*got)[i], &b = (*want)[i];
        ASSERT_EQ(a.name, b.name);
        ASSERT_EQ(a.values.size(), b.values.size());
        double difference = 0;
        for (std::size_t j = 0; j < b.values.size(); ++j)
          difference += (a.values[j] - b.values[j]) * (a.values[j] - b.values[j]);
        // Where terms cancel, the largest gradient says how large they are.
        EXPECT_LE(std::sqrt(difference), bound(format) * std::max(norm_of(b), 0.2 * largest))
            << b.name << " of norm " << norm_of(b) << ", the largest has " << largest;
      }
    }
    ++counts.deltas;
  }
}

TEST_P(Matrix, GradientsEqualFiniteDifferences) {
  for (const LayerSample& sample : samples_) {
    test::check_gradients(test::topology_of(sample, "f64"), sample.width == 0, 2, 3);
    ++counts.differences;
  }
}

TEST_P(Matrix, ReadsBackFromItsTopologyAndItsFile) {
  const std::string path =
      testing::TempDir() + "loom_matrix_" + std::string(GetParam()->name()) + ".entity";
  for (const char* dtype : {"f32", "f64", "i4"}) {
    for (const LayerSample& sample : samples_) {
      SCOPED_TRACE(dtype);
      auto n = test::network_of(sample, *parse_weight_format(dtype));
      ASSERT_TRUE(n.ok()) << n.status().to_string();
      const std::string topology = n->to_json().dump();
      const auto again = Network::from_json(std::string_view(topology));
      ASSERT_TRUE(again.ok()) << again.status().to_string();
      EXPECT_EQ(again->to_json().dump(), topology);
      ASSERT_TRUE(save_network(path, *n).ok());
      auto source = open_source(path);
      ASSERT_TRUE(source.ok());
      auto entity = Entity::open(*source);
      ASSERT_TRUE(entity.ok()) << entity.status().to_string();
      auto loaded = load_network(*entity);
      ASSERT_TRUE(loaded.ok()) << loaded.status().to_string();
      EXPECT_EQ(loaded->to_json().dump(), topology);
      const auto y = test::outputs_of(*loaded, {}), want = test::outputs_of(*n, {});
      ASSERT_TRUE(y.ok() && want.ok()) << y.status().to_string() << want.status().to_string();
      EXPECT_TRUE(same_bits(*y, *want));
      std::filesystem::remove(path);
    }
  }
}

TEST(Layers, NamesStandOnce) {
  std::set<std::string_view> once;
  for (const LayerType* type : layer_types())
    EXPECT_TRUE(once.insert(type->name()).second) << "two layers are called " << type->name();
}

INSTANTIATE_TEST_SUITE_P(Layers, Matrix, testing::ValuesIn(test::sampled_types()),
                         [](const auto& info) { return std::string(info.param->name()); });

}  // namespace
}  // namespace loom
