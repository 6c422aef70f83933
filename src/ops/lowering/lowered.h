// What an executor runs: a Program after lowering, private to one executor, never saved nor hashed.
// The portable program says what is computed; this says by which kernels. Its ops are the
// program's, the variants that formats call for (matmul_integer), and fused ones (convolutions
// without unfolded rows, decoding in few dispatches), with typed attributes.
#pragma once

#include <array>
#include <cstdint>
#include <variant>
#include <vector>

#include "ops/op_row.h"
#include "ops/program.h"
#include "ops/windows/conv_window.h"

namespace loom {

// rope_append: of one row, its queries' heads and the cache's.
struct HeadsOfRow {
  std::int64_t heads = 0, kv_heads = 0, head_dim = 0;
};
// decode_products: up to three products of one row in a dispatch, and what takes them up.
struct DecodeProducts {
  enum class Epilogue : std::uint8_t {
#define LOOM_EPILOGUE(id, name) name = id,
#include "ops/products/decode/epilogues.def"
  };
  Epilogue epilogue = Epilogue::store;
  bool norm = false, bias = false;  // the row is normalized first; each product has a bias
  bool one_plane = false;           // as quantize_i8 makes of the row
  double eps = 0;
  std::int64_t jobs = 1;  // panels that a workgroup makes at a time
  std::array<BufferId, 3> matrices{kNone, kNone, kNone};
  std::int64_t count = 0;  // of matrices
  HeadsOfRow row;
};
using Attributes =
    std::variant<std::monostate, ConvWindow, PlacesOfRow, HeadsOfRow, DecodeProducts>;

struct LoweredInstruction {
  LoweredOp op = LoweredOp::fill;
  Segment segment = Segment::forward;
  std::array<View, kMaxOperands> operands{};  // as the row of `op` lists them
  // Those of the instruction it stands for; fused ones keep what they need in `attributes`.
  std::array<std::int64_t, kMaxInts> ints{};
  std::array<double, kMaxReals> reals{};
  std::array<RegisterId, kMaxRegisters> registers{kNone, kNone, kNone, kNone, kNone};
  Attributes attributes;
  std::int32_t block = kNone;  // of rows, which it computes alone (block_rows)
};

// Rows [first, first + count) of a buffer.
struct RowRange {
  std::int64_t first = 0, count = 0;
};

struct LoweredProgram : ProgramFrame {
  std::vector<LoweredInstruction> code;

  // Where instructions have blocks of rows: their size, a buffer of which they are the rows, and
  // which buffers hold those of one block alone.
  std::int64_t block_rows = 0;
  BufferId block_like = kNone;
  std::vector<bool> of_block{};
  // Rows of an operand in a run: all, or those of the instruction's block.
  RowRange rows_in(const LoweredInstruction& ins, BufferId id,
                   std::span<const std::uint32_t> registers) const;
  // Whether a run comes to the block.
  bool has_rows(std::int32_t block, std::span<const std::uint32_t> registers) const;
};

// One instruction for each of a verified program, by the kernels its formats call for.
LoweredProgram lower(const Program& program);

// Copies of a temporary to an output are left out: what writes it writes the output. Same bits.
void drop_copies(LoweredProgram& program);

// Convolutions whose unfolded rows are never made: unfold, product and reorder become conv, and
// their gradients likewise, where windows are large enough to gain by it; a relu of the results is
// conv's, too. Same bits.
void fuse_convolutions(LoweredProgram& program);

// A loss of classes with the product before it and its gradients, a block of rows at a time, where
// nothing else reads the logits: they never exist as a whole. Same bits. Its instructions are of
// one segment then. `rows`: of a block, where no more are better.
void block_rows(LoweredProgram& program, std::int64_t rows);

// Whether a float product copies the panels it needs of the weight's rows.
bool copies_panels(const LoweredProgram& program, const LoweredInstruction& ins);
// Whether it decodes them from codes of class I: no decoded copy of the weight is kept.
bool decodes_panels(const LoweredProgram& program, const LoweredInstruction& ins);

// What a scratch rule sees of an instruction, at register maxima.
struct ScratchQuery {
  const LoweredProgram& program;
  const LoweredInstruction& ins;
  std::int64_t kv_capacity = 0;     // positions of a sequence in the cache
  bool updates = false;             // the program has masters
  std::int64_t sequence_limit = 0;  // of a device: positions of a sequence of rows

  std::int64_t max_rows(int i) const {
    return program.max_rows(ins.operands[static_cast<std::size_t>(i)].buffer);
  }
  std::int64_t cols(int i) const { return ins.operands[static_cast<std::size_t>(i)].cols; }
  const Buffer& of(int i) const {
    return program
        .buffers[static_cast<std::size_t>(ins.operands[static_cast<std::size_t>(i)].buffer)];
  }
  std::int64_t value_size(int i) const;
};

}  // namespace loom
