// Normalized exponentials against f64 and long double, over rows of every size and shape: the
// bounds of numerics rule 6. LOOM_ROWS=1000000 checks a million rows, as a release does.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "base/random.h"
#include "ops/cpu/executor.h"
#include "ops/program_builder.h"

namespace loom {
namespace {

constexpr std::int64_t kRows = 16;  // of a run

std::uint64_t rows_to_check() {
  const char* text = std::getenv("LOOM_ROWS");
  return text ? std::strtoull(text, nullptr, 10) : 20000;
}

// A unit in the last place of a number of this size.
template <class T, class Wide>
Wide ulp(Wide x) {
  int e = 0;
  std::frexp(x, &e);
  return std::ldexp(Wide{1}, e - std::numeric_limits<T>::digits);
}

// Row number `i` of the test: its size, offset and shape come from the number.
template <class T>
void fill_row(std::uint64_t i, std::span<T> x) {
  const RandomStream random(41, i);
  auto draw = [&](std::uint64_t k) { return static_cast<T>(2) * random.uniform(k + 10) - 1; };
  auto size = [&](std::uint64_t k, int min, int max) {
    const std::uint32_t above = random.below(k, static_cast<std::uint32_t>(max - min));
    return std::ldexp(static_cast<T>(1), min + static_cast<int>(above));
  };
  const T big = size(0, -10, 101), offset = draw(1) * size(1, 0, 40), near = size(2, -4, 6);
  for (std::uint64_t c = 0; c < x.size(); ++c) {
    switch (i % 8) {
      case 0: x[c] = draw(c) * near; break;
      case 1: x[c] = offset + draw(c) * near; break;
      case 2: x[c] = draw(c) * big; break;  // 2^100 is above 1e30
      case 3: x[c] = offset; break;         // equal
      case 4: x[c] = random.below(c + 10, 2) == 0 ? offset : offset - near; break;
      case 5: x[c] = c == i / 8 % x.size() ? offset : offset - near; break;  // one above others
      case 6: x[c] = offset + std::ldexp(draw(c), static_cast<int>(c % 20)); break;
      default: x[c] = draw(c) < 0 ? -big : near * draw(c + x.size()); break;
    }
  }
}

// A program of one input of n columns, run over rows of the test; check(row's number, input,
// outputs).
template <class T>
class Rowwise {
 public:
  Rowwise(std::int64_t n, const std::string& isa) : n_(n), pool_(1) {
    constexpr ValueType type = sizeof(T) == 4 ? ValueType::f32 : ValueType::f64;
    Program program;
    ProgramBuilder emit(program);
    const Rows rows{1, emit.u32_register("R", kRows), kNone};
    const View x = emit.input("x", type, rows, n), t = emit.input("t", ValueType::i32, rows, 1);
    const View results[4] = {emit.softmax(x, SoftmaxKind::softmax, n, 2),
                             emit.softmax(x, SoftmaxKind::log_softmax, n, 2),
                             emit.cross_entropy(x, t), emit.cross_entropy_back(x, t)};
    for (int i = 0; i < 4; ++i) {
      const std::string name = "y" + std::to_string(i);
      emit.copy_to(results[i], emit.output(name, type, rows, results[i].cols));
    }
    auto made = cpu::Executor::create(program, [](auto, auto) { return nullptr; }, pool_,
                                      {.isa = isa, .poison = true});
    EXPECT_TRUE(made.ok()) << made.status().to_string();
    x_ = std::move(*made);
  }

  template <class F>
  void run(std::uint64_t first, F check) {
    Executor& e = *x_;
    const Program& p = e.program();
    ASSERT_TRUE(e.set(p.find_register("R"), kRows).ok());
    const BufferId x = p.find(BufferKind::input, "", "x"), t = p.find(BufferKind::input, "", "t");
    std::vector<std::vector<T>> in(kRows);
    for (std::int64_t r = 0; r < kRows; ++r) {
      fill_row<T>(first + static_cast<std::uint64_t>(r), e.row<T>(x, r));
      in[static_cast<std::size_t>(r)].assign(e.row<T>(x, r).begin(), e.row<T>(x, r).end());
      if constexpr (sizeof(T) == 4)  // what a kernel reads of it
        for (float& v : in[static_cast<std::size_t>(r)]) v = std::fabs(v) < 0x1p-40f ? 0 : v;
      e.row<std::int32_t>(t, r)[0] = target(first + static_cast<std::uint64_t>(r));
    }
    ASSERT_TRUE(e.run().ok());
    for (std::int64_t r = 0; r < kRows; ++r) {
      std::span<const T> y[4];
      for (int i = 0; i < 4; ++i)
        y[i] = e.row<T>(p.find(BufferKind::output, "", "y" + std::to_string(i)), r);
      const std::span<const T> row(in[static_cast<std::size_t>(r)]);
      check(first + static_cast<std::uint64_t>(r), row, y);
    }
  }
  std::int32_t target(std::uint64_t i) const {
    return static_cast<std::int32_t>(i / 8 % static_cast<std::uint64_t>(n_));
  }

