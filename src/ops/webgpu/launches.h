// What a family's rule for devices writes: the dispatches of one instruction (kernels.h).
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "gpu/device.h"
#include "ops/lowering/lowered.h"
#include "ops/lowering/weight_arg.h"
#include "ops/webgpu/kernels.h"

namespace loom::webgpu {

// A matrix as prepared, and the buffer it lies in.
struct Matrix {
  const WeightArg* arg = nullptr;
  int heap = 0;
};
using MatrixLookup = std::function<Matrix(BufferId)>;

// What a dispatch does beside its instruction.
struct AtOnce {
  // A quantization first makes the row, and the sum that the row is made of.
  const LoweredInstruction *row = nullptr, *sum = nullptr;
  bool products = false;  // products of one operand may be made by the first of them
};

class Launches {
 public:
  Launches(const LoweredProgram& program, const LoweredInstruction& ins,
           const MatrixLookup& matrices, const gpu::Limits& limits);

  const LoweredProgram& program;
  const LoweredInstruction& ins;
  const gpu::Limits& limits;
  bool dynamic_rows = false;  // an operand has rows that the run measures
  AtOnce at_once;
  std::vector<LaunchSpec> list;

  std::string name() const { return std::string(loom::name(ins.op)); }
  const View& view(int i) const { return ins.operands[static_cast<std::size_t>(i)]; }
  bool has(int i) const { return view(i).valid(); }
  std::int64_t cols(int i) const { return view(i).cols; }
  std::int64_t max_rows(int i) const { return program.max_rows(view(i).buffer); }
  std::int64_t integer(int i) const { return ins.ints[static_cast<std::size_t>(i)]; }
  const WeightArg& weight(int i = 0) const { return *matrices_(view(i).buffer).arg; }
  const WeightArg& matrix(BufferId id) const { return *matrices_(id).arg; }
  int heap(BufferId id) const { return matrices_(id).heap; }

  // A thread for each element of an operand.
  void elements(std::string_view pieces, std::string_view entry, int operand,
                std::string constants = {});
  // ceil(rows of `operand` / 1) * factor units, `threads` of them in a workgroup; operand -1:
  // factor units.
  void add(std::string_view pieces, std::string_view entry, int operand, std::int64_t factor,
           std::int64_t threads, std::string constants = {});
  LaunchSpec& last() { return list.back(); }
  // The last launch reads the matrix that operand 0 is, prepared as it says.
  void with_weights(std::string_view pieces, bool bias);
  // Sums over rows of operand 0, or `parts` sums for each of them, by chunks_gradient.wgsl: `units`
  // workgroups of `entry` for each block of 1,024; then, where blocks are several, `result` is
  // their totals. Int number `accumulate` is of that; scratch has them `kept` words from its
  // beginning on.
  void row_blocks(std::string_view pieces, std::string_view entry, std::int64_t units, int result,
                  int accumulate, std::int64_t parts = 1, std::int64_t kept = 0,
                  std::string constants = {});
  // Whether all that the operands have comes in fours of words, each at a multiple of four.
  bool in_fours() const;

 private:
  const MatrixLookup& matrices_;
};

// The dispatches of an instruction, and of those before that it makes first. Error: unsupported,
// where the device cannot do it.
Result<std::vector<LaunchSpec>> launches_of(const LoweredProgram& program,
                                            const LoweredInstruction& ins,
                                            const MatrixLookup& matrices, const gpu::Limits& limits,
                                            const AtOnce& at_once = {});

// Blocks of rows that sums over them are made of (rule 3).
inline std::int64_t row_blocks_of(std::int64_t rows) { return (rows + 1023) / 1024; }
// Tiles of 64 that cover n.
inline std::int64_t tiles_of(std::int64_t n) { return (n + 63) / 64; }

std::string constant(std::string_view name, std::int64_t value);
std::string flag(std::string_view name, bool value);
// `count` ints of an instruction, from `first` on, as a constant array.
std::string int_list(std::string_view name, const LoweredInstruction& ins, std::size_t first,
                     std::size_t count);
std::string weight_constants(const WeightArg& weight, bool bias);

}  // namespace loom::webgpu
