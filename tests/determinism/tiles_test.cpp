// The kernels of AMX, with tiles made by plain loops (ops/cpu/vectors/tiles.h), have the bits of
// the generic kernels on every machine.
#define LOOM_ISA isa_plain_tiles
#define LOOM_VECTOR_BYTES 16
#define LOOM_TILE_ROWS 1
#define LOOM_TILE_PANELS 1
#pragma GCC diagnostic ignored "-Wunused-function"
#include "ops/attention/attention_tiles.h"
#include "ops/products/integers/block_tiles.h"
#include "ops/products/integers/integer_tiles.h"
// The kernels come first: they are made without the standard library.
#include <gtest/gtest.h>

#include <vector>

#include "base/random.h"
#include "ops/cpu/isa.h"

namespace loom::cpu {
namespace {

constexpr i64 kRows = 19, kOut = 49, kIn = 1300, kPadded = 1344;

template <class T>
std::vector<T> random_values(std::size_t n, std::uint64_t stream, auto value) {
  const RandomStream random(31, stream);
  std::vector<T> v;
  for (std::size_t i = 0; i < n; ++i) v.push_back(static_cast<T>(value(random.uniform(i))));
  return v;
}
std::vector<unsigned char> random_bytes(std::size_t n, std::uint64_t stream) {
  return random_values<unsigned char>(n, stream, [](float u) { return 255.99f * u; });
}

void run(LoweredOp op, const KernelArgs& args) {
  (*select_kernels("generic"))->f32[static_cast<std::size_t>(op)](args);
}

// y of kRows rows by both; `with` is the kernel in tiles.
void compare_products(LoweredOp op, const WeightArg& w, void (*with)(const KernelArgs&)) {
  constexpr i64 kStride = 2 * kPadded + 64;
  // No activation is -128.
  std::vector<signed char> x =
      random_values<signed char>(kRows * kStride, 2, [](float u) { return 254.0f * u - 127.0f; });
  for (i64 r = 0; r < kRows; ++r) {
    int sums[2] = {};
    for (i64 plane = 0; plane < 2; ++plane)
      for (i64 k = 0; k < kPadded; ++k) {
        signed char& v = x[static_cast<std::size_t>(r * kStride + plane * kPadded + k)];
        if (k >= kIn) v = 0;
        sums[plane] += v;
      }
    const float scale = 0.125f;
    __builtin_memcpy(&x[static_cast<std::size_t>(r * kStride + 2 * kPadded)], &scale, 4);
    __builtin_memcpy(&x[static_cast<std::size_t>(r * kStride + 2 * kPadded + 4)], sums, 8);
  }
  std::vector<float> want(kRows * kOut), got(want.size(), -1.0f);
  std::vector<char> scratch(1 << 20);
  for (std::vector<float>* y : {&want, &got}) {
    KernelArgs k{};
    for (bool& here : k.has) here = false;
    k.weight = &w;
    k.t[1] = {reinterpret_cast<char*>(x.data()), kRows, kStride, kStride};
    k.t[3] = {reinterpret_cast<char*>(y->data()), kRows, kOut, kOut};
    k.scratch = scratch.data();
    if (y == &want) run(op, k);
    else with(k);
  }
  EXPECT_EQ(got, want);
  EXPECT_NE(want[0], want[1]);
}

WeightArg weight_of(const std::vector<unsigned char>& panels, const std::vector<float>& scales) {
  WeightArg w;
  w.rows = kOut;
  w.cols = kIn;
  w.padded_cols = kPadded;
  w.panels = panels.data();
  w.scales = scales.data();
  w.offset = 128;
  return w;
}

TEST(Tiles, ProductsHaveTheBitsOfVectors) {
  const auto scales = random_values<float>(64 * 42, 3, [](float u) { return 0.01f + u; });
  const auto bytes = random_bytes(4 * kPadded * 16, 1);
  WeightArg w = weight_of(bytes, scales);
  w.layout = kPlain;
  w.bits = 8;
  w.panel_bytes = kPadded * 16;
  compare_products(LoweredOp::matmul_integer, w, &isa_plain_tiles::matmul_tiles);
  w.layout = kA4;
  w.bits = 4;
  w.panel_bytes = kPadded / 64 * 576;
  compare_products(LoweredOp::matmul_integer, w, &isa_plain_tiles::matmul_tiles);
  w.layout = kPlain;
  w.bits = 8;
  w.panel_bytes = kPadded * 16;
  for (const i64 block : {16, 32, 64}) {
    w.block = block;
    w.blocks = kPadded / block;
    const auto of_blocks = random_values<float>(static_cast<std::size_t>(4 * w.blocks * 16), 4,
                                                [](float u) { return 0.01f + u; });
    w.scales = of_blocks.data();
    compare_products(LoweredOp::matmul_blocks, w, &isa_plain_tiles::matmul_block_tiles);
  }
}

TEST(Tiles, AttentionHasTheBitsOfVectors) {
  constexpr i64 kHeads = 4, kKvHeads = 2, kPages = 3;
  for (const i64 dim : {20, 64, 80}) {
    const i64 padded = (dim + 15) / 16 * 16, plane = 64 * padded, part = 4 * plane + 512;
    auto kv = random_bytes(static_cast<std::size_t>(2 * kPages * kKvHeads * part), 5);
    for (i64 p = 0; p < 2 * kPages * kKvHeads; ++p)
      for (i64 j = 0; j < 128; ++j) {
        const float scale = 0x1p-14f;
        __builtin_memcpy(&kv[static_cast<std::size_t>(p * part + 4 * plane + 4 * j)], &scale, 4);
      }
    const auto q = random_values<float>(static_cast<std::size_t>(kRows * kHeads * dim), 6,
                                        [](float u) { return 2 * u - 1; });
    std::vector<unsigned> pages, sequences, positions;
    for (unsigned i = 0; i < 2 * kPages; ++i) pages.push_back(2 * kPages - 1 - i);
    for (unsigned r = 0; r < kRows; ++r) {
      sequences.push_back(r >= 11);
      positions.push_back(7 * r + 20);
    }
    std::vector<float> want(q.size()), got(q.size(), -1.0f);
    std::vector<char> scratch(1 << 20);
    for (std::vector<float>* y : {&want, &got}) {
      KernelArgs k{};
      const i64 width = kHeads * dim;
      k.t[0] = {reinterpret_cast<char*>(const_cast<float*>(q.data())), kRows, width, width};
      k.t[1] = {reinterpret_cast<char*>(kv.data()), 0, 0, 0};
      k.t[2] = {reinterpret_cast<char*>(sequences.data()), kRows, 1, 1};
      k.t[3] = {reinterpret_cast<char*>(positions.data()), kRows, 1, 1};
      k.t[4] = {reinterpret_cast<char*>(y->data()), kRows, width, width};
      k.ints[0] = kHeads;
      k.ints[1] = kKvHeads;
      k.ints[2] = dim;
      k.reals[0] = 0.25;
      k.page_table = pages.data();
      k.pages_per_sequence = kPages;
      k.scratch = scratch.data();
      if (y == &want) run(LoweredOp::attention_q15, k);
      else isa_plain_tiles::attend_tiles(k, k.t[4], nullptr);
    }
    EXPECT_EQ(got, want) << "heads of " << dim;
    EXPECT_NE(want[0], want[1]);
  }
}

}  // namespace
}  // namespace loom::cpu
