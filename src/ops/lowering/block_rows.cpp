// A loss over many classes, a block of rows at a time. Logits and their gradient have a value for
// each row and class, and only a loss and a few products read them: those compute all of a block
// before the next begins, in buffers of one block.
//
//   matmul cross_entropy sum_rows cross_entropy_back matmul_t weight_grad
//   [matmul cross_entropy cross_entropy_back matmul_t weight_grad] of each block, sum_rows
//
// A row depends on its own row alone, so the bits stay. Sums over rows are gradients of a weight:
// their blocks of 1,024 rows combine like the digits of a binary counter (rule 3), of which up to
// three parts of as many rows, a power of two of such blocks, are added one after the other.
#include <algorithm>

#include "ops/lowering/lowered.h"
#include "ops/lowering/memory_planner.h"

namespace loom {
namespace {

constexpr std::int64_t kMinGain = 1 << 20;  // bytes
// Each block copies the weight's panels again.
constexpr std::int64_t kBlocks = 16, kSummedRows = 1024, kSummedBlocks = 3;

enum class Works { otherwise, by_rows, sums };
Works works(LoweredOp op) {
  switch (op) {
    case LoweredOp::matmul:
    case LoweredOp::matmul_integer:
    case LoweredOp::matmul_blocks:
    case LoweredOp::matmul_decoded:
    case LoweredOp::matmul_split:
    case LoweredOp::matmul_t:
    case LoweredOp::cross_entropy:
    case LoweredOp::cross_entropy_back:
    case LoweredOp::add:
    case LoweredOp::scale:
    case LoweredOp::unary:
    case LoweredOp::binary:
    case LoweredOp::channel_affine: return Works::by_rows;
    case LoweredOp::weight_grad:
    case LoweredOp::bias_grad: return Works::sums;
    default: return Works::otherwise;
  }
}

class Blocks {
 public:
  Blocks(LoweredProgram& program, std::int64_t rows)
      : p_(program),
        rows_(rows),
        wide_(program.buffers.size()),
        part_(program.code.size(), Part::before) {}

  void run() {
    const auto loss = std::ranges::find(p_.code, LoweredOp::cross_entropy, &LoweredInstruction::op);
    if (loss == p_.code.end() || !is_wide(loss->operands[0].buffer, loss->operands[0])) return;
    like_ = loss->operands[2].buffer;
    wide_[static_cast<std::size_t>(loss->operands[0].buffer)] = true;
    if (of(like_).rows.a == kNone || !find_wide() || !find_order() || !choose_rows()) return;
    write();
  }

 private:
  // Of an instruction between the first and the last of the blocks: before, in or after them.
  enum class Part : std::uint8_t { before, in, after };

  const Buffer& of(BufferId id) const { return p_.buffers[static_cast<std::size_t>(id)]; }
  bool in_blocks(BufferId id) const { return wide_[static_cast<std::size_t>(id)]; }
  // A temporary with the rows and columns of the logits, which are `like`.
  bool is_wide(BufferId id, const View& like) const {
    const Buffer &b = of(id), &logits = of(like.buffer);
    return b.kind == BufferKind::temp && b.rows == logits.rows && b.cols == like.cols &&
           like.cols == logits.cols && like.cols > 1;
  }

  // What reads or writes buffers as wide as the logits, and which buffers those are; whether all of
  // it can compute in blocks.
  bool find_wide() {
    for (bool more = true; more;) {
      more = false;
      for (std::size_t n = 0; n < p_.code.size(); ++n) {
        const LoweredInstruction& ins = p_.code[n];
        const auto seen = std::ranges::find_if(
            ins.operands, [&](const View& v) { return v.valid() && in_blocks(v.buffer); });
        if (seen == ins.operands.end()) continue;
        if (!computes_in_blocks(ins)) return false;
        part_[n] = Part::in;
        for (const View& v : ins.operands)
          if (v.valid() && !in_blocks(v.buffer) && is_wide(v.buffer, *seen))
            wide_[static_cast<std::size_t>(v.buffer)] = more = true;
      }
    }
    const auto in = [](Part part) { return part == Part::in; };
    first_ = static_cast<std::size_t>(std::ranges::find_if(part_, in) - part_.begin());
    end_ = part_.size();
    while (!in(part_[end_ - 1])) --end_;
    return true;
  }

  bool computes_in_blocks(const LoweredInstruction& ins) {
    const Works how = works(ins.op);
    const auto& roles = operands(ins.op);
    sums_ |= how == Works::sums;
    if (how == Works::otherwise || (how == Works::sums && ins.ints[0] != 0)) return false;
    for (std::size_t i = 0; i < roles.size(); ++i) {
      const View& v = ins.operands[i];
      if (!v.valid()) continue;
      if (in_blocks(v.buffer) && v.cols != of(v.buffer).cols) return false;
      if (roles[i].role != Role::read && how != Works::sums && of(v.buffer).rows != of(like_).rows)
        return false;
    }
    return true;
  }

