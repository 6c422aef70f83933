// What layers write a Program with: each call appends one instruction and returns the buffer it
// wrote. Temporaries take the type and rows of their sources. The calls of the ops stand in the
// families
// (<family>/<family>.def). Shapes are checked by verify() when emission has finished.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "ops/families.h"
#include "ops/program.h"

namespace loom {

enum class Accumulate : std::uint8_t { no = 0, yes = 1 };
using PairOfViews = std::pair<View, View>;

class ProgramBuilder {
 public:
  explicit ProgramBuilder(Program& program);

  Program& program() { return p_; }
  void set_segment(Segment segment) { segment_ = segment; }
  const Buffer& of(View v) const { return p_.buffers[static_cast<std::size_t>(v.buffer)]; }
  ValueType type(View v) const { return of(v).type; }
  Rows rows(View v) const { return of(v).rows; }

  RegisterId u32_register(std::string_view name, std::uint32_t max);
  RegisterId f32_register(std::string_view name);
  RegisterId dynamic_register(std::uint32_t max);

  View buffer(Buffer description);  // the general form of the five below
  View temp(ValueType type, Rows rows, std::int64_t cols);
  View input(std::string_view name, ValueType type, Rows rows, std::int64_t cols);
  View output(std::string_view name, ValueType type, Rows rows, std::int64_t cols);
  // A parameter of rows x cols; declared once per (path, role), `type` is the type it multiplies in
  // (f32 or f64).
  View weight(std::string_view path, std::string_view role, std::int64_t rows, std::int64_t cols,
              const WeightFormat& format, ValueType type);
  View state(std::string_view path, std::string_view role, ValueType type, Rows rows,
             std::int64_t cols);
  static View slice(View v, std::int64_t col, std::int64_t cols) {
    return {v.buffer, v.col + static_cast<std::int32_t>(col), static_cast<std::int32_t>(cols)};
  }

  ArithClass product_class_of(View w) const { return product_class(of(w).format); }
  // Products with weights of the dtype fp8e4m3 take values rounded to it, and in backward gradients
  // rounded to fp8e5m2 (Micikevicius et al., FP8 Formats for Deep Learning, arXiv 2209.05433).
  void round_products_to_fp8() { fp8_ = true; }
  // Products of class I take activations of 8 bits, not 15 (rule 5, one plane).
  void quantize_to_one_plane() { one_plane_ = true; }
  // The quantized forms made so far are not used again: what follows makes its own.
  void forget_packed() { packed_.clear(), rounded_.clear(), reshaped_.clear(); }

#define LOOM_CALL(result, name, parameters) result name parameters;
#include "ops/families.def"

  // The base of the families' calls. Appends one instruction; forms of its results are made anew.
  using Ints = std::initializer_list<std::int64_t>;
  using Reals = std::initializer_list<double>;
  using Registers = std::initializer_list<RegisterId>;
  void append(Op op, std::initializer_list<View> operands, Ints ints = {}, Reals reals = {},
              Registers registers = {});
  // A temporary of x's type and rows.
  View like(View x, std::int64_t cols) { return temp(type(x), rows(x), cols); }
  // A table as described: one of each serves all that use it.
  View constant(Buffer description);

 private:
  // The forms in which products read x: q15 or bf16x2 planes, and values rounded to fp8.
  View quantized(View x, ArithClass arith);
  bool in_fp8(View weight_or_gradient) const;
  View rounded(View x, Unary kind);
  void is_rounded(View x, Unary kind);

  void know(BufferId id);
  BufferId find_weight(std::string_view path, std::string_view role) const;

  Program& p_;
  std::map<std::string, BufferId, std::less<>> weights_,
      inputs_;  // by path, a zero and role; by name
  std::vector<BufferId> constants_;
  Segment segment_ = Segment::forward;
  // The result of a reshape -> its operand, and how often both had been written then.
  struct Reshaped {
    View from;
    std::uint32_t from_writes, writes;
  };
  std::uint32_t times_written(BufferId id) const {
    return static_cast<std::size_t>(id) < writes_.size() ? writes_[static_cast<std::size_t>(id)]
                                                         : 0;
  }
  std::map<BufferId, Reshaped> reshaped_;
  std::vector<std::uint32_t> writes_;  // instructions that write a buffer, so far
  std::map<std::pair<BufferId, std::int32_t>, View>
      packed_;  // (source, column) -> its q15 or bf16x2 form
  bool fp8_ = false, one_plane_ = false;
  std::map<std::tuple<BufferId, std::int32_t, std::int32_t, Unary>, View>
      rounded_;  // (source, column, columns, to what)
};

}  // namespace loom
