// Products of class I over odd shapes: every instruction set, row count and team gives the bits of
// the readable reference (code_at, quantize_q15, join_q15), also where codes and activations are as
// large as they can be.
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

void check(const WeightFormat& format, const Case& c) {
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
    const Q15Scale q = quantize_q15(
        std::span(x).subspan(static_cast<std::size_t>(r * c.in), hi.size()), hi.data(), lo.data());
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
      auto s =
          Session::create(*n, pool, {.max_rows = kRows, .isa = std::string(isa), .poison = true});
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
      check(format, c);
      if (HasFatalFailure()) return;
    }
  }
}

// Rows so long that a block of them has few of all rows.
TEST(IntegerProducts, EqualTheReferenceInBlocksOfRows) {
  check(*parse_weight_format("i8"), {40000, 17, false});
}

}  // namespace
}  // namespace loom