  // What stands among them goes before or after all of them.
  bool find_order() {
    std::vector<bool> written(p_.buffers.size()), touched(p_.buffers.size()),
        later(p_.buffers.size()), later_written(p_.buffers.size());
    for (std::size_t n = first_; n < end_; ++n) {
      const LoweredInstruction& ins = p_.code[n];
      const auto& roles = operands(ins.op);
      const auto any = [&](const auto& test) {
        for (std::size_t i = 0; i < roles.size(); ++i)
          if (ins.operands[i].valid() &&
              test(static_cast<std::size_t>(ins.operands[i].buffer), roles[i].role != Role::read))
            return true;
        return false;
      };
      const bool in = part_[n] == Part::in;
      if (in &&
          any([&](std::size_t b, bool writes) { return later_written[b] || (writes && later[b]); }))
        return false;
      if (!in &&
          !any([&](std::size_t b, bool writes) { return written[b] || (writes && touched[b]); }))
        continue;
      if (!in) part_[n] = Part::after;
      any([&](std::size_t b, bool writes) {
        touched[b] = true;
        if (writes) written[b] = true;
        if (!in) later[b] = true;
        if (!in && writes) later_written[b] = true;
        return false;
      });
    }
    return true;
  }

  bool choose_rows() {
    const std::int64_t rows = p_.max_rows(like_);
    std::int64_t block = sums_ ? kSummedRows : rows_;
    while ((rows + block - 1) / block > (sums_ ? kSummedBlocks : kBlocks)) block *= 2;
    std::int64_t gain = 0;
    for (std::size_t b = 0; b < wide_.size(); ++b)
      if (wide_[b])
        gain += buffer_bytes(p_, static_cast<BufferId>(b)) -
                buffer_bytes(p_, static_cast<BufferId>(b), block);
    p_.block_rows = block;
    return block < rows && gain >= kMinGain;
  }

  void write() {
    std::vector<LoweredInstruction> code(p_.code.begin(),
                                         p_.code.begin() + static_cast<std::ptrdiff_t>(first_));
    const auto add = [&](Part part, std::int32_t block) {
      for (std::size_t n = first_; n < end_; ++n) {
        if (part_[n] != part) continue;
        code.push_back(p_.code[n]);
        if (part == Part::before) continue;
        LoweredInstruction& ins = code.back();
        ins.segment = p_.code[end_ - 1].segment;
        if (part == Part::after) continue;
        ins.block = block;
        if (works(ins.op) == Works::sums) ins.ints[0] = block > 0;
      }
    };
    add(Part::before, 0);
    const std::int64_t blocks = (p_.max_rows(like_) + p_.block_rows - 1) / p_.block_rows;
    for (std::int32_t block = 0; block < blocks; ++block) add(Part::in, block);
    add(Part::after, 0);
    code.insert(code.end(), p_.code.begin() + static_cast<std::ptrdiff_t>(end_), p_.code.end());
    p_.code = std::move(code);
    p_.block_like = like_;
    for (std::size_t b = 0; b < wide_.size(); ++b)
      if (wide_[b]) p_.buffers[b].rows = {p_.block_rows};
    p_.of_block = std::move(wide_);
  }

  LoweredProgram& p_;
  const std::int64_t rows_;
  std::vector<bool> wide_;
  std::vector<Part> part_;
  std::size_t first_ = 0, end_ = 0;
  BufferId like_ = kNone;
  bool sums_ = false;
};

}  // namespace

void block_rows(LoweredProgram& program, std::int64_t rows) { Blocks(program, rows).run(); }

RowRange LoweredProgram::rows_in(const LoweredInstruction& ins, BufferId id,
                                 std::span<const std::uint32_t> registers) const {
  const auto b = static_cast<std::size_t>(id);
  const bool own = ins.block != kNone && of_block[b];
  if (ins.block == kNone ||
      (!own && buffers[b].rows != buffers[static_cast<std::size_t>(block_like)].rows))
    return {0, rows(id, registers)};
  const std::int64_t first = ins.block * block_rows, all = rows(block_like, registers);
  return {own ? 0 : first, std::clamp<std::int64_t>(all - first, 0, block_rows)};
}

bool LoweredProgram::has_rows(std::int32_t block, std::span<const std::uint32_t> registers) const {
  return block == kNone || block * block_rows < rows(block_like, registers);
}

}  // namespace loom