 private:
  std::int64_t n_;
  ThreadPool pool_;
  std::unique_ptr<Executor> x_;
};

struct Worst {
  double share = 0, logarithm = 0, loss = 0, slope = 0;
};

// The four results of a row against the exact ones, as multiples of their bounds.
template <class T, class Wide>
void judge(std::span<const T> x, std::span<const T> (&y)[4], std::size_t target, Wide min,
           Worst& worst) {
  const Wide top = *std::max_element(x.begin(), x.end());
  // The sum of all but the largest, so that the logarithm of a sum just above 1 keeps its digits.
  Wide others = 0;
  bool first = true;
  for (const T v : x) {
    if (first && v == top) first = false;
    else others += std::exp(static_cast<Wide>(v) - top);
  }
  const Wide sum = 1 + others, logarithm = std::log1p(others);
  const Wide half = std::ldexp(Wide{1}, -std::numeric_limits<T>::digits);
  auto over = [](double& max, Wide error, Wide bound) {
    max = std::max(max, static_cast<double>(error / bound));
  };
  for (std::size_t c = 0; c < x.size(); ++c) {
    ASSERT_TRUE(std::isfinite(y[0][c]) && std::isfinite(y[1][c]) && std::isfinite(y[3][c]))
        << c << " of " << x.size();
    const Wide d = static_cast<Wide>(x[c]) - top, p = std::exp(d) / sum;
    const Wide slope = p - (c == target ? 1 : 0);
    if (p >= min) over(worst.share, std::fabs(y[0][c] - p), ulp<T>(p));
    else ASSERT_LE(y[0][c], min * 1.01) << c;
    over(worst.logarithm, std::fabs(y[1][c] - (d - logarithm)),
         ulp<T>(std::max(-d, logarithm)) + half / 4);
    if (p >= min)
      over(worst.slope, std::fabs(y[3][c] - slope), ulp<T>(std::max(p, std::fabs(slope))));
    ASSERT_LE(y[1][c], 0);
  }
  const Wide d = top - static_cast<Wide>(x[target]);
  ASSERT_GE(y[2][0], 0);
  over(worst.loss, std::fabs(y[2][0] - (d + logarithm)), ulp<T>(std::max(d, logarithm)) + half / 4);
}

template <class T, class Wide>
void check_rows(const std::string& isa, std::uint64_t count, Wide min) {
  Worst worst;
  const std::int64_t sizes[] = {1, 2, 3, 10, 16, 17, 64, 65, 100, 511, 1000, 4096};
  std::uint64_t done = 0;
  for (const std::int64_t n : sizes) {
    Rowwise<T> rows(n, isa);
    // Long rows are fewer.
    const std::uint64_t fewer = n > 100 ? 12 * static_cast<std::uint64_t>(n) / 100 : 16;
    const std::uint64_t end = count * 2 / fewer;
    for (std::uint64_t i = 0; i < end && !testing::Test::HasFatalFailure();
         i += kRows, done += kRows)
      rows.run(i, [&](std::uint64_t row, std::span<const T> x, std::span<const T>(&y)[4]) {
        SCOPED_TRACE("row " + std::to_string(row) + " of " + std::to_string(n));
        judge<T, Wide>(x, y, static_cast<std::size_t>(rows.target(row)), min, worst);
      });
  }
  std::printf(
      "%s, %d bits, %llu rows: softmax %.2f ulp, log-softmax %.2f, loss %.2f, "
      "gradient %.2f\n",
      isa.c_str(), static_cast<int>(8 * sizeof(T)), static_cast<unsigned long long>(done),
      worst.share, worst.logarithm, worst.loss, worst.slope);
  EXPECT_LE(worst.share, 4);
  EXPECT_LE(worst.logarithm, 4);
  EXPECT_LE(worst.loss, 4);
  EXPECT_LE(worst.slope, 4);
}

TEST(Exponentials, RowsOfFloatsStayWithinFourUlp) {
  for (const std::string_view isa : cpu::available_isas()) {
    const std::uint64_t fewer = isa == cpu::available_isas()[0] ? 1 : 10;
    check_rows<float, double>(std::string(isa), rows_to_check() / fewer, 0x1p-40);
  }
}
TEST(Exponentials, RowsOfDoublesStayWithinFourUlp) {
  if (std::numeric_limits<long double>::digits < 64)
    GTEST_SKIP() << "long double is no wider than double here";
  const std::string isa(cpu::available_isas()[0]);
  check_rows<double, long double>(isa, rows_to_check() / 4, 0x1p-80L);
}

// The sum of x[d] * y[d] in the order of rule 3.
float chained(const float* x, const float* y, std::int64_t n) {
  float sum = 0;
  for (std::int64_t d0 = 0; d0 < n; d0 += 32) {
    float even = 0, odd = 0;
    for (std::int64_t d = d0; d < std::min(d0 + 32, n); ++d)
      (d % 2 == 0 ? even : odd) += x[d] * y[d];
    sum += even + odd;
  }
  return sum;
}

struct Attention {
  AttentionShape shape;
  std::int64_t length;
  float size;  // of queries and keys
};

// Attention over one sequence: in the form with a cache where it is causal, then in the training
// form, then its gradients with v as that of the result.
std::vector<std::vector<float>> attend(const Attention& c, const std::vector<float>& q,
                                       const std::vector<float>& k, const std::vector<float>& v,
                                       ValueType cache, bool gradients = false) {
  const AttentionShape& s = c.shape;
  const std::int64_t width = s.heads * s.head_dim, kv_width = s.kv_heads * s.head_dim;
  Program program;
  ProgramBuilder emit(program);
  const Rows rows{1, emit.u32_register("R", static_cast<std::uint32_t>(c.length)), kNone};
  const View q_in = emit.input("q", ValueType::f32, rows, width);
  const View k_in = emit.input("k", ValueType::f32, rows, kv_width);
  const View v_in = emit.input("v", ValueType::f32, rows, kv_width);
  const View seq = emit.input("seq", ValueType::u32, rows, 1);
  const View pos = emit.input("pos", ValueType::u32, rows, 1);
  std::vector<View> results;
  if (s.causal) {
    const View kv = emit.state("a", "kv", cache, {(c.length + 63) / 64 * 64},
                               kv_columns(cache, s.kv_heads, s.head_dim));
    emit.kv_append(k_in, v_in, seq, pos, kv, s);
    results.push_back(emit.attention(q_in, kv, seq, pos, s));
  }
  const Attended a = emit.attention_rows(q_in, k_in, v_in, pos, s);
  results.push_back(a.y);
  if (gradients) {
    const auto g = emit.attention_back(q_in, k_in, v_in, pos, a, v_in, s);
    for (const View& view : {g.q, g.k, g.v}) results.push_back(view);
  }
  for (std::size_t i = 0; i < results.size(); ++i) {
    const std::string name = "y" + std::to_string(i);
    emit.copy_to(results[i], emit.output(name, ValueType::f32, rows, results[i].cols));
  }
  ThreadPool pool(2);
  auto made =
      cpu::Executor::create(program, [](auto, auto) { return nullptr; }, pool, {.poison = true});
  EXPECT_TRUE(made.ok()) << made.status().to_string();
  Executor& e = **made;
  const Program& p = e.program();
  EXPECT_TRUE(e.set(p.find_register("R"), static_cast<std::uint32_t>(c.length)).ok());
  for (std::size_t b = 0; b < p.buffers.size(); ++b) {
    const Buffer& buffer = p.buffers[b];
    if (buffer.kind != BufferKind::input) continue;
    const std::vector<float>& from = buffer.role == "q" ? q : buffer.role == "k" ? k : v;
    for (std::int64_t r = 0; r < c.length; ++r) {
      const auto id = static_cast<BufferId>(b);
      if (buffer.type == ValueType::f32)
        std::copy_n(from.data() + r * buffer.cols, buffer.cols, e.row<float>(id, r).data());
      else
        e.row<std::uint32_t>(id, r)[0] = buffer.role == "pos" ? static_cast<std::uint32_t>(r) : 0;
    }
  }
  EXPECT_TRUE(e.run().ok());
  std::vector<std::vector<float>> out(results.size());
  for (std::size_t i = 0; i < results.size(); ++i)
    for (std::int64_t r = 0; r < c.length; ++r) {
      const auto row = e.row<float>(p.find(BufferKind::output, "", "y" + std::to_string(i)), r);
      out[i].insert(out[i].end(), row.begin(), row.end());
    }
  return out;
}

// An ulp of what a position sums, the |P v|, is 2^-23 of it here: the numerator is rounded as often
// as it has positions, below and above a power of two alike.
TEST(Exponentials, AttentionStaysWithinFourUlpOfWhatItSums) {
  double worst = 0;
  std::uint64_t stream = 0;
  for (const Attention& c :
       {Attention{{2, 1, 8, 0, true, 0.35}, 200, 1}, Attention{{2, 2, 33, 40, true, 0.2}, 130, 3},
        Attention{{4, 2, 64, 0, true, 0.125}, 300, 40},
        Attention{{1, 1, 4, 0, false, 1}, 100, 1e6f},
        Attention{{3, 3, 16, 0, true, 1}, 65, 1e15f}}) {
    const AttentionShape& s = c.shape;
    auto values = [&](std::int64_t heads, float size) {
      const RandomStream random(51, ++stream);
      std::vector<float> x(static_cast<std::size_t>(c.length * heads * s.head_dim));
      for (std::size_t i = 0; i < x.size(); ++i) x[i] = (2 * random.uniform(i) - 1) * size;
      return x;
    };
    const std::vector<float> q = values(s.heads, c.size), k = values(s.kv_heads, c.size);
    const std::vector<float> v = values(s.kv_heads, 5);
    const auto results = attend(c, q, k, v, ValueType::f32);
    if (results.size() > 1) {
      EXPECT_EQ(results[0], results[1]) << "the two forms give other bits";
    }
    for (std::int64_t i = 0; i < c.length; ++i)
      for (std::int64_t h = 0; h < s.heads; ++h) {
        const std::int64_t kvh = h / (s.heads / s.kv_heads), end = s.causal ? i : c.length - 1;
        const std::int64_t begin = s.window > 0 ? std::max<std::int64_t>(0, i - s.window + 1) : 0;
        std::vector<double> score;
        for (std::int64_t j = begin; j <= end; ++j) {
          const float* query = q.data() + (i * s.heads + h) * s.head_dim;
          const float* key = k.data() + (j * s.kv_heads + kvh) * s.head_dim;
          score.push_back(chained(query, key, s.head_dim) * static_cast<float>(s.scale));
        }
        const double top = *std::max_element(score.begin(), score.end());
        double sum = 0;
        for (double& x : score) sum += x = std::exp(x - top);
        for (std::int64_t d = 0; d < s.head_dim; ++d) {
          double want = 0, size = 0;
          for (std::int64_t j = begin; j <= end; ++j) {
            const auto at = static_cast<std::size_t>((j * s.kv_heads + kvh) * s.head_dim + d);
            const double part = score[static_cast<std::size_t>(j - begin)] / sum * v[at];
            want += part;
            size += std::fabs(part);
          }
          const auto at = static_cast<std::size_t>((i * s.heads + h) * s.head_dim + d);
          const double got = results[0][at];
          ASSERT_TRUE(std::isfinite(got));
          worst = std::max(worst, std::fabs(got - want) / (0x1p-23 * size));
        }
      }
  }
  std::printf("attention: %.2f ulp\n", worst);
  EXPECT_LE(worst, 4);
}

// Queries and keys are finite, their products are not: the largest score still wins, and nothing is
// NaN, gradients among it.
TEST(Exponentials, ScoresBeyondTheRangeOfFloatsAreNeverNan) {
  struct Pair {
    std::vector<float> q, first, second;
    double share;  // of the first position
  };
  const Pair pairs[] = {
      {{1e25f, 0}, {1e25f, 0}, {-1e25f, 0}, 1},
      {{1e25f, 0}, {-1e25f, 0}, {1e25f, 0}, 0},
      {{1e25f, 0}, {1e10f, 0}, {1e20f, 0}, 0},
      {{1e25f, 1e25f}, {1e25f, -1e25f}, {0, 0}, 0.5},
      {{3e38f, 3e38f}, {3e38f, 3e38f}, {0, 1}, 1},
      {{3e38f, 3e38f}, {-3e38f, -3e38f}, {-3e38f, -3e38f}, 0.5},
      {{-1e38f, 1}, {1e38f, 0}, {1, 0}, 0},
      {{1e30f, 1}, {-1e30f, 0}, {-1e-6f, 0}, 0},
  };
  for (const ValueType cache : {ValueType::f32, ValueType::q15}) {
    for (const Pair& p : pairs) {
      const Attention c{{1, 1, 2, 0, true, 1.0}, 2, 1};
      std::vector<float> q = {0, 0}, k = p.first, v = {1, 1, 0, 0};
      q.insert(q.end(), p.q.begin(), p.q.end());
      k.insert(k.end(), p.second.begin(), p.second.end());
      const auto results = attend(c, q, k, v, cache, true);
      EXPECT_NEAR(results[0][2], p.share, cache == ValueType::f32 ? 0 : 1e-3)
          << "cache " << name(cache) << ", query " << p.q[0];
      EXPECT_EQ(results[1][2], static_cast<float>(p.share)) << p.q[0];
      for (const auto& result : results)
        for (const float x : result)
          EXPECT_EQ(x, x) << "query " << p.q[0] << ", key " << p.first[0];
    }
  }
  // What is not finite itself spreads.
  const Attention c{{1, 1, 2, 0, true, 1.0}, 2, 1};
  const auto results =
      attend(c, {1, 1, 1, 1}, {1, 1, __builtin_nanf(""), 1}, {1, 1, 2, 2}, ValueType::f32);
  for (const auto& y : results) {
    EXPECT_EQ(y[0], 1);
    EXPECT_NE(y[2], y[2]);
  }
}

// The gradients of values that a query does not see are none of its business.
TEST(Exponentials, ANanQueryTouchesTheValuesThatItSees) {
  const Attention c{{1, 1, 2, 2, true, 1.0}, 8, 1};
  std::vector<float> q(16, 0.5f), ones(16, 1);
  q[14] = __builtin_nanf("");
  const auto results = attend(c, q, ones, ones, ValueType::f32, true);
  const std::vector<float>& gv = results[4];
  for (std::size_t i = 0; i < 12; ++i) EXPECT_EQ(gv[i], i < 2 ? 1.5f : 1) << "position " << i / 2;
  for (std::size_t i = 12; i < 16; ++i) EXPECT_NE(gv[i], gv[i]) << "position " << i / 2;
}

// log(sum(exp(x))) of a graph, and its gradient, which is a softmax.
TEST(Exponentials, LogSumExpAndItsGradientAtAnyOffset) {
  for (const float offset : {0.0f, 1e4f, 1e6f, -1e9f, 1e30f}) {
    Program program;
    ProgramBuilder emit(program);
    const Rows rows{1, emit.u32_register("R", 1), kNone};
    const View x = emit.input("x", ValueType::f32, rows, 3);
    const View g = emit.input("g", ValueType::f32, rows, 1);
    const View y = emit.reduce(x, Reduce::log_sum_exp, 3);
    emit.copy_to(y, emit.output("y", ValueType::f32, rows, 1));
    emit.copy_to(emit.reduce_back(x, y, g, Reduce::log_sum_exp, 3),
                 emit.output("gx", ValueType::f32, rows, 3));
    ThreadPool pool(1);
    auto made =
        cpu::Executor::create(program, [](auto, auto) { return nullptr; }, pool, {.poison = true});
    ASSERT_TRUE(made.ok());
    Executor& e = **made;
    ASSERT_TRUE(e.set(e.program().find_register("R"), 1).ok());
    const float in[] = {offset, offset, offset - 3};
    std::copy_n(in, 3, e.row<float>(e.program().find(BufferKind::input, "", "x"), 0).data());
    e.row<float>(e.program().find(BufferKind::input, "", "g"), 0)[0] = 1;
    ASSERT_TRUE(e.run().ok());
    double sum = 0;
    for (const float v : in) sum += std::exp(static_cast<double>(v) - offset);
    EXPECT_NEAR(e.row<float>(e.program().find(BufferKind::output, "", "y"), 0)[0],
                offset + std::log(sum), std::fabs(offset) * 1e-7 + 1e-6);
    const auto gx = e.row<float>(e.program().find(BufferKind::output, "", "gx"), 0);
    for (std::size_t i = 0; i < 3; ++i)
      EXPECT_NEAR(gx[i], std::exp(static_cast<double>(in[i]) - offset) / sum, 2e-7) << offset;
  }
}

}  // namespace
}  // namespace loom
