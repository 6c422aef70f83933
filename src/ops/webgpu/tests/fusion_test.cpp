// Decoding does several instructions in a dispatch: the CPU's bits, and so few dispatches.
#include "ops/draw.h"
#include "ops/webgpu/tests/test_programs.h"

namespace loom::webgpu {
namespace {

struct Form {
  const char* format;
  std::int64_t width, heads, kv_heads, head_dim, hidden;
  bool bias, one_plane = false;
};

// One block of a decoder as the layers emit it.
View block(Case& c, const Form& f, View x, const std::string& at, View seq, View pos, View table) {
  const WeightFormat format = *parse_weight_format(f.format);
  const AttentionShape shape{f.heads, f.kv_heads, f.head_dim, 0, true, 0.3};
  const std::int64_t q_cols = f.heads * f.head_dim, kv_cols = f.kv_heads * f.head_dim;
  auto bias = [&](const std::string& name, std::int64_t n) {
    return f.bias ? c.weight(name + at, 1, n, {}) : View{};
  };
  const View normed = c.emit.rms_norm(x, c.weight("g1" + at, 1, f.width, {}), f.width, 1e-5);
  const View q = c.emit.rope(
      c.emit.matmul(c.weight("q" + at, q_cols, f.width, format), normed, bias("bq", q_cols)), pos,
      table, f.head_dim, false);
  const View k = c.emit.rope(
      c.emit.matmul(c.weight("k" + at, kv_cols, f.width, format), normed, bias("bk", kv_cols)), pos,
      table, f.head_dim, false);
  const View v =
      c.emit.matmul(c.weight("v" + at, kv_cols, f.width, format), normed, bias("bv", kv_cols));
  const View kv = c.emit.state("cell" + at, "kv", ValueType::q15, {128},
                               kv_columns(ValueType::q15, f.kv_heads, f.head_dim));
  c.emit.kv_append(k, v, seq, pos, kv, shape);
  const View a = c.emit.attention(q, kv, seq, pos, shape);
  const View y = c.emit.add(x, c.emit.matmul(c.weight("o" + at, f.width, q_cols, format), a));
  const View n2 = c.emit.rms_norm(y, c.weight("g2" + at, 1, f.width, {}), f.width, 1e-5);
  const View gate = c.emit.matmul(c.weight("gate" + at, f.hidden, f.width, format), n2),
             up = c.emit.matmul(c.weight("up" + at, f.hidden, f.width, format), n2);
  const View h = c.emit.silu_mul(gate, up);
  return c.emit.add(y, c.emit.matmul(c.weight("down" + at, f.width, f.hidden, format), h));
}

TEST(WebGpuFusion, ADecoderBlockEqualsTheCpuInFewDispatches) {
  LOOM_TEST_DEVICE(device);
  for (const Form& f :
       {Form{"i4", 48, 3, 1, 16, 100, false}, Form{"ternary", 70, 2, 2, 24, 33, true},
        Form{"q4_0", 96, 3, 1, 16, 2080, false}, Form{"q8_0", 70, 2, 2, 24, 96, true},
        Form{"i8:block16", 256, 1, 1, 16, 64, false}, Form{"u4:block32", 160, 3, 1, 32, 260, false},
        Form{"i4", 48, 3, 1, 16, 100, false, true}}) {
    Case c;
    if (f.one_plane) c.emit.quantize_to_one_plane();
    const View pos = c.ids(0), seq = c.ids(1),
               table = c.emit.rope_table({}, 128, f.head_dim, ValueType::f32);
    View x = c.input(f.width);
    for (const char* at : {"0", "1"}) x = block(c, f, x, at, seq, pos, table);
    c.output(x);
    std::int64_t dispatches = 0;
    c.before_run = [&](Executor& e, std::int64_t) {
      dispatches = e.barriers();
    };  // of the run before; the device runs second
    EXPECT_TRUE(c.equal(*device, {1, 7, 60, 1, 1})) << f.format;
    EXPECT_EQ(dispatches, 2 * (f.head_dim % 16 == 0 ? 5 : 6) + 1)
        << f.format;  // whole panels make a head
  }
}

// A network of ids that gives the logits of `vocab` ids: embedding, rotation, product.
static Program greedy_program(std::uint32_t vocab) {
  Program program;
  ProgramBuilder emit(program);
  const Rows rows{1, emit.u32_register("R", 4), kNone};
  const View ids = emit.input("ids", ValueType::u32, rows, 1),
             positions = emit.input("positions", ValueType::u32, rows, 1);
  const View x = emit.rope(emit.gather(emit.weight("e", "w", vocab, 32, {}, ValueType::f32), ids),
                           positions, emit.rope_table({}, 64, 32, ValueType::f32), 32, false);
  const View y =
      emit.matmul(emit.weight("o", "w", vocab, 32, *parse_weight_format("i8"), ValueType::f32), x);
  emit.copy_to(y, emit.output("y", ValueType::f32, rows, vocab));
  return program;
}

// The device's own loop gives the ids of one run after the other, each fed with the CPU's pick; all
// NaN gives none.
TEST(WebGpuFusion, GreedyIdsArePickedOnTheDevice) {
  LOOM_TEST_DEVICE(device);
  constexpr std::uint32_t kVocab = 150, kSteps = 9;
  for (const bool numbers : {true, false}) {
    std::vector<std::uint32_t> picked[2];
    std::vector<float> last[2];
    std::vector<WeightStore> stores[2];
    for (int side = 0; side < 2; ++side) {
      for (std::uint64_t i = 0; i < 2; ++i) {
        auto values = Case::values(i, kVocab * 32, 0, 1);
        if (!numbers && i == 0)
          std::fill(values.begin(), values.end(), std::numeric_limits<float>::quiet_NaN());
        stores[side].push_back(std::move(*WeightStore::from_f32(kVocab, 32, values)));
      }
      ASSERT_TRUE(stores[side][1].morph(*parse_weight_format("i8")).ok());
      ThreadPool pool(1);
      ExecutorOptions options;
      options.device = side == 0 ? nullptr : &*device;
      auto made = Executor::create(
          greedy_program(kVocab),
          [&stores, side](std::string_view path, std::string_view) {
            return &stores[side][path == "o"];
          },
          pool, options);
      ASSERT_TRUE(made.ok()) << made.status().to_string();
      Executor& e = **made;
      const BufferId id = e.program().find(BufferKind::input, "", "ids"),
                     position = e.program().find(BufferKind::input, "", "positions"),
                     output = e.program().find(BufferKind::output, "", "y");
      ASSERT_TRUE(e.set(e.program().find_register("R"), 1).ok());
      e.row<std::uint32_t>(id, 0)[0] = 5;
      e.row<std::uint32_t>(position, 0)[0] = 0;
      EXPECT_EQ(e.resident(), side == 1);
      if (side == 1) {
        picked[1].resize(kSteps);
        const Status s = e.run_ahead({}, picked[1]);
        ASSERT_TRUE(s.ok()) << s.to_string();
      }
      for (std::uint32_t step = 0; side == 0 && step < kSteps; ++step) {
        ASSERT_TRUE(e.run().ok());
        const auto logits = e.row<float>(output, 0);
        const auto best = std::max_element(logits.begin(), logits.end());
        picked[0].push_back(numbers ? static_cast<std::uint32_t>(best - logits.begin())
                                    : ~std::uint32_t{0});
        e.row<std::uint32_t>(id, 0)[0] = numbers ? picked[0].back() : 0;
        e.row<std::uint32_t>(position, 0)[0] = step + 1;
      }
      last[side].assign(e.row<float>(output, 0).begin(), e.row<float>(output, 0).end());
    }
    EXPECT_EQ(picked[0], picked[1]);
    EXPECT_TRUE(std::memcmp(last[0].data(), last[1].data(), kVocab * 4) == 0)
        << "the output is that of the last step";
  }
}

}  // namespace
}  // namespace loom::webgpu
