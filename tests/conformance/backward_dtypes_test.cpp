// Backward in every weight format: the gradients of a decoder block whose weights are packed
// against those of the same block in f64 with the decoded weights. Only the arithmetic differs, so
// they agree within what the class rounds.
#include "conformance/support.h"
#include "ops/cpu/isa.h"
#include "ops/program_builder.h"

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

// gx = gy W of many rows, whose panels are decoded where they are used: in every set of
// instructions the bits of the product with the decoded weights.
TEST(BackwardDtypes, PanelsOfCodesAreThoseOfTheDecodedWeights) {
  constexpr std::int64_t kRows = 19, kOut = 2090, kIn = 149;  // parts of panels, windows and sums
  std::vector<float> random(static_cast<std::size_t>(kOut * (kRows + kIn)));
  const RandomStream stream(5, 1);
  for (std::size_t i = 0; i < random.size(); ++i) random[i] = 2 * stream.uniform(i) - 1;
  const auto product = [&](WeightStore& store, std::string_view isa) {
    Program program;
    ProgramBuilder emit(program);
    const View gy = emit.input("gy", ValueType::f32, {kRows}, kOut),
               w = emit.weight("w", "w", kOut, kIn, store.format(), ValueType::f32);
    emit.copy_to(emit.matmul_t(w, gy), emit.output("gx", ValueType::f32, {kRows}, kIn));
    ThreadPool pool(2);
    auto executor = Executor::create(std::move(program), [&](auto, auto) { return &store; }, pool,
                                     {.isa = std::string(isa)});
    EXPECT_TRUE(executor.ok()) << executor.status().to_string();
    const auto in = (*executor)->program().find(BufferKind::input, "", "gy"),
               out = (*executor)->program().find(BufferKind::output, "", "gx");
    for (std::int64_t r = 0; r < kRows; ++r)
      std::copy_n(random.begin() + r * kOut, kOut, (*executor)->row<float>(in, r).begin());
    EXPECT_TRUE((*executor)->run(Segment::forward, Segment::forward).ok());
    std::vector<float> gx;
    for (std::int64_t r = 0; r < kRows; ++r)
      for (float v : (*executor)->row<float>(out, r)) gx.push_back(v);
    return gx;
  };
  for (const WeightFormat& format : all_weight_formats()) {
    if (format.layout == Layout::q4_k || format.layout == Layout::q6_k) continue;  // read only
    SCOPED_TRACE(to_string(format));
    auto packed = WeightStore::from_f32(
        kOut, kIn, {random.begin() + kOut * kRows, random.begin() + kOut * (kRows + kIn)});
    ASSERT_TRUE(packed.ok() && packed->morph(format).ok());
    std::vector<float> values(static_cast<std::size_t>(kOut * kIn));
    ASSERT_TRUE(packed->values(std::span(values)).ok());
    auto decoded = WeightStore::from_f32(kOut, kIn, values);
    ASSERT_TRUE(decoded.ok());
    const std::vector<float> want = product(*decoded, "");
    ASSERT_NE(want[7], 0);
    for (const std::string_view isa : cpu::available_isas())
      EXPECT_EQ(product(*packed, isa), want) << isa;
  }
}

}  // namespace
}  // namespace loom
