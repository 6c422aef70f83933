// Products of class I over odd shapes: every instruction set, row count and team gives the bits of
// the readable reference (code_at, quantize_q15, quantize_i8, join_q15), also where codes and
// activations are as large as they can be.
#include <gtest/gtest.h>

#include "base/random.h"
#include "exec/session.h"
#include "numeric/q15.h"
#include "ops/cpu/isa.h"

namespace loom {
namespace {

constexpr std::int64_t kRows = 33;

struct Case {
  std::int64_t in, out;
  bool extreme;
};

std::vector<float> values(std::int64_t n, std::uint64_t stream, bool extreme) {
  const RandomStream random(17, stream);
  std::vector<float> v;
  for (std::int64_t i = 0; i < n; ++i) {
    const float u = 2 * random.uniform(static_cast<std::uint64_t>(i)) - 1;
    v.push_back(extreme ? (u < -0.9f ? -1.0f : 1.0f) : u);
  }
  return v;
}

void check(const WeightFormat& format, const Case& c, const std::string& activations) {
  auto n = Network::from_json(std::string_view(
      R"({"format":"loom-topology","version":1,"input":{"width":)" + std::to_string(c.in) +
      R"(},"cells":[{"at":[0,0,0,0],"type":"dense","out":)" + std::to_string(c.out) + "}]}"));
  ASSERT_TRUE(n.ok()) << n.status().to_string();
  ASSERT_TRUE(n->initialize(1).ok());
  WeightStore &w = *n->find("0.0.0.0", "weight"), &bias = *n->find("0.0.0.0", "bias");
  const auto weights = values(c.in * c.out, 1, c.extreme), biases = values(c.out, 2, false);
  std::copy(weights.begin(), weights.end(), w.mutable_master().begin());
  std::copy(biases.begin(), biases.end(), bias.mutable_master().begin());
  w.touch();
  bias.touch();
  ASSERT_TRUE(n->morph(format).ok());
  const auto packed = w.packed();
  ASSERT_TRUE(packed.ok());
  const std::vector<float> x = values(kRows * c.in, 3, c.extreme);
  std::vector<float> want;
  std::vector<std::int32_t> codes;
  for (std::int64_t o = 0; o < c.out; ++o)
    for (std::int64_t k = 0; k < c.in; ++k) codes.push_back(code_at(*packed, o, k));
  std::vector<std::int8_t> hi(static_cast<std::size_t>(c.in)), lo(hi.size());
  for (std::int64_t r = 0; r < kRows; ++r) {
    const auto row = std::span(x).subspan(static_cast<std::size_t>(r * c.in), hi.size());
    const bool one_plane = activations == "i8";
    if (one_plane) std::ranges::fill(lo, 0);
    const Q15Scale q =
        one_plane ? quantize_i8(row, hi.data()) : quantize_q15(row, hi.data(), lo.data());
    for (std::int64_t o = 0; o < c.out; ++o) {
      std::int32_t s_hi = 0, s_lo = 0;
      for (std::size_t k = 0; k < hi.size(); ++k) {
        const std::int32_t code = codes[static_cast<std::size_t>(o * c.in) + k];
        s_hi += code * hi[k];
        s_lo += code * lo[k];
      }
      const float scale =
          format.dtype == DType::fp4 ? 0.5f * packed->row_scale(o) : packed->row_scale(o);
      want.push_back(join_q15(s_hi, s_lo, q.scale, scale) + biases[static_cast<std::size_t>(o)]);
    }
  }
  for (std::string_view isa : cpu::available_isas())
    for (int threads : {1, 3}) {
      ThreadPool pool(threads);
      auto s = Session::create(
          *n, pool,
          {.max_rows = kRows, .isa = std::string(isa), .activations = activations, .poison = true});
      ASSERT_TRUE(s.ok()) << s.status().to_string();
      for (std::int64_t rows : {1, 2, 3, 4, 5, 6, 7, 8, 11, 12, 13, 33}) {
        ASSERT_TRUE(s->run(std::span(x).first(static_cast<std::size_t>(rows * c.in)), rows).ok());
        for (std::int64_t r = 0; r < rows; ++r)
          for (std::int64_t o = 0; o < c.out; ++o)
            ASSERT_EQ(s->output(r)[static_cast<std::size_t>(o)],
                      want[static_cast<std::size_t>(r * c.out + o)])
                << isa << ", " << threads << " threads, row " << r << " of " << rows << ", output "
                << o;
      }
    }
}

void check_blocks(const WeightFormat& format, const Case& c, const std::string& activations) {
  auto n = Network::from_json(std::string_view(
      R"({"format":"loom-topology","version":1,"input":{"width":)" + std::to_string(c.in) +
      R"(},"cells":[{"at":[0,0,0,0],"type":"dense","out":)" + std::to_string(c.out) + "}]}"));
  ASSERT_TRUE(n.ok() && n->initialize(1).ok());
  WeightStore& w = *n->find("0.0.0.0", "weight");
  const auto weights = values(c.in * c.out, 1, c.extreme);
  std::copy(weights.begin(), weights.end(), w.mutable_master().begin());
  w.touch();
  const Status morphed = n->morph(format);
  ASSERT_TRUE(morphed.ok()) << morphed.to_string();
  const std::vector<float> x = values(kRows * c.in, 3, c.extreme);
  const auto outputs = [&](std::string_view isa, int threads, std::int64_t rows) {
    ThreadPool pool(threads);
    auto s = Session::create(
        *n, pool,
        {.max_rows = kRows, .isa = std::string(isa), .activations = activations, .poison = true});
    std::vector<float> y;
    EXPECT_TRUE(s.ok());
    for (std::int64_t at = 0; s.ok() && at < kRows; at += rows) {
      const std::int64_t count = std::min(rows, kRows - at);
      const auto some = std::span(x).subspan(static_cast<std::size_t>(at * c.in),
                                             static_cast<std::size_t>(count * c.in));
      EXPECT_TRUE(s->run(some, count).ok());
      for (std::int64_t r = 0; r < count; ++r)
        y.insert(y.end(), s->output(r).begin(), s->output(r).end());
    }
    return y;
  };
  const std::vector<float> want = outputs("generic", 1, 1);
  for (const std::string_view isa : cpu::available_isas())
    for (const int threads : {1, 3})
      for (const std::int64_t rows : {5, 13, 33})
        ASSERT_EQ(outputs(isa, threads, rows), want)
            << isa << ", " << threads << " threads, " << rows << " rows at once";
}

TEST(IntegerProducts, EqualTheReferenceAtEveryShape) {
  for (const WeightFormat& format : all_weight_formats()) {
    if (product_class(format) != ArithClass::integer || format.scale == ScaleKind::block) continue;
    for (const Case& c : {Case{1, 1, false},
                          {20, 15, false},
                          {63, 16, false},
                          {64, 33, false},
                          {100, 17, true},
                          {129, 31, false},
                          {256, 49, true},
                          {257, 32, false},
                          {1300, 49, true},
                          {330, 65, true}}) {
      SCOPED_TRACE(to_string(format) + ", " + std::to_string(c.in) + " x " + std::to_string(c.out) +
                   (c.extreme ? ", extreme" : ""));
      for (const char* activations : {"q15", "i8"}) check(format, c, activations);
      if (HasFatalFailure()) return;
    }
  }
}

// Rows so long that a block of them has few of all rows.
TEST(IntegerProducts, EqualTheReferenceInBlocksOfRows) {
  for (const char* activations : {"q15", "i8"})
    check(*parse_weight_format("i8"), {40000, 17, false}, activations);
}

TEST(IntegerProducts, ActivationsAreOfTwoKinds) {
  auto n = Network::from_json(std::string_view(
      R"({"format":"loom-topology","version":1,"input":{"width":4},"cells":[{"at":[0,0,0,0],"type":"dense","out":2}]})"));
  ASSERT_TRUE(n.ok() && n->initialize(1).ok());
  ThreadPool pool(1);
  const auto s = Session::create(*n, pool, {.activations = "i4"});
  ASSERT_FALSE(s.ok());
  EXPECT_NE(s.status().message().find("activations: expects q15, i8; got 'i4'"), std::string::npos)
      << s.status().to_string();
}

// Scales per block, whose sums are floats in a fixed order: the bits of the generic kernels.
TEST(IntegerProducts, OfBlocksAreTheSameForAllInstructionSets) {
  for (const WeightFormat& format : all_weight_formats()) {
    if (product_class(format) != ArithClass::integer || format.scale != ScaleKind::block ||
        format.layout == Layout::q4_k || format.layout == Layout::q6_k)  // read only: dtypes_test
      continue;
    for (const Case& c :
         {Case{64, 33, false}, {100, 17, true}, {330, 65, false}, {1300, 49, true}}) {
      SCOPED_TRACE(to_string(format) + ", " + std::to_string(c.in) + " x " + std::to_string(c.out));
      for (const char* activations : {"q15", "i8"}) check_blocks(format, c, activations);
      if (HasFatalFailure()) return;
    }
  }
}

}  // namespace
}  // namespace loom
