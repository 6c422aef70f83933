// Products, what feeds them, and the other readers of packed weights: the CPU's bits in every
// format.
#include "ops/webgpu/tests/test_programs.h"

namespace loom::webgpu {
namespace {

struct Shape {
  std::int64_t k, n, rows;
};

// The formats a device computes and an encoder writes.
std::vector<WeightFormat> formats() {
  std::vector<WeightFormat> list;
  for (const WeightFormat& f : all_weight_formats())
    if (f.arith() != ArithClass::real && f.layout != Layout::q4_k && f.layout != Layout::q6_k)
      list.push_back(f);
  return list;
}

TEST(WebGpuMatmul, EveryFormatAndShapeEqualsTheCpu) {
  LOOM_TEST_DEVICE(device);
  for (const WeightFormat& format : formats()) {
    for (const Shape s : {Shape{150, 37, 5}, Shape{31, 1, 1}, Shape{64, 16, 1}, Shape{353, 50, 9},
                          Shape{150, 1590, 99}}) {  // the last one in tiles
      Case c(99);
      const View x = c.input(s.k), w = c.weight("w", s.n, s.k, format);
      c.output(c.emit.matmul(w, x, s.k % 2 == 0 ? c.weight("b", 1, s.n, {}) : View{}));
      EXPECT_TRUE(c.equal(*device, s.rows))
          << to_string(format) << " " << s.k << " x " << s.n << " rows " << s.rows;
    }
  }
}

// Several tiles of rows and of outputs, and parts of them.
TEST(WebGpuMatmul, ManyRowsEqualTheCpu) {
  LOOM_TEST_DEVICE(device);
  for (const char* text : {"i4:a4", "q4_0"}) {
    Case c(330);
    c.output(c.emit.matmul(c.weight("w", 6000, 64, *parse_weight_format(text)), c.input(64)));
    EXPECT_TRUE(c.equal(*device, {200, 330})) << text;
  }
}

// Products of one operand are one dispatch where rows are many.
TEST(WebGpuMatmul, ProductsOfOneOperandEqualTheCpu) {
  LOOM_TEST_DEVICE(device);
  for (const char* text : {"i4:a4", "i8", "q4_0"}) {
    for (const bool one_plane : {false, true}) {
      Case c(99);
      if (one_plane) c.emit.quantize_to_one_plane();
      const View x = c.input(150);
      for (const auto& [name, n] : {std::pair{"q", 1000}, {"k", 37}, {"v", 700}}) {
        const View w = c.weight(name, n, 150, *parse_weight_format(text));
        c.output(c.emit.matmul(w, x, c.weight(std::string("b") + name, 1, n, {})));
      }
      std::int64_t dispatches = 0;
      c.before_run = [&](Executor& e, std::int64_t) { dispatches = e.barriers(); };
      EXPECT_TRUE(c.equal(*device, {5, 99, 99})) << text << " one plane " << one_plane;
      EXPECT_EQ(dispatches, 5) << text;  // quantize, the products, three copies
    }
  }
}

TEST(WebGpuMatmul, ExtremesEqualTheCpu) {
  LOOM_TEST_DEVICE(device);
  for (const char* text : {"f32", "f16", "bf16", "fp8e4m3", "i8", "i4", "ternary", "q8_0"}) {
    for (int spread = 1; spread <= 2; ++spread) {
      Case c;
      const View x = c.input(200, spread);
      c.output(c.emit.matmul(c.weight("w", 20, 200, *parse_weight_format(text)), x));
      EXPECT_TRUE(c.equal(*device, 7)) << text << " spread " << spread;
    }
  }
}

TEST(WebGpuMatmul, GatherAndBackwardReadTheSameValues) {
  LOOM_TEST_DEVICE(device);
  for (const WeightFormat& format : formats()) {
    Case c;
    const View w = c.weight("w", 37, 150, format);
    c.output(c.emit.gather(w, c.ids(37)));
    c.output(c.emit.matmul_t(w, c.input(37)));
    EXPECT_TRUE(c.equal(*device, 6)) << to_string(format);
  }
}

// In f32: sides in fours of words, and not; chunks of a sum one by one, and side by side; products
// protected in both ways.
TEST(WebGpuMatmul, FloatTilesEqualTheCpu) {
  LOOM_TEST_DEVICE(device);
  struct Shape {
    std::int64_t rows, outputs, inputs;
    const char* format;
  };
  for (int spread = 0; spread <= 2; ++spread) {
    if (spread == 1) device->allow_fma();
    for (const Shape& s :
         {Shape{130, 132, 260, "f32"}, Shape{131, 131, 261, "f16"}, Shape{1030, 66, 68, "f32"},
          Shape{1024, 832, 36, "f32"}, Shape{1024, 36, 832, "f32"}}) {
      if (spread > 0 && s.rows > 1000) continue;
      Case c(s.rows);
      const View w = c.weight("w", s.outputs, s.inputs, *parse_weight_format(s.format)),
                 x = c.input(s.inputs, spread), gy = c.input(s.outputs, spread);
      c.output(c.emit.matmul(w, x, c.weight("bias", 1, s.outputs, {})));
      if (s.outputs < 800) {
        c.output(c.emit.matmul_t(w, gy));
        c.emit.weight_grad(gy, x, c.grad("g", s.outputs, s.inputs), Accumulate::yes);
      }
      EXPECT_TRUE(c.equal(*device, {s.rows - 3, s.rows}))
          << s.outputs << "x" << s.inputs << " spread " << spread;
    }
  }
}

// These are made in tiles.
TEST(WebGpuMatmul, BackwardOfManyRowsEqualsTheCpu) {
  LOOM_TEST_DEVICE(device);
  for (const char* text : {"f32", "bf16", "fp8e4m3", "u16", "i8", "i4", "ternary", "q8_0"}) {
    Case c(130);
    c.output(c.emit.matmul_t(c.weight("w", 70, 81, *parse_weight_format(text)), c.input(70)));
    EXPECT_TRUE(c.equal(*device, 127)) << text;
  }
}

// More rows than a block of the sums, and than two.
TEST(WebGpuMatmul, GradientsOverManyRowsEqualTheCpu) {
  LOOM_TEST_DEVICE(device);
  for (const std::int64_t rows : {67, 1024, 2100}) {
    Case c(2100);
    const View x = c.input(70), gy = c.input(66);
    c.emit.weight_grad(gy, x, c.grad("g", 66, 70), Accumulate::no);
    EXPECT_TRUE(c.equal(*device, rows)) << rows;
  }
}

}  // namespace
}  // namespace loom::webgpu
