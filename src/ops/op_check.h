// What a family's shape rule sees of an instruction. Operands are numbered as the row lists them.
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "ops/op_row.h"

namespace loom {

constexpr std::int64_t kMaxCols = std::int64_t{1} << 31;
constexpr std::int64_t kMaxIdsOfValues = std::int64_t{1}
                                         << 24;  // f32 has all whole numbers up to it
constexpr std::int64_t kMaxAttentionRows = std::int64_t{1}
                                           << 20;  // scratch grows with their square

// What the verifier knows of the instructions before.
struct CheckedSoFar {
  std::vector<bool> written, dynamic_rows;  // buffers; registers
  std::vector<BufferId> routed;             // of places: 1 + the share they were made of
  std::vector<std::int64_t> ids;            // of ids made of values: their count
  std::vector<CallPlan> calls;              // of the program's calls
  bool filled = true;                       // what the instruction modifies was written before
};

class OpCheck {
 public:
  OpCheck(const Program& program, const Instruction& instruction, CheckedSoFar& before)
      : program(program), ins(instruction), before_(before) {}

  const Program& program;
  const Instruction& ins;

  // Rules return what this does; the first condition that fails is the error.
  bool require(bool condition, const char* what) {
    if (!condition) error_ = what;
    return condition;
  }
  const char* error() const { return error_; }

  bool has(int i) const { return view(i).valid(); }
  const View& view(int i) const { return ins.operands[static_cast<std::size_t>(i)]; }
  const Buffer& of(int i) const {
    return program.buffers[static_cast<std::size_t>(view(i).buffer)];
  }
  int count() const { return static_cast<int>(info(ins.op).operands.size()); }
  std::int64_t integer(int i) const { return ins.ints[static_cast<std::size_t>(i)]; }
  double number(int i) const { return ins.reals[static_cast<std::size_t>(i)]; }

  ValueType type(int i) const { return of(i).type; }
  std::int64_t cols(int i) const { return view(i).cols; }
  bool real(int i) const { return type(i) == ValueType::f32 || type(i) == ValueType::f64; }
  // All of one float type.
  bool one_type(std::initializer_list<int> list) const;
  bool rows_equal(int i, int j) const { return of(i).rows == of(j).rows; }
  // Of one float type and shape.
  bool alike(std::initializer_list<int> list) const;
  bool vector_of(int i, std::int64_t n) const { return of(i).rows == Rows{} && cols(i) == n; }
  bool is(int i, BufferKind kind) const { return of(i).kind == kind; }
  // Rows of a parameter, -1 where they are no constant.
  std::int64_t constant_rows(int i) const;
  // Indices: the executor checks those that come from the host; others are places that route_rows
  // made of rows like those of operand `of_rows`.
  bool from_host(int i) const { return is(i, BufferKind::input) && cols(i) == 1; }
  bool ids(int i) const { return type(i) == ValueType::u32 && from_host(i); }
  // Positions: of the host, or steps.
  bool positions(int i) const { return ids(i) || steps_of(of(i)) > 0; }
  // Rows of operand `of_rows`, a parameter: indices of the host, or steps or ids that it has.
  bool indices(int i, int of_rows) const {
    const std::int64_t steps = steps_of(of(i));
    const std::int64_t max =
        steps > 0 ? steps : before_.ids[static_cast<std::size_t>(view(i).buffer)];
    return ids(i) || (max > 0 && max <= constant_rows(of_rows));
  }
  // Operand i holds ids in [0, count) from here on.
  void makes_ids(int i, std::int64_t count);
  bool targets(int i) const { return type(i) == ValueType::i32 && from_host(i); }
  bool routed(int i, int of_rows) const;
  // A KV state holds values of the type of operand `like`, or f32 values as q15.
  bool kv_state(int i, int like) const;
  // Int 0 is a number of columns that divides those of operand 0.
  bool groups() const { return integer(0) >= 1 && cols(0) % integer(0) == 0; }
  bool kind_below(std::int64_t count) const { return integer(0) >= 0 && integer(0) < count; }
  bool filled() const { return before_.filled; }
  // What the layer of a call plans; null where the program has no call of this number.
  const CallPlan* call_plan(std::int64_t call) const {
    const bool known = call >= 0 && static_cast<std::size_t>(call) < before_.calls.size();
    return known ? &before_.calls[static_cast<std::size_t>(call)] : nullptr;
  }
  // A count that this instruction measures, and the places it writes, made of operand `share`.
  bool measures(int places, int share);

 private:
  CheckedSoFar& before_;
  const char* error_ = "";
};

}  // namespace loom
