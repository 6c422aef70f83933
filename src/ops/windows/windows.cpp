// Host side of windows.def: shapes, memory, devices, calls.
#include <algorithm>

#include "ops/lowering/lowered.h"
#include "ops/op_check.h"
#include "ops/program_builder.h"
#include "ops/webgpu/launches.h"
#include "ops/windows/conv_sizes.h"
#include "ops/windows/windows.h"

namespace loom {
namespace {

using webgpu::Launches;

#define LOOM_WINDOW_INTS                                                                       \
  "channels in_d in_h in_w kernel_d kernel_h kernel_w stride_d stride_h stride_w pad_d pad_h " \
  "pad_w "                                                                                     \
  "pad_end_d pad_end_h pad_end_w dilation_d dilation_h dilation_w out_d out_h out_w"

constexpr const char* kBadWindow = "the window's sizes are out of range or do not agree";

bool rows_of_places(OpCheck& c, int whole, int cut) {
  const Window w = Window::from_ints(c.ins.ints);
  if (!c.require(w.valid() && w.positions() <= kMaxCols && w.taps() <= kMaxCols, kBadWindow))
    return false;
  const Rows a = c.of(whole).rows, b = c.of(cut).rows;
  const bool rows = a.a == b.a && a.b == b.b && b.constant == a.constant * w.positions();
  return c.require(
      c.one_type({0, 1}) && c.cols(whole) == w.values() && c.cols(cut) == w.taps() && rows,
      "rows are items of channels x inputs on one side, places of channels x taps on the other");
}
bool unfold_shape(OpCheck& c) { return rows_of_places(c, 0, 1); }
bool fold_shape(OpCheck& c) { return rows_of_places(c, 1, 0); }
// Operand `in` has the values that windows look at, operand `out` one of each window.
bool pooled(OpCheck& c, int in, int out) {
  const Window w = Window::from_ints(c.ins.ints);
  if (!c.require(w.valid(), kBadWindow)) return false;
  return c.require(c.one_type({in, out}) && c.cols(in) == w.values() &&
                       c.cols(out) == w.channels * w.positions() && c.rows_equal(in, out),
                   "operands do not agree with the window");
}
bool pool_shape(OpCheck& c) { return pooled(c, 0, 1); }
bool avg_pool_back_shape(OpCheck& c) { return pooled(c, 1, 0); }
bool max_pool_back_shape(OpCheck& c) {
  if (!pooled(c, 0, 1)) return false;
  return c.require(c.alike({0, 2}), "operands do not agree with the window");
}

// As Window::to_ints has them.
std::string window_constants(const LoweredInstruction& ins) {
  using webgpu::int_list;
  return int_list("IN", ins, 1, 3) + int_list("KERNEL", ins, 4, 3) + int_list("STRIDE", ins, 7, 3) +
         int_list("PAD", ins, 10, 3) + int_list("PAD_END", ins, 13, 3) +
         int_list("DILATION", ins, 16, 3) + int_list("OUT", ins, 19, 3) +
         webgpu::flag("COUNT_PAD", ins.ints[Window::kInts] != 0);
}

// ---- convolutions without unfolded rows

const ConvWindow& window_of(const ScratchQuery& q) {
  return std::get<ConvWindow>(q.ins.attributes);
}
// What lies under the taps, and their table.
Scratch conv_scratch(const ScratchQuery& q) {
  return {4 * (16 * cpu::kPackedPanels + 1) * q.of(0).cols, 0};
}
Scratch conv_weight_grad_scratch(const ScratchQuery& q) {
  const ConvWindow& w = window_of(q);
  return {cpu::outer_window_scratch(q.max_rows(0) * w.out[0] * w.out[1] * w.out[2], q.cols(2)), 0};
}
// The table of the taps; then places of gy with turned weights, products and padded channels, or
// pieces of gy and weights that are gathered from.
Scratch conv_input_grad_scratch(const ScratchQuery& q) {
  const ConvWindow& w = window_of(q);
  const std::int64_t taps = w.kernel[0] * w.kernel[1] * w.kernel[2], plane = padded_plane(w);
  const std::int64_t filters = q.cols(1) / (w.out[0] * w.out[1] * w.out[2]),
                     channels = cpu::fold_channels(taps, w.channels, plane);
  const cpu::FoldPiece piece =
      cpu::fold_piece(w.in, w.kernel, w.stride, w.dilation, w.out, filters);
  const std::int64_t spread =
      filters * (cpu::kFoldPlaces + channels * taps) + channels * (taps * cpu::kFoldPlaces + plane);
  const std::int64_t gathered =
      filters * (piece.stride + cpu::gather_channels(filters * taps, w.channels) * taps);
  return {4 * (taps + 15 + std::max(spread, gathered)), 0};
}

void append_window(ProgramBuilder& e, Op op, std::initializer_list<View> operands,
                   const Window& window, bool count_pad = false) {
  e.append(op, operands);
  auto& ints = e.program().code.back().ints;
  const auto list = window.to_ints();
  std::copy(list.begin(), list.end(), ints.begin());
  ints[Window::kInts] = count_pad;
}

}  // namespace

ConvWindow conv_window(const Window& w) {
  ConvWindow c;
  c.channels = w.channels;
  for (std::size_t d = 0; d < 3; ++d) {
    c.in[d] = w.in[d], c.kernel[d] = w.kernel[d], c.stride[d] = w.stride[d], c.pad[d] = w.pad[d];
    c.pad_end[d] = w.pad_end[d], c.dilation[d] = w.dilation[d], c.out[d] = w.out[d];
  }
  return c;
}
std::int64_t padded_plane(const ConvWindow& w) {
  std::int64_t values = 1;
  for (int d = 0; d < 3; ++d)
    values *= (w.out[d] - 1) * w.stride[d] + (w.kernel[d] - 1) * w.dilation[d] + 1;
  return values;
}

View ProgramBuilder::unfold(View x, const Window& w, View weight, bool gradient) {
  Rows r = rows(x);
  r.constant *= w.positions();
  const View y = temp(type(x), r, w.taps());
  // An unfolded row holds a value once per tap: it is rounded before.
  if (weight.valid() && in_fp8(weight)) {
    const Unary kind = gradient ? Unary::fp8e5m2 : Unary::fp8e4m3;
    x = rounded(x, kind);
    append_window(*this, Op::unfold, {x, y}, w);
    is_rounded(y, kind);
    return y;
  }
  append_window(*this, Op::unfold, {x, y}, w);
  return y;
}
View ProgramBuilder::fold(View x, const Window& w) {
  Rows r = rows(x);
  r.constant /= w.positions();
  const View y = temp(type(x), r, w.values());
  append_window(*this, Op::fold, {x, y}, w);
  return y;
}
View ProgramBuilder::max_pool(View x, const Window& w) {
  const View y = like(x, w.channels * w.positions());
  append_window(*this, Op::max_pool, {x, y}, w);
  return y;
}
View ProgramBuilder::max_pool_back(View x, View gy, const Window& w) {
  const View gx = like(x, x.cols);
  append_window(*this, Op::max_pool_back, {x, gy, gx}, w);
  return gx;
}
View ProgramBuilder::avg_pool(View x, const Window& w, bool count_pad) {
  const View y = like(x, w.channels * w.positions());
  append_window(*this, Op::avg_pool, {x, y}, w, count_pad);
  return y;
}
View ProgramBuilder::avg_pool_back(View gy, const Window& w, bool count_pad) {
  const View gx = like(gy, w.values());
  append_window(*this, Op::avg_pool_back, {gy, gx}, w, count_pad);
  return gx;
}

#define LOOM_FAMILY windows
#define LOOM_FAMILY_ROWS "ops/windows/windows.def"
#include "ops/op_rows.h"

}  // namespace loom
