// Ops that learn, and attention: the CPU's bits.
#include "ops/webgpu/tests/test_programs.h"

namespace loom::webgpu {
namespace {

TEST(WebGpuOps, GradientsOfParametersEqualTheCpu) {
  LOOM_TEST_DEVICE(device);
  for (const std::int64_t max :
       {3000, 200}) {  // chunks of long sums side by side, and a thread per sum
    Case c(max);
    const View x = c.input(21), gy = c.input(10);
    for (const Accumulate a : {Accumulate::no, Accumulate::yes}) {
      const std::string n = a == Accumulate::no ? "0" : "1";
      c.emit.weight_grad(gy, x, c.grad("outer" + n, 10, 21), a);
      c.emit.bias_grad(gy, c.grad("col" + n, 1, 10), a);
      c.emit.embedding_grad(gy, c.ids(7), c.grad("gather" + n, 7, 10), a);
      c.emit.rms_norm_gain(x, x, c.grad("gain" + n, 1, 7), 7, 1e-5, a);
    }
    EXPECT_TRUE(c.equal(*device, max == 200 ? std::vector<std::int64_t>{1, 33, 200}
                                            : std::vector<std::int64_t>{1, 33, 1024, 2500}));
  }
}

TEST(WebGpuOps, LongSumsOfFewResultsEqualTheCpu) {
  LOOM_TEST_DEVICE(device);
  for (const char* format : {"f32", "i16:row", "f16"}) {
    for (const std::int64_t length : {2048, 3111}) {
      Case c(7);
      const View x = c.input(length);
      c.output(c.emit.matmul(c.weight("w", 11, length, *parse_weight_format(format)), x));
      c.output(c.emit.matmul(c.weight("v", 8, length, *parse_weight_format(format)), x,
                             c.weight("bias", 1, 8, {})));
      EXPECT_TRUE(c.equal(*device, {1, 7})) << format << " " << length;
    }
  }
}

TEST(WebGpuOps, LossesEqualTheCpu) {
  LOOM_TEST_DEVICE(device);
  for (int spread = 0; spread <= 2; ++spread) {
    Case c(200);
    const View logits = c.input(131, spread), other = c.input(131, spread),
               target = c.ids(131, ValueType::i32);
    const View losses = c.emit.cross_entropy(logits, target);
    c.output(losses);
    c.output(c.emit.cross_entropy_back(logits, target));
    c.output(c.emit.mse(logits, other));
    c.output(c.emit.mse_back(logits, other));
    c.output(c.emit.mae(logits, other));
    c.output(c.emit.mae_back(logits, other));
    c.output(c.emit.huber(logits, other, 0.3));
    c.output(c.emit.huber_back(logits, other, 0.3));
    c.output(c.emit.bce(logits, other));
    c.output(c.emit.bce_back(logits, other));
    c.output(c.emit.soft_cross_entropy(logits, other));
    c.output(c.emit.soft_cross_entropy_back(logits, other));
    c.emit.sum_rows(losses, c.emit.output("total", ValueType::f32, Rows{}, 1));
    c.before_run = [&](Executor& e, std::int64_t) {
      e.row<std::int32_t>(target.buffer, 1)[0] = -1;
    };
    EXPECT_TRUE(c.equal(*device, {3, 150})) << spread;
  }
}

// A head whose gradients sum over blocks of 1,024 rows, and one that stays as it is.
TEST(WebGpuOps, LogitsOfSomeRowsAtATimeEqualTheCpu) {
  LOOM_TEST_DEVICE(device);
  for (const bool learns : {true, false}) {
    Case c(learns ? 2100 : 300);
    c.block_rows = 64;
    const std::int64_t classes = learns ? 260 : 1300;
    const std::int64_t cols = learns ? 64 : 8;
    const View x = c.input(cols),
               target = c.ids(static_cast<std::uint32_t>(classes), ValueType::i32),
               w = c.weight("w", classes, cols, *parse_weight_format(learns ? "f32" : "i8"), 9),
               logits = c.emit.matmul(w, x, c.weight("bias", 1, classes, {})),
               losses = c.emit.cross_entropy(logits, target);
    c.emit.sum_rows(losses, c.emit.output("total", ValueType::f32, Rows{}, 1));
    const View gy = c.emit.cross_entropy_back(logits, target);
    if (learns) {
      c.emit.weight_grad(gy, x, c.grad("w", classes, cols), Accumulate::no);
      c.emit.bias_grad(gy, c.grad("bias", 1, classes), Accumulate::no);
    }
    c.output(c.emit.matmul_t(w, gy));
    c.output(losses);
    EXPECT_TRUE(
        c.equal(*device, learns ? std::vector<std::int64_t>{1025} : std::vector<std::int64_t>{70}));
  }
}

TEST(WebGpuOps, AttentionFromTheCacheEqualsTheCpu) {
  LOOM_TEST_DEVICE(device);
  struct Form {
    std::int64_t heads, kv_heads, head_dim, window;
    bool alibi = false;
  };
  for (const bool q15 : {false, true}) {
    for (const Form f : {Form{3, 1, 8, 0}, Form{2, 2, 70, 70}, Form{4, 2, 24, 5},
                         Form{3, 1, 8, 0, true}, Form{16, 2, 70, 70, true}}) {
      for (int spread = 0; spread <= 3; ++spread) {  // 3: scores beyond the range of floats
        Case c;
        const double size = spread == 3 ? 1e25 : 1;
        AttentionShape shape{f.heads, f.kv_heads, f.head_dim, f.window, true, 0.3};
        if (f.alibi) shape.slopes = c.emit.alibi_slopes(f.heads, ValueType::f32);
        const ValueType type = q15 ? ValueType::q15 : ValueType::f32;
        const View kv =
            c.emit.state("cell", "kv", type, {256}, kv_columns(type, f.kv_heads, f.head_dim));
        const View pos = c.ids(0), seq = c.ids(1),
                   table = c.emit.rope_table({}, 256, f.head_dim / 2 * 2, ValueType::f32);
        auto rows = [&](std::int64_t heads) {
          return c.emit.scale(c.input(heads * f.head_dim, spread % 3), size);
        };
        const View q = c.emit.rope(rows(f.heads), pos, table, f.head_dim, false);
        const View k = c.emit.rope(rows(f.kv_heads), pos, table, f.head_dim, true);
        c.emit.kv_append(k, c.input(f.kv_heads * f.head_dim, spread % 3), seq, pos, kv, shape);
        c.output(c.emit.attention(q, kv, seq, pos, shape));
        EXPECT_TRUE(c.equal(*device, {1, 5, 40, 1, 64, 1, 30}))
            << (q15 ? "q15 " : "f32 ") << f.heads << "/" << f.kv_heads << " x " << f.head_dim
            << " window " << f.window << (f.alibi ? " alibi" : "") << " spread " << spread;
      }
    }
  }
}

TEST(WebGpuOps, AttentionOfRowsAndItsGradientsEqualTheCpu) {
  LOOM_TEST_DEVICE(device);
  struct Form {
    std::int64_t heads, kv_heads, head_dim, window;
    bool causal, alibi = false;
    std::int64_t rows = 150;
  };
  // Size 1e25: scores beyond the range of floats.
  struct Values {
    int spread;
    double size;
  };
  for (const Form f : {Form{3, 1, 8, 0, true}, Form{2, 2, 70, 0, false}, Form{4, 2, 24, 20, true},
                       Form{4, 2, 6, 20, false}, Form{3, 1, 8, 0, true, true},
                       Form{16, 4, 6, 20, false, true}, Form{1, 1, 4, 0, true, false, 700}})
    for (const Values values : {Values{0, 1}, Values{0, 1e25}, Values{1, 1}, Values{2, 1}}) {
      if (f.rows > 150 && (values.spread > 0 || values.size > 1)) continue;
      Case c(std::max<std::int64_t>(f.rows, 200));
      AttentionShape shape{f.heads, f.kv_heads, f.head_dim, f.window, f.causal, 0.3};
      if (f.alibi) shape.slopes = c.emit.alibi_slopes(f.heads, ValueType::f32);
      const View q = c.emit.scale(c.input(f.heads * f.head_dim, values.spread), values.size);
      const View k = c.emit.scale(c.input(f.kv_heads * f.head_dim, values.spread), values.size);
      const View v = c.input(f.kv_heads * f.head_dim);
      const View pos = c.emit.input("positions", ValueType::u32, c.rows, 1);
      const Attended a = c.emit.attention_rows(q, k, v, pos, shape);
      c.output(a.y);
      c.output(a.stats);
      const auto g = c.emit.attention_back(q, k, v, pos, a, c.input(f.heads * f.head_dim), shape);
      c.output(g.q);
      c.output(g.k);
      c.output(g.v);
      c.before_run = [&](Executor& e, std::int64_t rows) {  // sequences of 90, 33 and what is left
        for (std::int64_t r = 0; r < rows; ++r)
          e.row<std::uint32_t>(pos.buffer, r)[0] = static_cast<std::uint32_t>(r < 90    ? r
                                                                              : r < 123 ? r - 90
                                                                                        : r - 123);
      };
      EXPECT_TRUE(c.equal(*device, {1, f.rows}))
          << f.heads << "/" << f.kv_heads << " x " << f.head_dim << " window " << f.window
          << (f.causal ? " causal" : "") << " spread " << values.spread << " size " << values.size;
    }
}

TEST(WebGpuOps, OptimizersEqualTheCpuOverSteps) {
  LOOM_TEST_DEVICE(device);
  for (const char* format : {"f32", "i8"}) {
    Case c;
    const View x = c.input(40);
    const View w = c.weight("w", 12, 40, *parse_weight_format(format), 0.1f),
               gain = c.weight("gain", 1, 12, {});
    const View y = c.emit.rms_norm(c.emit.matmul(w, x), gain, 12, 1e-5);
    c.output(y);
    c.emit.set_segment(Segment::backward);
    const View gw = c.grad("w", 12, 40), gg = c.grad("gain", 1, 12);
    c.emit.weight_grad(y, x, gw, Accumulate::no);
    c.emit.bias_grad(y, gg, Accumulate::no);
    c.output(c.emit.matmul_t(w, y));
    c.emit.set_segment(Segment::update);
    const View total = c.emit.temp(ValueType::f32, Rows{}, 1),
               scale = c.emit.temp(ValueType::f32, Rows{}, 1);
    c.emit.sum_squares(gw, total, Accumulate::no);
    c.emit.sum_squares(gg, total, Accumulate::yes);
    c.emit.clip_scale(total, scale, 0.7, c.emit.f32_register("inv_n"));
    const View m = c.emit.state("w", "m", ValueType::f32, {12}, 40),
               v = c.emit.state("w", "v", ValueType::f32, {12}, 40);
    c.emit.adamw(gw, scale, c.master("w"), m, v, 0.9, 0.999, 1e-8, 0.01, c.emit.f32_register("lr"),
                 c.emit.f32_register("c1"), c.emit.f32_register("c2"));
    c.emit.sgd(gg, scale, c.master("gain"),
               c.emit.state("gain", "velocity", ValueType::f32, {1}, 12), 0.9, 0.01,
               c.emit.f32_register("lr"));
    c.after_run = [&](int side) { c.store(side, "w").touch(), c.store(side, "gain").touch(); };
    EXPECT_TRUE(c.equal(*device, {20, 20, 20, 20})) << format;
  }
}

// Each moment that an optimizer may do without, there and not.
TEST(WebGpuOps, EveryOptimizerEqualsTheCpuOverSteps) {
  LOOM_TEST_DEVICE(device);
  for (const std::string kind :
       {"nesterov", "rmsprop", "rmsprop with momentum", "centered rmsprop",
        "centered rmsprop with momentum", "lion", "adam", "adamw uncorrected"}) {
    Case c;
    const View x = c.input(40), w = c.weight("w", 12, 40, {}, 0.1f), y = c.emit.matmul(w, x);
    c.emit.set_segment(Segment::backward);
    const View g = c.grad("w", 12, 40), one = c.emit.temp(ValueType::f32, Rows{}, 1);
    c.emit.weight_grad(y, x, g, Accumulate::no);
    c.emit.set_segment(Segment::update);
    c.emit.clip_scale({}, one, 0, c.emit.f32_register("inv_n"));
    auto moment = [&](const char* name) {
      return c.emit.state("w", name, ValueType::f32, {12}, 40);
    };
    const RegisterId lr = c.emit.f32_register("lr");
    if (kind == "nesterov")
      c.emit.sgd_nesterov(g, one, c.master("w"), moment("velocity"), 0.9, 0.01, lr);
    else if (kind.starts_with("adam"))
      c.emit.adam(g, one, c.master("w"), moment("m"), moment("v"), kind == "adam", kind != "adam",
                  0.9, 0.999, 1e-7, 0.01, lr, c.emit.f32_register("c1"), c.emit.f32_register("c2"));
    else if (kind == "lion") c.emit.lion(g, one, c.master("w"), moment("m"), 0.9, 0.99, 0.1, lr);
    else {
      const bool centered = kind.starts_with("centered"), momentum = kind.ends_with("momentum");
      c.emit.rmsprop(g, one, c.master("w"), moment("v"), centered ? moment("mean") : View{},
                     momentum ? moment("velocity") : View{}, 0.9, 1e-8, 0.8, 0.01, lr);
    }
    c.after_run = [&](int side) { c.store(side, "w").touch(); };
    EXPECT_TRUE(c.equal(*device, {20, 20, 20, 20})) << kind;
  }
}

TEST(WebGpuOps, MicroBatchesMergeAsOnTheCpu) {
  LOOM_TEST_DEVICE(device);
  Case c;
  const RegisterId micro = c.emit.u32_register("micro", 4);
  const View g =
      c.emit.buffer({.type = ValueType::f32, .kind = BufferKind::temp, .rows = {3}, .cols = 5});
  const View x = c.input(5), gy = c.input(3);
  c.emit.weight_grad(gy, x, g, Accumulate::no);
  c.emit.grad_merge(g, c.grad("levels", merge_levels(5) * 3, 5), c.grad("total", 3, 5), 5, micro);
  std::uint32_t next = 0;
  c.before_run = [&](Executor& e, std::int64_t) { (void)e.set(micro, next++ / 2 % 5); };
  EXPECT_TRUE(c.equal(*device, {4, 4, 4, 4, 4, 4, 4, 4, 4, 4}));
}

}  // namespace
}  // namespace loom::webgpu
