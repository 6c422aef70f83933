// The program machine: what layers emit and executors replay. A Program is portable, unfused and
// canonical: it can be printed, hashed, saved and verified, and holds no address, thread, target or
// weight value. See docs/reference/program.md.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/files/sha256.h"
#include "base/status.h"
#include "numeric/weight_format.h"
#include "ops/calls/custom_layer.h"
#include "ops/op.h"

namespace loom {

using BufferId = std::int32_t;
using RegisterId = std::int32_t;
inline constexpr std::int32_t kNone = -1;

enum class ValueType : std::uint8_t { f32 = 0, f64 = 1, i32 = 2, u32 = 3, q15 = 4, bf16x2 = 5 };
std::string_view name(ValueType type);

enum class BufferKind : std::uint8_t {
  input = 0,     // written by the host before a run
  output = 1,    // read by the host after a run
  weight = 2,    // a parameter in its packed form: read only
  master = 3,    // the same parameter's master values, row-major: optimizers modify it
  constant = 4,  // a table the executor makes from its description
  temp = 5,      // lives from first write to last read
  grad = 6,      // survives between the micro-batches of a step
  state = 7,     // belongs to the session and survives runs
};
std::string_view name(BufferKind kind);

// A row count: constant * a * b, where a and b are registers (or kNone), at most one of them
// measured.
struct Rows {
  std::int64_t constant = 1;
  RegisterId a = kNone, b = kNone;
  friend bool operator==(const Rows&, const Rows&) = default;
};

// What a constant buffer holds. Tables are computed by the executor with exact functions, so they
// are the same bits everywhere.
enum class ConstantKind : std::uint8_t {
  none = 0,
  rope = 1,
  gather_indices = 2,
  inverse_index = 3,
  steps = 4,
  alibi = 5,
  trees = 6
};
struct ConstantSpec {
  ConstantKind kind = ConstantKind::none;
  // rope: [positions, head_dim], per row cos of head_dim/2 angles, then sin. reals: theta, scaling
  // kind and its parameters (rope.h). places, uses (tensor_ops.h), i32: reals are the limit, then
  // the runs. steps: a column of u32, row i holds i mod T: where rows are the T steps of one row
  // after another (and `rows` a multiple of T, by registers or not). reals: T. alibi: a row of the
  // slopes of the heads (alibi.h). reals: the number of heads. trees: `words` as trees/trees.h
  // describes them, and reals: the numbers of trees, features and leaves.
  std::vector<double> reals;
  std::shared_ptr<const std::vector<std::uint32_t>> words{};  // of trees; all programs share them
  friend bool operator==(const ConstantSpec&, const ConstantSpec&) = default;
};

struct Buffer {
  ValueType type = ValueType::f32;
  BufferKind kind = BufferKind::temp;
  Rows rows;
  std::int64_t cols = 0;
  std::string
      path;  // weight, master, grad, state: the node's path in the grid; input, output: empty
  std::string role;     // "weight", "gain", "kv"; for inputs and outputs their name
  WeightFormat format;  // weight: how it is packed
  ConstantSpec constant;
};

enum class RegisterType : std::uint8_t {
  u32 = 0,
  f32 = 1,
  dynamic_rows = 2,  // a row count that one instruction (route_rows) finds in the run; only
                     // temporaries have such rows
};
struct Register {
  std::string name;
  RegisterType type = RegisterType::u32;
  std::uint32_t max = 0;  // the largest value a run may set or measure; none of f32
};

// T of a constant of steps; 0: it is none.
inline std::int64_t steps_of(const Buffer& b) {
  return b.kind == BufferKind::constant && b.constant.kind == ConstantKind::steps
             ? static_cast<std::int64_t>(b.constant.reals[0])
             : 0;
}

// An operand: a buffer or a column slice of it (elements [col, col + cols) of each row).
struct View {
  BufferId buffer = kNone;
  std::int32_t col = 0;
  std::int32_t cols = 0;
  bool valid() const { return buffer != kNone; }
  friend bool operator==(const View&, const View&) = default;
};

enum class Role : std::uint8_t { read, write, modify };

struct OperandInfo {
  std::string_view name;
  Role role;
  bool optional;
  // Of indices that a host writes, what they must stay below: the rows of another operand, by its
  // name; "positions" or "sequences" of the session; "classes", the columns of the first operand,
  // where values below 0 leave their row out. Empty: of no limit.
  std::string_view below;
};
struct OpInfo {
  Op op;
  std::string_view name;
  std::vector<OperandInfo> operands;
  std::vector<std::string_view> ints, reals, registers;  // attribute names, in order
  std::vector<RegisterType> register_types;
};
const OpInfo& info(Op op);

inline constexpr int kMaxOperands = 12;
inline constexpr int kMaxInts = 24;
inline constexpr int kMaxReals = 5;
inline constexpr int kMaxRegisters = 5;

enum class Segment : std::uint8_t { forward = 0, loss = 1, backward = 2, update = 3 };
std::string_view name(Segment segment);

struct Instruction {
  Op op = Op::fill;
  Segment segment = Segment::forward;
  std::array<View, kMaxOperands> operands{};
  std::array<std::int64_t, kMaxInts> ints{};
  std::array<double, kMaxReals> reals{};
  std::array<RegisterId, kMaxRegisters> registers{kNone, kNone, kNone, kNone, kNone};
};

// Buffers and registers, and the rows that follow from them.
struct ProgramFrame {
  std::vector<Buffer> buffers;
  std::vector<Register> registers;
  std::vector<Call> calls;  // of registered layers

  BufferId find(BufferKind kind, std::string_view path, std::string_view role) const;
  RegisterId find_register(std::string_view name) const;
  // Rows of a buffer when the u32 registers hold these values.
  std::int64_t rows(BufferId id, std::span<const std::uint32_t> registers) const;
  std::int64_t max_rows(BufferId id) const;
  // The register of dynamic rows of a buffer's rows, or kNone.
  RegisterId dynamic_rows(BufferId id) const;
};

struct Program : ProgramFrame {
  std::vector<Instruction> code;

  // One line per buffer, register and instruction.
  std::string to_text() const;
  // Canonical bytes, little-endian: what is saved and hashed (with the numerics version).
  std::string encode() const;
  static Result<Program> decode(std::string_view bytes);
  Sha256::Digest hash() const;
};

// How a product with weights of this format is computed in f32. bf16 and fp8 with a scale per block
// are decoded to f32 and multiply as class F.
ArithClass product_class(const WeightFormat& format);

// The KV state of an attention: a row per position. Cells of classes F and D keep keys and values
// as they are; the others (q15) keep 16 bits a value, head_dim padded to 16, and two scales per KV
// head, counted in columns of 16 bits.
constexpr std::int64_t kMaxQ15HeadDim =
    1024;  // up to here every sum of a plane product is exact in f32
constexpr std::int64_t kv_columns(ValueType type, std::int64_t kv_heads, std::int64_t head_dim) {
  return type == ValueType::q15 ? kv_heads * (2 * ((head_dim + 15) / 16 * 16) + 4)
                                : 2 * kv_heads * head_dim;
}

// Pending sums that grad_merge keeps for this many micro-batches: ceil(log2(n)).
std::int64_t merge_levels(std::int64_t micro_batches);

// Checks everything an executor relies on, for all register values up to their maxima: operand
// kinds, types and shapes, definition before use, attributes, overlapping operands, total size. A
// loaded program is untrusted input.
Status verify(const Program& program);

// Removes instructions whose results nobody reads.
void remove_dead_code(Program& program);

}  // namespace loom
