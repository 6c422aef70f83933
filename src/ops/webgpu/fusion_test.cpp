// Decoding does several instructions in a dispatch: the CPU's bits, and so few dispatches.
#include "ops/webgpu/test_programs.h"

namespace loom::webgpu {
namespace {

struct Form {
  const char* format;
  std::int64_t width, heads, kv_heads, head_dim, hidden;
  bool bias;
};

// One block of a decoder as the layers emit it.
View block(Case& c, const Form& f, View x, const std::string& at, View seq, View pos, View table) {
  const WeightFormat format = *parse_weight_format(f.format);
  const AttentionShape shape{f.heads, f.kv_heads, f.head_dim, 0, true, 0.3};
  const std::int64_t q_cols = f.heads * f.head_dim, kv_cols = f.kv_heads * f.head_dim;
  auto bias = [&](const std::string& name, std::int64_t n) { return f.bias ? c.weight(name + at, 1, n, {}) : View{}; };
  const View normed = c.emit.rms_norm(x, c.weight("g1" + at, 1, f.width, {}), f.width, 1e-5);
  const View q = c.emit.rope(c.emit.matmul(c.weight("q" + at, q_cols, f.width, format), normed, bias("bq", q_cols)), pos, table, f.head_dim, false);
  const View k = c.emit.rope(c.emit.matmul(c.weight("k" + at, kv_cols, f.width, format), normed, bias("bk", kv_cols)), pos, table, f.head_dim, false);
  const View v = c.emit.matmul(c.weight("v" + at, kv_cols, f.width, format), normed, bias("bv", kv_cols));
  const View kv = c.emit.state("cell" + at, "kv", ValueType::q15, {128}, kv_columns(ValueType::q15, f.kv_heads, f.head_dim));
  c.emit.kv_append(k, v, seq, pos, kv, shape);
  const View a = c.emit.attention(q, kv, seq, pos, shape);
  const View y = c.emit.add(x, c.emit.matmul(c.weight("o" + at, f.width, q_cols, format), a));
  const View n2 = c.emit.rms_norm(y, c.weight("g2" + at, 1, f.width, {}), f.width, 1e-5);
  const View gate = c.emit.matmul(c.weight("gate" + at, f.hidden, f.width, format), n2), up = c.emit.matmul(c.weight("up" + at, f.hidden, f.width, format), n2);
  const View h = c.emit.silu_mul(gate, up);
  return c.emit.add(y, c.emit.matmul(c.weight("down" + at, f.width, f.hidden, format), h));
}

TEST(WebGpuFusion, ADecoderBlockEqualsTheCpuInFewDispatches) {
  LOOM_TEST_DEVICE(device);
  for (const Form& f : {Form{"i4", 48, 3, 1, 16, 100, false}, Form{"ternary", 70, 2, 2, 24, 33, true}}) {
    Case c;
    const View pos = c.ids(0), seq = c.ids(1), table = c.emit.rope_table({}, 128, f.head_dim, ValueType::f32);
    View x = c.input(f.width);
    for (const char* at : {"0", "1"}) x = block(c, f, x, at, seq, pos, table);
    c.output(x);
    std::int64_t dispatches = 0;
    c.before_run = [&](Executor& e, std::int64_t) { dispatches = e.barriers(); };  // of the run before; the device runs second
    EXPECT_TRUE(c.equal(*device, {1, 7, 60, 1, 1})) << f.format;
    EXPECT_EQ(dispatches, 2 * (f.head_dim % 16 == 0 ? 5 : 6) + 1) << f.format;  // whole panels make a head
  }
}

}  // namespace
}  // namespace loom::webgpu
