#include "ops/cpu/schedule.h"

#include <algorithm>

#include "ops/products/product_sizes.h"

namespace loom::cpu {
namespace {

constexpr std::int64_t kPrivateRows = 2;  // of a private copy

// How the workers of an instruction share an operand: each all of it, or the rows (cut into
// `units`), or columns in groups of 16 as share() of kernel_args.h cuts them.
struct Cut {
  enum Kind { all, rows, columns } kind = all;
  std::int64_t units = 1;
  friend bool operator==(const Cut&, const Cut&) = default;
};

Cut cut_of(const LoweredInstruction& ins, std::size_t operand, bool fewer_than_workers, bool gemv) {
  const std::size_t result = operands(ins.op).size() - 1;
  switch (traits(ins.op).share) {
    case Share::all: return {};
    case Share::elements: return {fewer_than_workers ? Cut::columns : Cut::rows};
    case Share::rows: return {Cut::rows};
    case Share::groups:
      return operand == 0 || operand == result ? Cut{Cut::rows, ins.operands[0].cols / ins.ints[0]}
                                               : Cut{};
    case Share::columns: return {operand == result ? Cut::columns : Cut::all};
    case Share::columns_of_few_rows: return {operand == result && gemv ? Cut::columns : Cut::all};
  }
  return {};
}

bool overlap(const std::byte* a, std::int64_t a_bytes, const std::byte* b, std::int64_t b_bytes) {
  return a < b + b_bytes && b < a + a_bytes;
}

}  // namespace

Schedule::Schedule(const LoweredProgram& program, int workers, bool fuse)
    : program_(&program), workers_(workers), fuse_(fuse) {
  const std::size_t count = program.code.size();
  classes_.assign(count, 0);
  barrier_.assign(count, 1);
  if (!fuse) return;
  writer_.assign(program.buffers.size(), -1);
  for (std::size_t n = 0; n < count; ++n) {
    const auto& operands = program.code[n].operands;
    dynamic_rows_.push_back(std::any_of(operands.begin(), operands.end(), [&](const View& v) {
      return v.valid() && program.dynamic_rows(v.buffer) != kNone;
    }));
  }
  std::vector<std::uint8_t> written(program.buffers.size(), 0);
  for (std::size_t n = 0; n < count; ++n) {
    const LoweredInstruction& ins = program.code[n];
    const auto& roles = operands(ins.op);
    for (std::size_t i = 0; i < roles.size(); ++i) {
      if (roles[i].role == Role::read || !ins.operands[i].valid()) continue;
      const auto b = static_cast<std::size_t>(ins.operands[i].buffer);
      writer_[b] = written[b] ? -1 : static_cast<int>(n);
      written[b] = 1;
    }
  }
  std::vector<std::int64_t> bytes(program.buffers.size(), 0);
  for (std::size_t n = 0; n < count; ++n) {
    if (!makes_private(n)) continue;
    const BufferId id = program.code[n].operands[operands(program.code[n].op).size() - 1].buffer;
    bytes[static_cast<std::size_t>(id)] = buffer_bytes(program, id, kPrivateRows);
  }
  private_ = place_buffers(program, bytes, 0);
}

// The result is a temporary that nothing else writes, made row by row at small cost.
bool Schedule::makes_private(std::size_t n) const {
  if (!fuse_ || workers_ == 1 || dynamic_rows_[n]) return false;
  const LoweredInstruction& ins = program_->code[n];
  if (!traits(ins.op).repeated) return false;
  const auto b = static_cast<std::size_t>(ins.operands[operands(ins.op).size() - 1].buffer);
  return program_->buffers[b].kind == BufferKind::temp && writer_[b] == static_cast<int>(n);
}

// Whether a worker in `after` could touch what another one is still working on in `before`.
bool Schedule::conflicts(std::size_t before, std::size_t after,
                         std::span<std::byte* const> data) const {
  const LoweredInstruction *x = &program_->code[before], *y = &program_->code[after];
  const auto &xi = operands(x->op), &yi = operands(y->op);
  if (x->op == LoweredOp::route_rows && dynamic_rows_[after]) return true;  // the count itself
  auto cut = [&](const LoweredInstruction& ins, std::size_t n, std::size_t i) {
    if (whole(n) || dynamic_rows_[n])
      return Cut{};  // every worker reads all of it, or how many rows it has is not known yet
    return cut_of(ins, i, (classes_[n] & kFewerThanWorkers) != 0, (classes_[n] & kGemv) != 0);
  };
  for (std::size_t i = 0; i < xi.size(); ++i) {
    const View& a = x->operands[i];
    if (!a.valid() || is_private(a.buffer)) continue;
    for (std::size_t j = 0; j < yi.size(); ++j) {
      const View& b = y->operands[j];
      if (!b.valid() || is_private(b.buffer) ||
          (xi[i].role == Role::read && yi[j].role == Role::read))
        continue;
      if (a.buffer == b.buffer) {
        if (x->block != y->block) return true;
        const Cut c = cut(*x, before, i), d = cut(*y, after, j);
        if (c.kind == Cut::all || !(c == d) || (!(c == Cut{Cut::rows}) && !(a == b))) return true;
        continue;
      }
      const Buffer &p = program_->buffers[static_cast<std::size_t>(a.buffer)],
                   &q = program_->buffers[static_cast<std::size_t>(b.buffer)];
      if (p.kind == BufferKind::weight ||
          q.kind == BufferKind::weight) {  // never written, but its values may lie in the master
                                           // that an update writes
        if ((p.kind == BufferKind::master || q.kind == BufferKind::master) && p.path == q.path &&
            p.role == q.role)
          return true;
        continue;
      }
      if (overlap(data[static_cast<std::size_t>(a.buffer)], buffer_bytes(*program_, a.buffer),
                  data[static_cast<std::size_t>(b.buffer)], buffer_bytes(*program_, b.buffer)))
        return true;
    }
  }
  return false;
}

void Schedule::update(std::span<const std::uint32_t> registers, std::span<std::byte* const> data) {
  if (!fuse_) return;
  bool changed = false;
  for (std::size_t n = 0; n < classes_.size(); ++n) {
    const LoweredInstruction& ins = program_->code[n];
    // The rows that a kernel cuts are those of its result, or of its last operand that is there:
    // SGD may have no velocity.
    std::size_t last = operands(ins.op).size() - 1;
    while (!ins.operands[last].valid()) --last;
    const std::int64_t rows = program_->rows_in(ins, ins.operands[last].buffer, registers).count;
    const bool fewer = rows < workers_;
    const auto now = static_cast<std::uint8_t>(kKnown | (fewer && rows <= kPrivateRows ? kFew : 0) |
                                               (fewer ? kFewerThanWorkers : 0) |
                                               (rows <= kGemvRows ? kGemv : 0));
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
