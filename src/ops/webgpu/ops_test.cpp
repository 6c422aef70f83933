// Every op beside the products, forward and backward: the CPU's bits.
#include "ops/webgpu/test_programs.h"

namespace loom::webgpu {
namespace {

TEST(WebGpuOps, ElementwiseEqualsTheCpu) {
  LOOM_TEST_DEVICE(device);
  for (int spread = 0; spread <= 2; ++spread) {
    Case c;
    const View a = c.input(75, spread), b = c.input(75, spread);
    c.output(c.emit.add(a, b));
    c.output(c.emit.scale(a, 0.37));
    c.output(c.emit.silu_mul(a, b));
    const auto [ga, gb] = c.emit.silu_mul_back(a, b, c.input(75, spread));
    c.output(ga);
    c.output(gb);
    const View f = c.emit.temp(ValueType::f32, c.rows, 3);
    c.emit.fill(f, 1e-13);
    c.output(f);
    c.output(Emit::slice(a, 20, 31));
    EXPECT_TRUE(c.equal(*device, 5)) << spread;
  }
}

TEST(WebGpuOps, ActivationsAndTheirSlopesEqualTheCpu) {
  LOOM_TEST_DEVICE(device);
  for (int kind = 1; kind < kActivationCount; ++kind) {
    Case c;
    for (int spread = 0; spread <= 2; ++spread) {
      const View x = c.emit.scale(c.input(500, spread), spread == 0 ? 9.0 : 1.0);
      c.output(c.emit.activation(x, static_cast<Activation>(kind)));
      c.output(c.emit.activation_back(x, c.input(500), static_cast<Activation>(kind)));
    }
    EXPECT_TRUE(c.equal(*device, 9)) << name(static_cast<Activation>(kind));
  }
}

TEST(WebGpuOps, NormsEqualTheCpu) {
  LOOM_TEST_DEVICE(device);
  for (const std::int64_t group : {1, 5, 64, 130}) {
    for (int spread = 0; spread <= 2; ++spread) {
      Case c;
      const View x = c.input(2 * group, spread), gy = c.input(2 * group), gain = c.weight("gain", 1, group, {}), bias = c.weight("bias", 1, group, {});
      c.output(c.emit.rms_norm(x, gain, group, 1e-5));
      c.output(c.emit.layer_norm(x, gain, bias, group, 1e-5));
      c.output(c.emit.rms_norm_back(x, gain, gy, group, 1e-5));
      c.output(c.emit.layer_norm_back(x, gain, gy, group, 1e-5));
      c.emit.rms_norm_gain(x, gy, c.grad("a", 1, group), group, 1e-5, Accumulate::no);
      c.emit.layer_norm_gain(x, gy, c.grad("b", 1, group), group, 1e-5, Accumulate::yes);
      EXPECT_TRUE(c.equal(*device, {7, 40})) << group << " spread " << spread;
    }
  }
}

TEST(WebGpuOps, RowsMoveAsOnTheCpu) {
  LOOM_TEST_DEVICE(device);
  Case c;
  const View x = c.input(33);
  c.output(c.emit.gather_rows(x, c.ids(6)));
  View index = c.emit.input("order", ValueType::u32, c.rows, 1);
  c.output(c.emit.scatter_rows(x, index, c.rows));
  c.before_run = [&](Executor& e, std::int64_t rows) {
    for (std::int64_t r = 0; r < rows; ++r) e.row<std::uint32_t>(index.buffer, r)[0] = static_cast<std::uint32_t>(rows - 1 - r);
  };
  EXPECT_TRUE(c.equal(*device, 6));
}

TEST(WebGpuOps, GradientsOfParametersEqualTheCpu) {
  LOOM_TEST_DEVICE(device);
  Case c(3000);
  const View x = c.input(21), gy = c.input(10);
  for (const Accumulate a : {Accumulate::no, Accumulate::yes}) {
    const std::string n = a == Accumulate::no ? "0" : "1";
    c.emit.outer_add(gy, x, c.grad("outer" + n, 10, 21), a);
    c.emit.col_sum(gy, c.grad("col" + n, 1, 10), a);
    c.emit.gather_add(gy, c.ids(7), c.grad("gather" + n, 7, 10), a);
  }
  EXPECT_TRUE(c.equal(*device, {1, 33, 2500}));
}

TEST(WebGpuOps, LossesEqualTheCpu) {
  LOOM_TEST_DEVICE(device);
  for (int spread = 0; spread <= 2; ++spread) {
    Case c(200);
    const View logits = c.input(131, spread), other = c.input(131, spread), target = c.ids(131, ValueType::i32);
    const View losses = c.emit.cross_entropy(logits, target);
    c.output(losses);
    c.output(c.emit.cross_entropy_back(logits, target));
    c.output(c.emit.mse(logits, other));
    c.output(c.emit.mse_back(logits, other));
    c.emit.sum_rows(losses, c.emit.output("total", ValueType::f32, Rows{}, 1));
    c.before_run = [&](Executor& e, std::int64_t) { e.row<std::int32_t>(target.buffer, 1)[0] = -1; };
    EXPECT_TRUE(c.equal(*device, {3, 150})) << spread;
  }
}

TEST(WebGpuOps, AttentionFromTheCacheEqualsTheCpu) {
  LOOM_TEST_DEVICE(device);
  struct Form { std::int64_t heads, kv_heads, head_dim, window; };
  for (const bool q15 : {false, true}) {
    for (const Form f : {Form{3, 1, 8, 0}, Form{2, 2, 70, 70}, Form{4, 2, 24, 5}}) {
      for (int spread = 0; spread <= 2; ++spread) {
        Case c;
        const AttentionShape shape{f.heads, f.kv_heads, f.head_dim, f.window, true, 0.3};
        const ValueType type = q15 ? ValueType::q15 : ValueType::f32;
        const View kv = c.emit.state("cell", "kv", type, {256}, kv_columns(type, f.kv_heads, f.head_dim));
        const View pos = c.ids(0), seq = c.ids(1), table = c.emit.rope_table({}, 256, f.head_dim / 2 * 2, ValueType::f32);
        const View q = c.emit.rope(c.input(f.heads * f.head_dim, spread), pos, table, f.head_dim, false);
        const View k = c.emit.rope(c.input(f.kv_heads * f.head_dim, spread), pos, table, f.head_dim, true);
        c.emit.kv_append(k, c.input(f.kv_heads * f.head_dim, spread), seq, pos, kv, shape);
        c.output(c.emit.attention(q, kv, seq, pos, shape));
        EXPECT_TRUE(c.equal(*device, {1, 5, 40, 1, 64, 1, 30})) << (q15 ? "q15 " : "f32 ") << f.heads << "/" << f.kv_heads << " x " << f.head_dim << " window " << f.window << " spread " << spread;
      }
    }
  }
}

TEST(WebGpuOps, AttentionOfRowsAndItsGradientsEqualTheCpu) {
  LOOM_TEST_DEVICE(device);
  struct Form { std::int64_t heads, kv_heads, head_dim, window; bool causal; };
  for (const Form f : {Form{3, 1, 8, 0, true}, Form{2, 2, 70, 0, false}, Form{4, 2, 24, 20, true}, Form{4, 2, 6, 20, false}}) {
    Case c(200);
    const AttentionShape shape{f.heads, f.kv_heads, f.head_dim, f.window, f.causal, 0.3};
    const View q = c.input(f.heads * f.head_dim), k = c.input(f.kv_heads * f.head_dim), v = c.input(f.kv_heads * f.head_dim);
    const View pos = c.emit.input("positions", ValueType::u32, c.rows, 1);
    const Emit::Attended a = c.emit.attention_rows(q, k, v, pos, shape);
    c.output(a.y);
    c.output(a.stats);
    const auto g = c.emit.attention_back(q, k, v, pos, a, c.input(f.heads * f.head_dim), shape);
    c.output(g.q);
    c.output(g.k);
    c.output(g.v);
    c.before_run = [&](Executor& e, std::int64_t rows) {  // sequences of 90, 33 and what is left
      for (std::int64_t r = 0; r < rows; ++r) e.row<std::uint32_t>(pos.buffer, r)[0] = static_cast<std::uint32_t>(r < 90 ? r : r < 123 ? r - 90 : r - 123);
    };
    EXPECT_TRUE(c.equal(*device, {1, 150})) << f.heads << "/" << f.kv_heads << " x " << f.head_dim << " window " << f.window << (f.causal ? " causal" : "");
  }
}

TEST(WebGpuOps, OptimizersEqualTheCpuOverSteps) {
  LOOM_TEST_DEVICE(device);
  for (const char* format : {"f32", "i8"}) {
    Case c;
    const View x = c.input(40);
    const View w = c.weight("w", 12, 40, *parse_weight_format(format), 0.1f), gain = c.weight("gain", 1, 12, {});
    const View y = c.emit.rms_norm(c.emit.matmul(w, x), gain, 12, 1e-5);
    c.output(y);
    c.emit.set_segment(Segment::backward);
    const View gw = c.grad("w", 12, 40), gg = c.grad("gain", 1, 12);
    c.emit.outer_add(y, x, gw, Accumulate::no);
    c.emit.col_sum(y, gg, Accumulate::no);
    c.output(c.emit.matmul_t(w, y));
    c.emit.set_segment(Segment::update);
    const View total = c.emit.temp(ValueType::f32, Rows{}, 1), scale = c.emit.temp(ValueType::f32, Rows{}, 1);
    c.emit.sum_squares(gw, total, Accumulate::no);
    c.emit.sum_squares(gg, total, Accumulate::yes);
    c.emit.clip_scale(total, scale, 0.7, c.emit.f32_register("inv_n"));
    const View m = c.emit.state("w", "m", ValueType::f32, {12}, 40), v = c.emit.state("w", "v", ValueType::f32, {12}, 40);
    c.emit.adamw(gw, scale, c.master("w"), m, v, 0.9, 0.999, 1e-8, 0.01, c.emit.f32_register("lr"), c.emit.f32_register("c1"), c.emit.f32_register("c2"));
    c.emit.sgd(gg, scale, c.master("gain"), c.emit.state("gain", "velocity", ValueType::f32, {1}, 12), 0.9, 0.01, c.emit.f32_register("lr"));
    c.after_run = [&](int side) { c.store(side, "w").touch(), c.store(side, "gain").touch(); };
    EXPECT_TRUE(c.equal(*device, {20, 20, 20, 20})) << format;
  }
}

TEST(WebGpuOps, MicroBatchesMergeAsOnTheCpu) {
  LOOM_TEST_DEVICE(device);
  Case c;
  const RegisterId micro = c.emit.u32_register("micro", 4);
  const View g = c.emit.buffer({.type = ValueType::f32, .kind = BufferKind::temp, .rows = {3}, .cols = 5});
  const View x = c.input(5), gy = c.input(3);
  c.emit.outer_add(gy, x, g, Accumulate::no);
  c.emit.grad_merge(g, c.grad("levels", merge_levels(5) * 3, 5), c.grad("total", 3, 5), 5, micro);
  std::uint32_t next = 0;
  c.before_run = [&](Executor& e, std::int64_t) { (void)e.set(micro, next++ / 2 % 5); };
  EXPECT_TRUE(c.equal(*device, {4, 4, 4, 4, 4, 4, 4, 4, 4, 4}));
}

// Every call says so from then on, nothing crashes, and a new device gives the same bits.
TEST(WebGpuOps, ALostDeviceIsAnErrorAndANewOneWorks) {
  LOOM_TEST_DEVICE(unused);
  for (const bool lose : {true, false}) {
    auto device = gpu::open_device();
    ASSERT_TRUE(device.ok()) << device.status().to_string();
    Case c;
    c.output(c.emit.matmul(c.weight("w", 20, 40, *parse_weight_format("i4")), c.input(40)));
    c.before_run = [&](Executor&, std::int64_t run) {
      if (!lose || run != 1) return;
      EXPECT_TRUE((*device)->force_loss().ok());
    };
    const testing::AssertionResult result = c.equal(**device, {3, 3, 1});
    EXPECT_EQ(static_cast<bool>(result), !lose) << result.message();
    if (!lose) continue;
    EXPECT_NE(std::string(result.message()).find("the device was lost"), std::string::npos) << result.message();
    const auto buffer = gpu::Buffer::create(**device, 64, "after");
    ASSERT_FALSE(buffer.ok());
    EXPECT_EQ(buffer.status().code(), Code::unsupported);
  }
}

TEST(WebGpuOps, DoublesAreRefusedByName) {
  LOOM_TEST_DEVICE(device);
  Program p;
  Emit emit(p);
  const Rows rows{1, emit.u32_register("R", 4), kNone};
  const View x = emit.input("x", ValueType::f32, rows, 8);
  emit.copy_to(emit.convert(emit.matmul(emit.weight("0.0.1.0", "weight", 4, 8, {.dtype = DType::f64}, ValueType::f64), emit.convert(x, ValueType::f64)), ValueType::f32), emit.output("y", ValueType::f32, rows, 4));
  ThreadPool pool(1);
  const auto e = Executor::create(std::move(p), [](auto, auto) { return nullptr; }, pool, {.device = device});
  ASSERT_FALSE(e.ok());
  EXPECT_EQ(e.status().code(), Code::unsupported);
  EXPECT_NE(e.status().message().find("0.0.1.0"), std::string::npos) << e.status().message();
}

}  // namespace
}  // namespace loom::webgpu
