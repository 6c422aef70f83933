// Attention over q15 keys and values against a readable reference of numerics rule 6, to the bit:
// sums in int64, one position after another; and close to attention in f64.
#include <gtest/gtest.h>

#include <cmath>

#include "base/math/exact_math.h"
#include "base/random.h"
#include "numeric/q15.h"
#include "ops/cpu/executor.h"
#include "ops/program_builder.h"

namespace loom {
namespace {

struct Case {
  AttentionShape shape;
  std::int64_t positions = 1;
};

struct Rows15 {  // the q15 form of one row
  std::vector<std::int8_t> hi, lo;
  float scale;
  explicit Rows15(std::span<const float> x)
      : hi(x.size()), lo(x.size()), scale(quantize_q15(x, hi.data(), lo.data()).scale) {}
};

float joined(const Rows15& a, const std::vector<std::int8_t>& b_hi,
             const std::vector<std::int8_t>& b_lo) {
  std::int64_t hh = 0, mid = 0, ll = 0;
  for (std::size_t i = 0; i < a.hi.size(); ++i) {
    hh += a.hi[i] * b_hi[i];
    mid += a.hi[i] * b_lo[i] + a.lo[i] * b_hi[i];
    ll += a.lo[i] * b_lo[i];
  }
  return (static_cast<float>(hh) * 128.0f + static_cast<float>(mid)) * 128.0f +
         static_cast<float>(ll);
}

// Row i of the result, given all q, k, v rows of the sequence up to i.
std::vector<float> reference(const Case& c, const std::vector<float>& q,
                             const std::vector<float>& k, const std::vector<float>& v,
                             std::int64_t i) {
  const auto& s = c.shape;
  const auto hd = static_cast<std::size_t>(s.head_dim);
  const float scale = static_cast<float>(s.scale);
  std::vector<float> out;
  for (std::int64_t h = 0; h < s.heads; ++h) {
    const std::int64_t kvh = h / (s.heads / s.kv_heads);
    auto at = [&](const std::vector<float>& x, std::int64_t row, std::int64_t heads,
                  std::int64_t head) {
      return std::span(x).subspan(static_cast<std::size_t>((row * heads + head) * s.head_dim), hd);
    };
    const Rows15 query(at(q, i, s.heads, h));
    const std::int64_t begin = s.window > 0 ? std::max<std::int64_t>(0, i - s.window + 1) : 0;
    std::vector<float> scores(static_cast<std::size_t>(i + 1));
    float top = -INFINITY;
    for (std::int64_t j = begin; j <= i; ++j) {
      const Rows15 key(at(k, j, s.kv_heads, kvh));
      const float score = (joined(query, key.hi, key.lo) * (query.scale * key.scale)) * scale;
      scores[static_cast<std::size_t>(j)] = score;
      top = std::max(top, score);
    }
    top += 0x1.02p-7f;
    std::vector<float> num(hd, 0.0f);
    float den = 0;
    for (std::int64_t b = begin / 64; b <= i / 64; ++b) {
      float e[64] = {}, weight[64] = {};
      std::vector<Rows15> values;
      for (std::int64_t n = 0; n < 64; ++n) {
        const std::int64_t j = b * 64 + n;
        values.emplace_back(at(v, std::min(j, i), s.kv_heads, kvh));
        if (j < begin || j > i) continue;
        e[n] = exact::exp_difference(scores[static_cast<std::size_t>(j)], top);
        weight[n] = e[n] * values.back().scale;
      }
      for (int half = 32; half >= 1; half /= 2)
        for (int n = 0; n < half; ++n) e[n] += e[n + half];
      den += e[0];
      const Rows15 p{std::span<const float>(weight)};
      for (std::size_t d = 0; d < hd; ++d) {
        std::vector<std::int8_t> hi(64), lo(64);
        for (std::size_t n = 0; n < 64; ++n) {
          hi[n] = values[n].hi[d];
          lo[n] = values[n].lo[d];
        }
        num[d] += joined(p, hi, lo) * p.scale;
      }
    }
    const float inverse = 1.0f / den;
    for (float n : num) out.push_back(std::fabs(n * inverse) < 0x1p-40f ? 0.0f : n * inverse);
  }
  return out;
}

// The same in f64, for closeness.
std::vector<double> plain(const Case& c, const std::vector<float>& q, const std::vector<float>& k,
                          const std::vector<float>& v, std::int64_t i) {
  const auto& s = c.shape;
  std::vector<double> out;
  for (std::int64_t h = 0; h < s.heads; ++h) {
    const std::int64_t kvh = h / (s.heads / s.kv_heads),
                       begin = s.window > 0 ? std::max<std::int64_t>(0, i - s.window + 1) : 0;
    auto at = [&](const std::vector<float>& x, std::int64_t row, std::int64_t heads,
                  std::int64_t head, std::int64_t d) {
      return static_cast<double>(
          x[static_cast<std::size_t>((row * heads + head) * s.head_dim + d)]);
    };
    std::vector<double> num(static_cast<std::size_t>(s.head_dim), 0.0);
    double den = 0;
    for (std::int64_t j = begin; j <= i; ++j) {
      double dot = 0;
      for (std::int64_t d = 0; d < s.head_dim; ++d)
        dot += at(q, i, s.heads, h, d) * at(k, j, s.kv_heads, kvh, d);
      const double e = std::exp(dot * s.scale);
      den += e;
      for (std::int64_t d = 0; d < s.head_dim; ++d)
        num[static_cast<std::size_t>(d)] += e * at(v, j, s.kv_heads, kvh, d);
    }
    for (double n : num) out.push_back(n / den);
  }
  return out;
}

class AttentionQ15 : public testing::TestWithParam<Case> {};

// Attention over a cache of codes, as a program.
Program attention_program(const AttentionShape& s, std::int64_t n) {
  const std::int64_t width = s.heads * s.head_dim, kv_width = s.kv_heads * s.head_dim,
                     capacity = (n + 63) / 64 * 64;
  Program program;
  ProgramBuilder emit(program);
  const Rows rows{1, emit.u32_register("R", static_cast<std::uint32_t>(n)), kNone};
  const View q_in = emit.input("q", ValueType::f32, rows, width),
             k_in = emit.input("k", ValueType::f32, rows, kv_width),
             v_in = emit.input("v", ValueType::f32, rows, kv_width);
  const View seq = emit.input("seq", ValueType::u32, rows, 1),
             pos = emit.input("pos", ValueType::u32, rows, 1);
  const View kv = emit.state("a", "kv", ValueType::q15, {2 * capacity},
                             kv_columns(ValueType::q15, s.kv_heads, s.head_dim));
  emit.kv_append(k_in, v_in, seq, pos, kv, s);
  emit.copy_to(emit.attention(q_in, kv, seq, pos, s),
               emit.output("y", ValueType::f32, rows, width));
  return program;
}

TEST_P(AttentionQ15, EqualsTheReference) {
  const Case& c = GetParam();
  const auto& s = c.shape;
  const std::int64_t n = c.positions, width = s.heads * s.head_dim,
                     kv_width = s.kv_heads * s.head_dim;
  const RandomStream random(3, 14);
  std::uint64_t at = 0;
  auto values = [&](std::int64_t count, float size) {
    std::vector<float> x;
    for (std::int64_t i = 0; i < count; ++i, ++at)
      x.push_back((2 * random.uniform(at) - 1) * size * (at % 97 == 0 ? 9.0f : 1.0f));
    return x;
  };
  std::vector<float> q = values(n * width, 1.5f), k = values(n * kv_width, 1.0f),
                     v = values(n * kv_width, 2.0f);
  if (n > 5)
    for (std::int64_t d = 0; d < kv_width; ++d)
      v[static_cast<std::size_t>(5 * kv_width + d)] = 0;  // a row of zeros

  for (std::string_view isa : cpu::available_isas()) {
    SCOPED_TRACE(isa);
    ThreadPool pool(2);
    auto made = cpu::Executor::create(attention_program(s, n), [](auto, auto) { return nullptr; },
                                      pool, {.isa = isa, .sequences = 2, .poison = true});
    ASSERT_TRUE(made.ok()) << made.status().to_string();
    cpu::Executor& x = **made;
    const Program& p = x.program();
    auto input = [&](const char* name) { return p.find(BufferKind::input, "", name); };
    // A prefill of all but the last third, then single positions; in the second sequence, so that
    // pages are not the first ones.
    for (std::int64_t done = 0, count; done < n; done += count) {
      count = done == 0 ? std::max<std::int64_t>(1, 2 * n / 3) : 1;
      ASSERT_TRUE(x.set(p.find_register("R"), static_cast<std::uint32_t>(count)).ok());
      for (std::int64_t r = 0; r < count; ++r) {
        std::copy_n(q.data() + (done + r) * width, width, x.row<float>(input("q"), r).data());
        std::copy_n(k.data() + (done + r) * kv_width, kv_width, x.row<float>(input("k"), r).data());
        std::copy_n(v.data() + (done + r) * kv_width, kv_width, x.row<float>(input("v"), r).data());
        x.row<std::uint32_t>(input("seq"), r)[0] = 1;
        x.row<std::uint32_t>(input("pos"), r)[0] = static_cast<std::uint32_t>(done + r);
      }
      ASSERT_TRUE(x.run().ok());
      for (std::int64_t r = 0; r < count; ++r) {
        const auto got = x.row<float>(p.find(BufferKind::output, "", "y"), r);
        const auto want = reference(c, q, k, v, done + r);
        const auto close = plain(c, q, k, v, done + r);
        for (std::size_t d = 0; d < want.size(); ++d) {
          ASSERT_EQ(got[d], want[d]) << "position " << done + r << ", value " << d;
          ASSERT_NEAR(got[d], close[d], 4e-3) << "position " << done + r << ", value " << d;
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, AttentionQ15,
                         testing::Values(Case{{2, 2, 16, 0, true, 0.25}, 3},
                                         Case{{4, 2, 20, 0, true, 0.2236}, 150},
                                         Case{{3, 1, 64, 40, true, 0.125}, 140},
                                         Case{{1, 1, 1, 0, true, 1.0}, 66},
                                         Case{{2, 1, 33, 7, true, 0.17}, 20}),
                         [](const auto& info) {
                           return "Heads" + std::to_string(info.param.shape.heads) + "Dim" +
                                  std::to_string(info.param.shape.head_dim);
                         });

}  // namespace
}  // namespace loom
