#include "ops/cpu/windows.h"

#include <algorithm>

#include "base/bytes.h"
#include "ops/cpu/kernel_args.h"
#include "ops/cpu/prepared_weights.h"
#include "ops/window.h"

namespace loom::cpu {
namespace {

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

// Values of an item with its padding, as far as windows reach; 0: more than they are worth.
std::int64_t padded_values(const Window& w) {
  std::int64_t values = w.channels;
  for (std::size_t d = 0; d < 3; ++d) {
    const std::int64_t reach = (w.out[d] - 1) * w.stride[d] + (w.kernel[d] - 1) * w.dilation[d] + 1;
    if (reach > INT32_MAX / values) return 0;
    values *= reach;
  }
  // Offsets in the items of a block of 1,024 rows are ints.
  const std::int64_t stride = static_cast<std::int64_t>(align_up(static_cast<std::uint64_t>(values), 16));
  if (stride > INT32_MAX / (1024 / w.positions() + 2)) return 0;
  return values <= w.positions() * static_cast<std::int64_t>(align_up(static_cast<std::uint64_t>(w.taps()), 16)) ? values : 0;
}

void rewrite_unfold(Program& p, const std::vector<Uses>& uses, std::size_t n) {
  Instruction& unfold = p.code[n];
  const Window w = Window::from_ints(unfold.ints);
  const Buffer& x = p.buffers[static_cast<std::size_t>(unfold.operands[0].buffer)];
  Buffer& r = p.buffers[static_cast<std::size_t>(unfold.operands[1].buffer)];
  const Uses& u = uses[static_cast<std::size_t>(unfold.operands[1].buffer)];
  const std::int64_t values = padded_values(w);
  if (r.kind != BufferKind::temp || r.type != ValueType::f32 || !u.whole || u.writers.size() != 1 || !rows_of(r.rows, x.rows, w.positions()) || values == 0) return;
  for (const std::size_t at : u.readers) {
    const Instruction& reader = p.code[at];
    if (reader.op == Op::outer_add && reader.operands[0].buffer != unfold.operands[1].buffer) continue;
    const Buffer* weight = reader.op == Op::matmul ? &p.buffers[static_cast<std::size_t>(reader.operands[0].buffer)] : nullptr;
    if (!weight || weight->type != ValueType::f32 || product_form(weight->format) != kFloatForm) return;
  }
  const auto ints = w.to_ints();
  for (const std::size_t at : u.readers) std::copy(ints.begin(), ints.end(), p.code[at].ints.begin() + (p.code[at].op == Op::outer_add));
  unfold.ints[Window::kInts] = 1;
  r.rows = x.rows;
  r.cols = values;
  unfold.operands[1].cols = static_cast<std::int32_t>(values);
  for (const std::size_t at : u.readers) p.code[at].operands[1].cols = static_cast<std::int32_t>(values);
}

// Whether the product became one with the fold after it.
bool rewrite_fold(Program& p, const std::vector<Uses>& uses, std::size_t n) {
  Instruction &product = p.code[n], &fold = p.code[n + 1];
  if (product.op != Op::matmul_t || fold.op != Op::fold || product.operands[2].buffer != fold.operands[0].buffer) return false;
  const Buffer &r = p.buffers[static_cast<std::size_t>(fold.operands[0].buffer)], &y = p.buffers[static_cast<std::size_t>(fold.operands[1].buffer)];
  const Uses& u = uses[static_cast<std::size_t>(fold.operands[0].buffer)];
  const Window w = Window::from_ints(fold.ints);
  if (r.kind != BufferKind::temp || r.type != ValueType::f32 || !u.whole || u.writers.size() != 1 || u.readers.size() != 1 || product.segment != fold.segment) return false;
  if (!rows_of(r.rows, y.rows, w.positions()) || fold.operands[1].buffer == product.operands[1].buffer) return false;
  product.operands[2] = fold.operands[1];
  const auto ints = w.to_ints();
  std::copy(ints.begin(), ints.end(), product.ints.begin());
  return true;
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

void rewrite_windows(Program& program) {
  const std::vector<Uses> uses = uses_of(program);
  for (std::size_t n = 0; n < program.code.size(); ++n)
    if (program.code[n].op == Op::unfold) rewrite_unfold(program, uses, n);
  std::size_t kept = 0;
  for (std::size_t n = 0; n < program.code.size(); ++n) {
    const bool with_next = n + 1 < program.code.size() && rewrite_fold(program, uses, n);
    program.code[kept++] = program.code[n];
    n += with_next;
  }
  program.code.resize(kept);
}

}  // namespace loom::cpu
