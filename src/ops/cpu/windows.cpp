#include "ops/cpu/windows.h"

#include <algorithm>

#include "base/files/bytes.h"
#include "ops/cpu/kernel_args.h"
#include "ops/cpu/prepared_weights.h"

namespace loom::cpu {
namespace {

constexpr std::int64_t kLeastPlaces = 16;  // they stand in the lanes

struct Uses {
  std::vector<std::size_t> writers, readers;
  bool whole = true;  // always the whole row
};

std::vector<Uses> uses_of(const Program& p) {
  std::vector<Uses> uses(p.buffers.size());
  for (std::size_t n = 0; n < p.code.size(); ++n) {
    const OpInfo& op = info(p.code[n].op);
    for (std::size_t i = 0; i < op.operands.size(); ++i) {
      const View& v = p.code[n].operands[i];
      if (!v.valid()) continue;
      Uses& u = uses[static_cast<std::size_t>(v.buffer)];
      (op.operands[i].role == Role::read ? u.readers : u.writers).push_back(n);
      u.whole &= v.cols == p.buffers[static_cast<std::size_t>(v.buffer)].cols;
    }
  }
  return uses;
}

// r is made of as many rows for each row of `of` as there are places.
bool rows_of(const Rows& r, const Rows& of, std::int64_t places) { return r.a == of.a && r.b == of.b && r.constant == of.constant * places; }

std::int64_t reach(const Window& w, std::size_t d) { return (w.out[d] - 1) * w.stride[d] + (w.kernel[d] - 1) * w.dilation[d] + 1; }

// Values of an item with its padding, as far as windows reach; 0: more than they are worth.
std::int64_t padded_values(const Window& w) {
  std::int64_t values = w.channels;
  for (std::size_t d = 0; d < 3; ++d) {
    if (reach(w, d) > INT32_MAX / values) return 0;
    values *= reach(w, d);
  }
  // Offsets in the items of a block of 1,024 rows are ints.
  const std::int64_t stride = static_cast<std::int64_t>(align_up(static_cast<std::uint64_t>(values), 16));
  if (stride > INT32_MAX / (1024 / w.positions() + 2)) return 0;
  return values <= w.positions() * static_cast<std::int64_t>(align_up(static_cast<std::uint64_t>(w.taps()), 16)) ? values : 0;
}

// A temporary of floats that one instruction writes, and all of it is read.
bool is_rows(const Program& p, const std::vector<Uses>& uses, const View& v) {
  const Buffer& b = p.buffers[static_cast<std::size_t>(v.buffer)];
  const Uses& u = uses[static_cast<std::size_t>(v.buffer)];
  return b.kind == BufferKind::temp && b.type == ValueType::f32 && u.whole && u.writers.size() == 1;
}
bool reads_once(const std::vector<Uses>& uses, const View& v) { return uses[static_cast<std::size_t>(v.buffer)].readers.size() == 1; }

// Whether the instruction turns each item from `rows` times `cols` values to `cols` times `rows`.
bool turns(const Instruction& ins, std::int64_t rows, std::int64_t cols) {
  constexpr std::int64_t kLastTwo = 0x01243;
  return ins.op == Op::reorder && ins.ints[5] == kLastTwo && ins.ints[0] * ins.ints[1] * ins.ints[2] == 1 && ins.ints[3] == rows && ins.ints[4] == cols;
}

// Whether unfold's result can become the padded input.
bool pads(const Program& p, const std::vector<Uses>& uses, const Instruction& unfold) {
  const Window w = Window::from_ints(unfold.ints);
  const Buffer &x = p.buffers[static_cast<std::size_t>(unfold.operands[0].buffer)], &r = p.buffers[static_cast<std::size_t>(unfold.operands[1].buffer)];
  return w.positions() >= kLeastPlaces && is_rows(p, uses, unfold.operands[1]) && rows_of(r.rows, x.rows, w.positions()) && padded_values(w) > 0;
}
void pad(Program& p, Instruction& unfold, Instruction& reader) {
  const Window w = Window::from_ints(unfold.ints);
  Buffer& r = p.buffers[static_cast<std::size_t>(unfold.operands[1].buffer)];
  unfold.ints[Window::kInts] = 1;
  r.rows = p.buffers[static_cast<std::size_t>(unfold.operands[0].buffer)].rows;
  r.cols = padded_values(w);
  unfold.operands[1].cols = reader.operands[1].cols = static_cast<std::int32_t>(r.cols);
  const auto ints = w.to_ints();
  std::copy(ints.begin(), ints.end(), reader.ints.begin() + (reader.op == Op::outer_add));
}

// unfold, and the product and the reorder right after what reads it.
void rewrite_forward(Program& p, const std::vector<Uses>& uses, std::size_t n, std::vector<bool>& gone) {
  Instruction& unfold = p.code[n];
  if (!pads(p, uses, unfold) || !reads_once(uses, unfold.operands[1])) return;
  const std::size_t at = uses[static_cast<std::size_t>(unfold.operands[1].buffer)].readers[0];
  Instruction& product = p.code[at];
  if (product.op != Op::matmul || at + 1 == p.code.size()) return;
  Instruction& reorder = p.code[at + 1];
  const Buffer& weight = p.buffers[static_cast<std::size_t>(product.operands[0].buffer)];
  if (weight.type != ValueType::f32 || product_form(weight.format) != kFloatForm) return;
  const Window w = Window::from_ints(unfold.ints);
  const View z = product.operands[3];
  if (!turns(reorder, w.positions(), z.cols) || reorder.operands[0] != z || reorder.segment != product.segment || !is_rows(p, uses, z) || !reads_once(uses, z)) return;
  if (!rows_of(p.buffers[static_cast<std::size_t>(z.buffer)].rows, p.buffers[static_cast<std::size_t>(reorder.operands[1].buffer)].rows, w.positions())) return;
  if (reorder.operands[1].cols != w.positions() * z.cols) return;
  pad(p, unfold, product);
  product.operands[3] = reorder.operands[1];
  gone[at + 1] = true;
}

// The reorder of a gradient, and all that reads it: what becomes of filters, bias and input.
void rewrite_backward(Program& p, const std::vector<Uses>& uses, std::size_t n, std::vector<bool>& gone) {
  const Instruction& reorder = p.code[n];
  const View from = reorder.operands[0], gz = reorder.operands[1];
  const std::int64_t filters = gz.cols, places = filters > 0 ? from.cols / filters : 0;
  if (places < kLeastPlaces || from.cols != filters * places || !turns(reorder, filters, places) || !is_rows(p, uses, gz)) return;
  const Buffer &items = p.buffers[static_cast<std::size_t>(from.buffer)], &rows = p.buffers[static_cast<std::size_t>(gz.buffer)];
  const Uses& source = uses[static_cast<std::size_t>(from.buffer)];
  if (items.type != ValueType::f32 || !rows_of(rows.rows, items.rows, places)) return;
  for (const std::size_t writer : source.writers)
    if (writer > n) return;  // the reorder keeps what will be overwritten
  auto unfold_of = [&](const Instruction& outer) -> std::size_t { return uses[static_cast<std::size_t>(outer.operands[1].buffer)].writers[0]; };
  for (const std::size_t at : uses[static_cast<std::size_t>(gz.buffer)].readers) {
    const Instruction& reader = p.code[at];
    if (reader.op == Op::col_sum) continue;
    if (reader.op == Op::outer_add && reader.operands[0] == gz && is_rows(p, uses, reader.operands[1]) && reads_once(uses, reader.operands[1])) {
      const Instruction& unfold = p.code[unfold_of(reader)];
      if (unfold.op == Op::unfold && pads(p, uses, unfold) && Window::from_ints(unfold.ints).positions() == places) continue;
      return;
    }
    if (reader.op != Op::matmul_t || at + 1 == p.code.size()) return;
    const Instruction& fold = p.code[at + 1];
    const View& r = reader.operands[2];
    if (fold.op != Op::fold || fold.operands[0] != r || !is_rows(p, uses, r) || !reads_once(uses, r) || reader.segment != fold.segment || fold.operands[1].buffer == from.buffer) return;
    const Window w = Window::from_ints(fold.ints);
    if (w.positions() != places || padded_values(w) == 0 || !rows_of(p.buffers[static_cast<std::size_t>(r.buffer)].rows, p.buffers[static_cast<std::size_t>(fold.operands[1].buffer)].rows, places)) return;
  }
  for (const std::size_t at : uses[static_cast<std::size_t>(gz.buffer)].readers) {
    Instruction& reader = p.code[at];
    if (reader.op == Op::col_sum) {
      reader.operands[0] = from;
      reader.ints[1] = places;
    } else if (reader.op == Op::outer_add) {
      reader.operands[0] = from;
      pad(p, p.code[unfold_of(reader)], reader);
    } else {
      Instruction& fold = p.code[at + 1];
      reader.operands[1] = from;
      reader.operands[2] = fold.operands[1];
      std::copy_n(fold.ints.begin(), Window::kInts, reader.ints.begin());
      gone[at + 1] = true;
    }
  }
  gone[n] = true;
}

}  // namespace

bool in_window(const Instruction& ins) {
  switch (ins.op) {
    case Op::unfold: return ins.ints[Window::kInts] != 0;
    case Op::matmul: case Op::matmul_t: return ins.ints[0] != 0;
    case Op::outer_add: return ins.ints[1] != 0;
    default: return false;
  }
}

Window window_of(const Instruction& ins) { return Window::from_ints(std::span(ins.ints).subspan(ins.op == Op::outer_add)); }
std::int64_t padded_plane(const Window& w) { return reach(w, 0) * reach(w, 1) * reach(w, 2); }

void rewrite_windows(Program& program) {
  const std::vector<Uses> uses = uses_of(program);
  std::vector<bool> gone(program.code.size());
  for (std::size_t n = 0; n < program.code.size(); ++n) {
    if (program.code[n].op == Op::unfold) rewrite_forward(program, uses, n, gone);
    if (program.code[n].op == Op::reorder) rewrite_backward(program, uses, n, gone);
  }
  std::size_t kept = 0;
  for (std::size_t n = 0; n < program.code.size(); ++n)
    if (!gone[n]) program.code[kept++] = program.code[n];
  program.code.resize(kept);
}

}  // namespace loom::cpu
