// Ops beside the products, forward and backward: the CPU's bits. Those that learn:
// learning_ops_test.cpp.
#include <filesystem>

#include "ops/webgpu/kernels.h"
#include "ops/webgpu/tests/test_programs.h"
#include "support/places.h"

namespace loom::webgpu {
namespace {

// No device is needed: each kernel file is in the library, up to its last line.
TEST(WebGpuSources, EveryFileIsInTheLibrary) {
  int count = 0;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(loom::test::source_dir() + "/src/ops")) {
    if (entry.path().extension() != ".wgsl") continue;
    ++count;
    const std::string_view text = wgsl_text(entry.path().stem().string());
    EXPECT_TRUE(text.ends_with("}\n") || text.ends_with(";\n"))
        << entry.path() << " of " << text.size() << " bytes";
    EXPECT_EQ(text.find("//"), std::string_view::npos) << entry.path();
  }
  EXPECT_GT(count, 40);
  EXPECT_EQ(wgsl_text("none"), "");
}

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
    c.output(ProgramBuilder::slice(a, 20, 31));
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

TEST(WebGpuOps, StandardizingEqualsTheCpu) {
  LOOM_TEST_DEVICE(device);
  for (const bool missing : {false, true})
    for (int spread = 0; spread <= 2; ++spread) {
      Case c;
      const View x = c.input(131, spread), mean = c.weight("mean", 1, 131, {}),
                 scale = c.weight("scale", 1, 131, {}, 9);
      c.output(c.emit.standardize(x, mean, scale, missing));
      c.output(c.emit.standardize_back(x, scale, c.input(131, spread), missing));
      EXPECT_TRUE(c.equal(*device, {1, 40})) << missing << " spread " << spread;
    }
}

TEST(WebGpuOps, NormsEqualTheCpu) {
  LOOM_TEST_DEVICE(device);
  for (const std::int64_t group : {1, 5, 64, 130}) {
    for (int spread = 0; spread <= 2; ++spread) {
      Case c;
      const View x = c.input(2 * group, spread), gy = c.input(2 * group),
                 gain = c.weight("gain", 1, group, {}), bias = c.weight("bias", 1, group, {});
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
    for (std::int64_t r = 0; r < rows; ++r)
      e.row<std::uint32_t>(index.buffer, r)[0] = static_cast<std::uint32_t>(rows - 1 - r);
  };
  EXPECT_TRUE(c.equal(*device, 6));
}

// Rows of a number that the run measures: none, some, all; sums over them, and values of rows like
// them.
TEST(WebGpuOps, RoutedRowsEqualTheCpu) {
  LOOM_TEST_DEVICE(device);
  for (int spread = 0; spread <= 2; ++spread) {
    Case c;
    const View x = c.input(70, spread), scores = c.input(5, spread),
               shares = c.emit.softmax(c.emit.top_k(scores, 2), SoftmaxKind::softmax, 5, 2);
    c.output(shares);
    for (const View& share : {ProgramBuilder::slice(shares, 1, 1), ProgramBuilder::slice(x, 3, 1),
                              c.emit.scale(ProgramBuilder::slice(x, 0, 1), 0)}) {
      const View places = c.emit.route_rows(share), rows = c.emit.gather_rows(x, places),
                 scale = c.emit.gather_rows(share, places),
                 sum = c.emit.temp(ValueType::f32, c.rows, 70);
      const View inner = c.emit.route_rows(ProgramBuilder::slice(rows, 5, 1)),
                 few = c.emit.gather_rows(rows, inner);
      const std::string name = std::to_string(places.buffer);
      c.emit.weight_grad(rows, rows, c.grad("outer" + name, 70, 70), Accumulate::no);
      c.emit.weight_grad(few, ProgramBuilder::slice(few, 0, 9), c.grad("few" + name, 70, 9),
                         Accumulate::no);
      c.emit.bias_grad(few, c.grad("sum" + name, 1, 70), Accumulate::no);
      c.emit.rms_norm_gain(rows, rows, c.grad("gain" + name, 1, 35), 35, 1e-5, Accumulate::no);
      const View parts = c.emit.reshape(rows, 7);
      c.emit.bias_grad(parts, c.grad("parts" + name, 1, 7), Accumulate::no);
      c.emit.fill(sum, 0);
      c.emit.scatter_add(c.emit.activation(rows, Activation::tanh), scale, places, sum);
      c.emit.scatter_add(c.emit.scatter_rows(few, inner, c.emit.rows(rows)), {}, places, sum);
      c.output(sum);
      c.output(c.emit.scatter_rows(rows, places, c.rows));
    }
    EXPECT_TRUE(c.equal(*device, {40, 1, 3})) << "spread " << spread;
  }
}

TEST(WebGpuOps, PlacesAndWindowsEqualTheCpu) {
  LOOM_TEST_DEVICE(device);
  Window wide, deep;
  wide.channels = 4;
  wide.in = {1, 7, 6};
  wide.kernel = {1, 3, 2};
  wide.stride = {1, 2, 1};
  wide.pad = {0, 1, 0};
  wide.pad_end = {0, 0, 2};
  wide.dilation = {1, 1, 3};
  wide.out = {1, 3, 5};
  deep.channels = 2;
  deep.in = {3, 4, 3};
  deep.kernel = {2, 2, 2};
  deep.pad = {1, 1, 1};
  deep.out = {3, 4, 3};
  for (const Window& w : {wide, deep}) {
    ASSERT_TRUE(w.valid());
    for (int spread = 0; spread <= 2; ++spread) {
      Case c;
      const View x = c.input(w.values(), spread), gy = c.input(w.channels * w.positions(), spread);
      const View rows = c.emit.unfold(x, w);
      c.output(rows);
      c.output(c.emit.fold(rows, w));
      c.output(c.emit.max_pool(x, w));
      c.output(c.emit.max_pool_back(x, gy, w));
      for (const bool padding : {false, true}) {
        c.output(c.emit.avg_pool(x, w, padding));
        c.output(c.emit.avg_pool_back(gy, w, padding));
      }
      EXPECT_TRUE(c.equal(*device, {1, 5})) << w.channels << " spread " << spread;
    }
  }
  Case c;
  const View x = c.input(60);
  c.output(c.emit.transpose(x, {2, 3, 1, 5, 2}, {4, 1, 3, 0, 2}, 60));
  c.output(c.emit.reshape(c.emit.reshape(x, 4), 30));
  c.output(c.emit.mul(x, c.input(60, 2)));
  c.output(c.emit.channel_affine(x, c.weight("gain", 1, 12, {}), c.weight("bias", 1, 12, {}), 5));
  c.output(c.emit.channel_affine(x, {}, c.weight("bias", 1, 12, {}), 5));
  EXPECT_TRUE(c.equal(*device, {1, 9}));
}

TEST(WebGpuOps, OpsOfWholeGraphsEqualTheCpu) {
  LOOM_TEST_DEVICE(device);
  for (int spread = 0; spread <= 2; ++spread) {
    Case c;
    const View x = c.input(70, spread), gy = c.input(70);
    for (int kind = 0; kind < static_cast<int>(Unary::sin); ++kind) {
      c.output(c.emit.unary(x, static_cast<Unary>(kind), 0.4, 1.3));
      c.output(c.emit.unary_back(x, gy, static_cast<Unary>(kind), 0.4, 1.3));
    }
    EXPECT_TRUE(c.equal(*device, {1, 5})) << "unary, spread " << spread;
    Case d;
    const View a = d.input(2 * 3 * 5, spread), b = d.input(4 * 5, spread),
               one = d.weight("one", 1, 20, {}), g = d.input(2 * 3 * 4 * 5);
    for (int kind = 0; kind < kBinaryCount; ++kind) {
      if (kind == static_cast<int>(Binary::pow)) continue;
      for (const View& other : {b, one}) {
        d.output(d.emit.binary(a, other, static_cast<Binary>(kind), {1, 2, 3, 4, 5},
                               {0, 15, 5, 0, 1}, {0, 0, 0, 5, 1}, d.rows));
        const auto [ga, gb] =
            d.emit.binary_back(a, other, g, static_cast<Binary>(kind), {1, 2, 3, 4, 5},
                               {0, 15, 5, 0, 1}, {0, 0, 0, 5, 1});
        d.output(ga);
        d.output(gb);
      }
    }
    EXPECT_TRUE(d.equal(*device, {1, 5})) << "binary, spread " << spread;
    Case e;
    for (const std::int64_t n : {1, 7, 70}) {
      const View v = e.input(3 * n, spread), gv = e.input(3);
      for (int kind = 0; kind < kReduceCount; ++kind) {
        const View y = e.emit.reduce(v, static_cast<Reduce>(kind), n);
        e.output(y);
        e.output(e.emit.reduce_back(v, y, gv, static_cast<Reduce>(kind), n));
      }
    }
    EXPECT_TRUE(e.equal(*device, {1, 5})) << "reduce, spread " << spread;
    Case f;
    const std::vector<double> runs = {4, 1, 5, -1, 0, 2, 8, -2, 4, 3, 0, 6};
    const View p = f.input(9, spread);
    f.output(f.emit.index_select(p, runs, 17, 0.25));
    f.output(f.emit.index_select_back(f.input(17, spread), runs, 9));
    f.output(f.emit.select(f.emit.unary(p, Unary::is_nan), f.input(9), p));
    f.output(f.emit.batched_matmul(f.input(2 * 3 * 4 * 40, spread), f.input(3 * 40 * 5, spread),
                                   {2, 3, 4, 5, 40, {480, 160, 40, 1}, {0, 200, 5, 1}}));
    EXPECT_TRUE(f.equal(*device, {1, 5})) << "places, spread " << spread;
  }
}

TEST(WebGpuOps, RecurrentCellsEqualTheCpu) {
  LOOM_TEST_DEVICE(device);
  constexpr std::int64_t kUnits = 21;
  for (int spread = 0; spread <= 2; ++spread) {
    Case c;
    const View state = c.input(kUnits, spread), gh = c.input(kUnits, spread),
               gc = c.input(kUnits, spread);
    const View x4 = c.input(4 * kUnits, spread), s4 = c.input(4 * kUnits, spread),
               x3 = c.input(3 * kUnits, spread), s3 = c.input(3 * kUnits, spread);
    auto made = [&](std::int64_t gates) {
      return c.emit.temp(ValueType::f32, c.rows, gates * kUnits);
    };
    const View h = made(1), next = made(1), gru = made(1);
    c.emit.lstm_cell(x4, s4, state, h, next);
    c.emit.gru_cell(x3, s3, state, gru);
    for (const View v : {h, next, gru}) c.output(v);
    for (const View later : {gc, View{}}) {
      const View gz = made(4), gprev = made(1);
      c.emit.lstm_cell_back(x4, s4, state, next, gh, later, gz, gprev);
      c.output(gz);
      c.output(gprev);
    }
    const View gx = made(3), gs = made(3), gprev = made(1);
    c.emit.gru_cell_back(x3, s3, state, gh, gx, gs, gprev);
    for (const View v : {gx, gs, gprev}) c.output(v);
    EXPECT_TRUE(c.equal(*device, {1, 9})) << spread;
  }
}

TEST(WebGpuOps, StatesOfSequencesEqualTheCpu) {
  LOOM_TEST_DEVICE(device);
  Case c;
  const View x = c.input(70), state = c.emit.state("cell", "h", ValueType::f32, {3}, 70),
             y = c.emit.temp(ValueType::f32, c.rows, 70), seq = c.ids(3);
  c.emit.state_read(state, seq, c.ids(2), y);
  c.output(y);
  c.emit.state_write(c.emit.add(x, y), seq, state);
  EXPECT_TRUE(c.equal(*device, {1, 9, 2, 4}));
}

TEST(WebGpuOps, StatisticsOfChannelsEqualTheCpu) {
  LOOM_TEST_DEVICE(device);
  for (const std::int64_t inner : {1, 5, 130}) {
    for (int spread = 0; spread <= 2; ++spread) {
      Case c(1200);
      const View x = c.input(3 * inner, spread), gain = c.weight("gain", 1, 3, {}),
                 bias = c.weight("bias", 1, 3, {});
      const View moments = c.emit.channel_moments(x, inner),
                 mean = ProgramBuilder::slice(moments, 0, 3),
                 variance = ProgramBuilder::slice(moments, 3, 3);
      c.output(moments);
      c.output(c.emit.channel_sums(c.input(3 * inner, spread), x, inner));
      for (const bool some : {false, true}) {
        const auto [scale, shift] =
            c.emit.fold_norm(mean, variance, some ? gain : View{}, some ? bias : View{}, 1e-5);
        c.output(scale);
        c.output(shift);
      }
      c.emit.set_segment(Segment::update);
      c.emit.moving_average(mean, c.master("bias"), 0.1);
      c.after_run = [&](int side) { c.store(side, "bias").touch(); };
      EXPECT_TRUE(c.equal(*device, {1, 9, inner == 1 ? 1100 : 40}))
          << inner << " spread " << spread;
    }
  }
}

TEST(WebGpuOps, NoiseEqualsTheCpuAndTheStream) {
  LOOM_TEST_DEVICE(device);
  Case c;
  const Noise noise{0x123456789ABCDEFull, 0xFEDCBA9876543210ull,
                    c.emit.u32_register("noise", UINT32_MAX)};
  const View x = c.input(37, 2), ones = c.emit.temp(ValueType::f32, c.rows, 37);
  c.emit.fill(ones, 1);
  const View y = c.emit.dropout(ones, noise, 0.25);
  c.output(c.emit.dropout(x, noise, 0.5));
  c.output(y);
  std::uint32_t run = 0xFFFFFFF0;
  const BufferId out = c.program.find(BufferKind::output, "", "y1");
  c.before_run = [&](Executor& e, std::int64_t) { (void)e.set(noise.run, run); };
  c.after_run = [&](int side) { run += side == 1 ? 7 : 0; };
  EXPECT_TRUE(c.equal(*device, {3, 40, 2}));

  ThreadPool pool(2);
  auto e = Executor::create(c.program, [](auto, auto) { return nullptr; }, pool);
  ASSERT_TRUE(e.ok());
  ASSERT_TRUE((*e)->set(c.rows.a, 40).ok() && (*e)->set(noise.run, 5).ok() && (*e)->run().ok());
  for (std::int64_t r = 0; r < 40; ++r)
    for (std::int64_t i = 0; i < 37; ++i) {
      const bool dropped =
          RandomStream(noise.seed, noise.stream)
              .uniform((std::uint64_t{5} << 32) + static_cast<std::uint64_t>(r * 37 + i)) < 0.25f;
      EXPECT_EQ((*e)->row<float>(out, r)[static_cast<std::size_t>(i)],
                dropped ? 0.0f : static_cast<float>(1 / 0.75))
          << r << " " << i;
    }
}

TEST(WebGpuOps, DistributionsEqualTheCpu) {
  LOOM_TEST_DEVICE(device);
  for (const std::int64_t group : {1, 7, 150}) {
    for (int spread = 0; spread <= 3; ++spread) {  // 3: far above the range of exponentials
      Case c;
      const View x = c.emit.scale(c.input(3 * group, spread % 3), spread == 3 ? 1e30 : 4),
                 gy = c.input(3 * group);
      for (int kind = 0; kind < kSoftmaxKindCount; ++kind) {
        const View y = c.emit.softmax(x, static_cast<SoftmaxKind>(kind), group,
                                      kind == static_cast<int>(SoftmaxKind::sparsemax)  ? 2
                                      : kind == static_cast<int>(SoftmaxKind::entmax15) ? 1.5
                                                                                        : 1.3);
        c.output(y);
        if (kind != static_cast<int>(SoftmaxKind::hardmax))
          c.output(c.emit.softmax_back(y, gy, static_cast<SoftmaxKind>(kind), group, 1.3));
      }
      c.output(c.emit.gumbel(x, {3, 4, c.emit.u32_register("noise", 9)}));
      EXPECT_TRUE(c.equal(*device, {1, 4})) << group << " spread " << spread;
    }
  }
}

TEST(WebGpuOps, DistancesEqualTheCpu) {
  LOOM_TEST_DEVICE(device);
  for (const char* format : {"f32", "i4", "fp8e4m3", "ternary"}) {
    Case c;
    const View w = c.weight("w", 37, 45, *parse_weight_format(format)), x = c.input(45),
               g = c.input(37);
    c.output(c.emit.distances(w, x));
    c.output(c.emit.distances_back(w, x, g));
    c.emit.distances_weight(w, x, g, c.grad("gw", 37, 45), Accumulate::no);
    c.emit.distances_weight(w, x, g, c.grad("more", 37, 45), Accumulate::yes);
    EXPECT_TRUE(c.equal(*device, {1, 40})) << format;
  }
}

TEST(WebGpuOps, ProductsOfGroupsEqualTheCpu) {
  LOOM_TEST_DEVICE(device);
  for (const char* format : {"f32", "i4", "fp8e4m3", "ternary"}) {
    Case c;
    const View w = c.weight("w", 12, 45, *parse_weight_format(format)), x = c.input(3 * 45),
               gy = c.input(12);
    c.output(c.emit.group_matmul(w, x, c.weight("bias", 1, 12, {}), 3));
    c.output(c.emit.group_matmul(w, x, {}, 3));
    c.output(c.emit.group_matmul_t(w, gy, 3));
    c.emit.group_weight_grad(gy, x, c.grad("gw", 12, 45), 3, Accumulate::no);
    c.emit.group_weight_grad(gy, x, c.grad("more", 12, 45), 3, Accumulate::yes);
    EXPECT_TRUE(c.equal(*device, {1, 40})) << format;
  }
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
    EXPECT_NE(std::string(result.message()).find("the device was lost"), std::string::npos)
        << result.message();
    const auto buffer = gpu::Buffer::create(**device, 64, "after");
    ASSERT_FALSE(buffer.ok());
    EXPECT_EQ(buffer.status().code(), Code::unsupported);
  }
}

TEST(WebGpuOps, DoublesAreRefusedByName) {
  LOOM_TEST_DEVICE(device);
  Program p;
  ProgramBuilder emit(p);
  const Rows rows{1, emit.u32_register("R", 4), kNone};
  const View x = emit.input("x", ValueType::f32, rows, 8);
  emit.copy_to(emit.convert(emit.matmul(emit.weight("0.0.1.0", "weight", 4, 8,
                                                    {.dtype = DType::f64}, ValueType::f64),
                                        emit.convert(x, ValueType::f64)),
                            ValueType::f32),
               emit.output("y", ValueType::f32, rows, 4));
  ThreadPool pool(1);
  const auto e =
      Executor::create(std::move(p), [](auto, auto) { return nullptr; }, pool, {.device = device});
  ASSERT_FALSE(e.ok());
  EXPECT_EQ(e.status().code(), Code::unsupported);
  EXPECT_NE(e.status().message().find("0.0.1.0"), std::string::npos) << e.status().message();
}

}  // namespace
}  // namespace loom::webgpu
