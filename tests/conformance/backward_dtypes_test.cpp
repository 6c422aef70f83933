// Backward in every weight format: the gradients of a decoder block whose weights are packed
// against those of the same block in f64 with the decoded weights. Only the arithmetic differs, so
// they agree within what the class rounds.
#include "conformance/support.h"

namespace loom {
namespace {

constexpr std::size_t kSequences = 2, kLength = 9, kIds = 24;

std::string decoder(std::string_view dtype) {
  const std::string f = R"("dtype":")" + std::string(dtype) + "\"";
  return test::chain(
      R"({"ids":24})",
      {R"("type":"embedding","out":32,"std":0.7,)" + f,
       R"("type":"sequential",)" + f +
           R"(,"layers":[{"type":"sequential","layers":[{"type":"rms_norm"},{"type":"attention","heads":4,"kv_heads":2}]},{"type":"residual"},
                                         {"type":"sequential","layers":[{"type":"layer_norm"},{"type":"swiglu","hidden":48}]},{"type":"residual"}])",
       R"("type":"dense","out":24,)" + f});
}

using Gradients = std::vector<std::pair<std::string, std::vector<double>>>;

Gradients gradients(Network& network) {
  ThreadPool pool(2);
  auto learner = Learner::create(network, pool,
                                 {.loss = Loss::cross_entropy,
                                  .max_rows = kSequences * kLength,
                                  .update = false,
                                  .poison = true});
  EXPECT_TRUE(learner.ok()) << learner.status().to_string();
  std::vector<std::uint32_t> ids, positions;
  std::vector<std::int32_t> targets;
  for (std::size_t r = 0; r < kSequences * kLength; ++r) {
    ids.push_back(static_cast<std::uint32_t>((r * 7 + r * r) % kIds));
    positions.push_back(static_cast<std::uint32_t>(r % kLength));
    targets.push_back(static_cast<std::int32_t>((r * 5 + 3) % kIds));
  }
  EXPECT_TRUE(learner->batch(std::span<const std::uint32_t>(ids), positions, targets).ok());
  EXPECT_TRUE(learner->accumulate().ok());
  Gradients all;
  for (const auto& g : learner->gradients()) {
    std::vector<double> values;
    for (std::int64_t r = 0; r < g.rows; ++r) {
      if (g.type == ValueType::f64) {
        for (double v : learner->executor().row<double>(g.value.buffer, r)) values.push_back(v);
      } else {
        for (float v : learner->executor().row<float>(g.value.buffer, r))
          values.push_back(static_cast<double>(v));
      }
    }
    all.emplace_back(g.path + ":" + g.role, std::move(values));
  }
  return all;
}

double bound(const WeightFormat& format) {
  switch (product_class(format)) {
    case ArithClass::integer: return 5e-4;  // activations of 15 bits
    case ArithClass::bfloat: return 3e-5;   // of 17
    case ArithClass::single: return 3e-6;
    case ArithClass::real: return 1e-12;
  }
  return 0;
}

TEST(BackwardDtypes, EqualTheF64BackwardOnTheDecodedWeights) {
  for (const WeightFormat& format : all_weight_formats()) {
    if (format.layout == Layout::q4_k || format.layout == Layout::q6_k) continue;  // read only
    SCOPED_TRACE(to_string(format));
    auto packed = Network::from_json(std::string_view(decoder("f32")));
    auto exact = Network::from_json(std::string_view(decoder("f64")));
    ASSERT_TRUE(packed.ok() && exact.ok());
    ASSERT_TRUE(packed->initialize(5).ok() && exact->initialize(5).ok());
    ASSERT_TRUE(packed->morph(format).ok());
    // The twin gets what the packed weights decode to.
    for (auto& p : packed->params()) {
      WeightStore* twin = exact->find(p.path, p.param->spec.role);
      ASSERT_NE(twin, nullptr);
      ASSERT_TRUE(twin->morph({.dtype = DType::f64}).ok());
      ASSERT_TRUE(p.param->store->values(twin->mutable_master64()).ok());
      twin->touch();
    }
    const Gradients got = gradients(*packed), want = gradients(*exact);
    ASSERT_EQ(got.size(), want.size());
    ASSERT_GT(got.size(), 10u);
    for (std::size_t i = 0; i < got.size(); ++i) {
      ASSERT_EQ(got[i].first, want[i].first);
      ASSERT_EQ(got[i].second.size(), want[i].second.size());
      double difference = 0, norm = 0;
      for (std::size_t j = 0; j < want[i].second.size(); ++j) {
        difference +=
            (got[i].second[j] - want[i].second[j]) * (got[i].second[j] - want[i].second[j]);
        norm += want[i].second[j] * want[i].second[j];
      }
      EXPECT_GT(norm, 0) << got[i].first;
      EXPECT_LE(std::sqrt(difference / norm), bound(format)) << got[i].first;
    }
  }
}

}  // namespace
}  // namespace loom
