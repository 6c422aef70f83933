#include "ops/cpu/schedule.h"

#include <algorithm>

#include "ops/cpu/kernel_args.h"
#include "ops/cpu/prepared_weights.h"

namespace loom::cpu {
namespace {

constexpr std::int64_t kPrivateRows = 2;  // of a private copy

// How the workers of an instruction share an operand: each all of it, or the rows (cut into `units`), or columns in groups of 16 as
// share() of kernel_args.h cuts them. Ops that are not listed touch all of everything, which is always safe.
struct Cut {
  enum Kind { all, rows, columns } kind = all;
  std::int64_t units = 1;
  friend bool operator==(const Cut&, const Cut&) = default;
};

Cut cut_of(const Program& p, const Instruction& ins, std::size_t operand, bool fewer_than_workers, bool gemv) {
  const std::size_t result = info(ins.op).operands.size() - 1;
  switch (ins.op) {
    case Op::fill: case Op::copy: case Op::add: case Op::mul: case Op::scale: case Op::convert: case Op::activation: case Op::silu_mul:
      return {fewer_than_workers ? Cut::columns : Cut::rows};  // each_element
    case Op::quantize: case Op::split_bf16: return {Cut::rows};
    case Op::rms_norm: case Op::layer_norm: {
      if (operand == 0 || operand == result) return {Cut::rows, ins.operands[0].cols / ins.ints[0]};
      return {};
    }
    case Op::matmul: {
      if (operand != result) return {};
      const Buffer& w = p.buffers[static_cast<std::size_t>(ins.operands[0].buffer)];
      if (w.type != ValueType::f32) return {};
      const int form = product_form(w.format);
      const bool by_columns = form == kDecodedForm || form == kSplitForm || (form == kIntegerForm && gemv);
      return {by_columns ? Cut::columns : Cut::all};
    }
    default: return {};
  }
}

bool overlap(const std::byte* a, std::int64_t a_bytes, const std::byte* b, std::int64_t b_bytes) { return a < b + b_bytes && b < a + a_bytes; }

}  // namespace

Schedule::Schedule(const Program& program, int workers, bool fuse) : program_(&program), workers_(workers), fuse_(fuse) {
  const std::size_t count = program.code.size();
  classes_.assign(count, 0);
  barrier_.assign(count, 1);
  if (!fuse) return;
  writer_.assign(program.buffers.size(), -1);
  for (std::size_t n = 0; n < count; ++n) {
    const auto& operands = program.code[n].operands;
    measured_.push_back(std::any_of(operands.begin(), operands.end(), [&](const View& v) { return v.valid() && program.measured(v.buffer) != kNone; }));
  }
  std::vector<std::uint8_t> written(program.buffers.size(), 0);
  for (std::size_t n = 0; n < count; ++n) {
    const Instruction& ins = program.code[n];
    const OpInfo& op = info(ins.op);
    for (std::size_t i = 0; i < op.operands.size(); ++i) {
      if (op.operands[i].role == Role::read || !ins.operands[i].valid()) continue;
      const auto b = static_cast<std::size_t>(ins.operands[i].buffer);
      writer_[b] = written[b] ? -1 : static_cast<int>(n);
      written[b] = 1;
    }
  }
  std::vector<std::int64_t> bytes(program.buffers.size(), 0);
  for (std::size_t n = 0; n < count; ++n) {
    if (!makes_private(n)) continue;
    const BufferId id = program.code[n].operands[info(program.code[n].op).operands.size() - 1].buffer;
    bytes[static_cast<std::size_t>(id)] = buffer_bytes(program, id, kPrivateRows);
  }
  private_ = place_buffers(program, bytes, 0);
}

// The result is a temporary that nothing else writes, made row by row at small cost.
bool Schedule::makes_private(std::size_t n) const {
  if (!fuse_ || workers_ == 1 || measured_[n]) return false;
  const Instruction& ins = program_->code[n];
  if (ins.op != Op::rms_norm && ins.op != Op::layer_norm && ins.op != Op::quantize && ins.op != Op::split_bf16) return false;
  const auto b = static_cast<std::size_t>(ins.operands[info(ins.op).operands.size() - 1].buffer);
  return program_->buffers[b].kind == BufferKind::temp && writer_[b] == static_cast<int>(n);
}

// Whether a worker in `after` could touch what another one is still working on in `before`.
bool Schedule::conflicts(std::size_t before, std::size_t after, std::span<std::byte* const> data) const {
  const Instruction *x = &program_->code[before], *y = &program_->code[after];
  const OpInfo &xi = info(x->op), &yi = info(y->op);
  if (x->op == Op::route_rows && measured_[after]) return true;  // the count itself
  auto cut = [&](const Instruction& ins, std::size_t n, std::size_t i) {
    if (whole(n) || measured_[n]) return Cut{};  // every worker reads all of it, or how many rows it has is not known yet
    return cut_of(*program_, ins, i, (classes_[n] & kFewerThanWorkers) != 0, (classes_[n] & kGemv) != 0);
  };
  for (std::size_t i = 0; i < xi.operands.size(); ++i) {
    const View& a = x->operands[i];
    if (!a.valid() || is_private(a.buffer)) continue;
    for (std::size_t j = 0; j < yi.operands.size(); ++j) {
      const View& b = y->operands[j];
      if (!b.valid() || is_private(b.buffer) || (xi.operands[i].role == Role::read && yi.operands[j].role == Role::read)) continue;
      if (a.buffer == b.buffer) {
        const Cut c = cut(*x, before, i), d = cut(*y, after, j);
        if (c.kind == Cut::all || !(c == d) || (!(c == Cut{Cut::rows}) && !(a == b))) return true;
        continue;
      }
      const Buffer &p = program_->buffers[static_cast<std::size_t>(a.buffer)], &q = program_->buffers[static_cast<std::size_t>(b.buffer)];
      if (p.kind == BufferKind::weight || q.kind == BufferKind::weight) {  // never written, but its values may lie in the master that an update writes
        if ((p.kind == BufferKind::master || q.kind == BufferKind::master) && p.path == q.path && p.role == q.role) return true;
        continue;
      }
      if (overlap(data[static_cast<std::size_t>(a.buffer)], buffer_bytes(*program_, a.buffer), data[static_cast<std::size_t>(b.buffer)], buffer_bytes(*program_, b.buffer))) return true;
    }
  }
  return false;
}

void Schedule::update(std::span<const std::uint32_t> registers, std::span<std::byte* const> data) {
  if (!fuse_) return;
  bool changed = false;
  for (std::size_t n = 0; n < classes_.size(); ++n) {
    const Instruction& ins = program_->code[n];
    // The rows that a kernel cuts are those of its result, or of its last operand that is there: SGD may have no velocity.
    std::size_t last = info(ins.op).operands.size() - 1;
    while (!ins.operands[last].valid()) --last;
    const std::int64_t rows = program_->rows(ins.operands[last].buffer, registers);
    const bool fewer = rows < workers_;
    const auto now = static_cast<std::uint8_t>(kKnown | (fewer && rows <= kPrivateRows ? kFew : 0) | (fewer ? kFewerThanWorkers : 0) | (rows <= kGemvRows ? kGemv : 0));
    changed |= classes_[n] != now;
    classes_[n] = now;
  }
  if (!changed) return;
  std::size_t group = 0;
  for (std::size_t n = 0; n < classes_.size(); ++n) {
    barrier_[n] = 0;
    for (std::size_t m = n; m-- > group && !barrier_[n];) barrier_[n] = conflicts(m, n, data);
    if (barrier_[n]) group = n;
  }
}

}  // namespace loom::cpu
