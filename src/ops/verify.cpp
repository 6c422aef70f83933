// The verifier: after it has passed, an executor may trust every operand, shape and attribute of a program.
#include <algorithm>
#include <string>

#include "base/bytes.h"
#include "ops/activation.h"
#include "ops/program.h"
#include "ops/rope.h"

namespace loom {
namespace {

constexpr std::int64_t kMaxCols = std::int64_t{1} << 31;
constexpr std::int64_t kMaxAttentionRows = std::int64_t{1} << 20;  // scratch grows with their square
constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 46;

class Verifier {
 public:
  explicit Verifier(const Program& program) : p_(program) {}

  Status run() {
    for (std::size_t i = 0; i < p_.buffers.size(); ++i) LOOM_TRY(buffer(i));
    written_.resize(p_.buffers.size());
    for (std::size_t n = 0; n < p_.code.size(); ++n) {
      at_ = n;
      LOOM_TRY(instruction(p_.code[n]));
    }
    return {};
  }

 private:
  Status error(const std::string& what) const {
    return Status(Code::corrupt, "program: instruction " + std::to_string(at_) + " (" + std::string(info(p_.code[at_].op).name) + "): " + what);
  }

  bool is_register(RegisterId id, RegisterType type) const {
    return id >= 0 && static_cast<std::size_t>(id) < p_.registers.size() && p_.registers[static_cast<std::size_t>(id)].type == type;
  }

  Status buffer(std::size_t i) {
    const Buffer& b = p_.buffers[i];
    auto bad = [i](const std::string& what) { return Status(Code::corrupt, "program: buffer " + std::to_string(i) + ": " + what); };
    for (RegisterId reg : {b.rows.a, b.rows.b})
      if (reg != kNone && !is_register(reg, RegisterType::u32)) return bad("its rows name register " + std::to_string(reg) + ", which is no u32 register");
    if (b.rows.constant < 1 || b.rows.constant > kMaxCols) return bad("row count " + std::to_string(b.rows.constant) + " is not in 1..2^31");
    if (b.cols < 1 || b.cols > kMaxCols) return bad("column count " + std::to_string(b.cols) + " is not in 1..2^31");
    std::uint64_t bytes = 8;
    std::int64_t factors[4] = {b.rows.constant, b.cols, 1, 1};
    if (b.rows.a != kNone) factors[2] = p_.registers[static_cast<std::size_t>(b.rows.a)].max;
    if (b.rows.b != kNone) factors[3] = p_.registers[static_cast<std::size_t>(b.rows.b)].max;
    for (std::int64_t f : factors) {
      const auto product = checked_mul(bytes, static_cast<std::uint64_t>(f));
      if (!product || *product > kMaxBytes) return bad("larger than 2^46 bytes");
      bytes = *product;
    }
    total_ += bytes;
    if (total_ > kMaxBytes) return bad("the program's buffers are larger than 2^46 bytes together");
    const bool parameter = b.kind == BufferKind::weight || b.kind == BufferKind::master;
    if (parameter && b.type != ValueType::f32 && b.type != ValueType::f64) return bad("a parameter is f32 or f64");
    if (parameter && (b.rows.a != kNone || b.rows.b != kNone)) return bad("a parameter's rows are constant");
    if (b.kind == BufferKind::constant) {
      if (b.constant.kind != ConstantKind::rope) return bad("a constant without a description");
      if (b.rows.a != kNone || b.rows.b != kNone) return bad("a constant's rows are constant");
      if (b.type != ValueType::f32 && b.type != ValueType::f64) return bad("a rope table is f32 or f64");
      LOOM_TRY(RopeSpec::from_reals(b.constant.reals).status());
    }
    return {};
  }

  const Buffer& of(const View& v) const { return p_.buffers[static_cast<std::size_t>(v.buffer)]; }

  Status instruction(const Instruction& ins) {
    const OpInfo& op = info(ins.op);
    // A run of some segments is one stretch of code.
    if (at_ > 0 && ins.segment < p_.code[at_ - 1].segment) return error("segments must stand in order: forward, loss, backward, update");
    for (std::size_t i = 0; i < op.operands.size(); ++i) {
      const View& v = ins.operands[i];
      const std::string what = "operand " + std::string(op.operands[i].name);
      if (!v.valid()) {
        if (op.operands[i].optional) continue;
        return error(what + " is missing");
      }
      if (v.buffer < 0 || static_cast<std::size_t>(v.buffer) >= p_.buffers.size()) return error(what + " names no buffer");
      const Buffer& b = of(v);
      if (v.col < 0 || v.cols < 1 || std::int64_t{v.col} + v.cols > b.cols) return error(what + " takes columns beyond its buffer's " + std::to_string(b.cols));
      if ((b.type == ValueType::q15 || b.type == ValueType::bf16x2 || b.kind == BufferKind::weight) && (v.col != 0 || v.cols != b.cols)) return error(what + ": packed values are not sliced");
      const bool writes = op.operands[i].role != Role::read;
      if (writes && (b.kind == BufferKind::input || b.kind == BufferKind::weight || b.kind == BufferKind::constant)) return error(what + " writes to " + std::string(name(b.kind)));
      const bool transient = b.kind == BufferKind::temp || b.kind == BufferKind::output;
      if (transient && op.operands[i].role == Role::read && !written_[static_cast<std::size_t>(v.buffer)]) return error(what + " is read before it is written");
    }
    for (std::size_t i = 0; i < op.operands.size(); ++i) {
      const View& v = ins.operands[i];
      if (!v.valid() || op.operands[i].role == Role::read) continue;
      written_[static_cast<std::size_t>(v.buffer)] = true;
      for (std::size_t j = 0; j < op.operands.size(); ++j) {
        const View& u = ins.operands[j];
        if (j == i || !u.valid() || u.buffer != v.buffer || u.col + u.cols <= v.col || v.col + v.cols <= u.col) continue;
        // The same element in the same place may be read and written by an elementwise op; any other overlap is refused.
        if (!(u == v && elementwise(ins.op) && op.operands[j].role == Role::read)) return error("operands " + std::string(op.operands[i].name) + " and " + std::string(op.operands[j].name) + " overlap");
      }
    }
    for (std::size_t i = 0; i < op.registers.size(); ++i) {
      const RegisterType type = ins.op == Op::grad_merge ? RegisterType::u32 : RegisterType::f32;
      if (!is_register(ins.registers[i], type)) return error("register " + std::string(op.registers[i]) + " is missing or of another type");
    }
    for (std::size_t i = 0; i < op.reals.size(); ++i)
      if (!(ins.reals[i] - ins.reals[i] == 0)) return error(std::string(op.reals[i]) + " is not finite");
    return shapes(ins);
  }

  static bool elementwise(Op op) {
    return op == Op::copy || op == Op::add || op == Op::scale || op == Op::activation || op == Op::activation_back || op == Op::silu_mul || op == Op::silu_mul_back;
  }

  // Shape rules, by family. `same` compares columns, `rows` row counts, `real` demands one float type for all operands named.
  Status shapes(const Instruction& ins) {
    const auto& o = ins.operands;
    auto require = [&](bool condition, const char* what) { return condition ? Status() : error(what); };
    auto type = [&](int i) { return of(o[i]).type; };
    auto real = [&](int i) { return type(i) == ValueType::f32 || type(i) == ValueType::f64; };
    auto one_type = [&](std::initializer_list<int> list) {
      return std::all_of(list.begin(), list.end(), [&](int i) { return real(i) && type(i) == type(*list.begin()); });
    };
    auto cols = [&](int i) { return std::int64_t{o[i].cols}; };
    auto rows_equal = [&](int i, int j) { return of(o[i]).rows == of(o[j]).rows; };
    auto vector_of = [&](int i, std::int64_t n) { return of(o[i]).rows == Rows{} && cols(i) == n; };
    // Indices come from the host, since the executor checks those and no op makes others.
    auto from_host = [&](int i) { return of(o[i]).kind == BufferKind::input && cols(i) == 1; };
    auto ids = [&](int i) { return type(i) == ValueType::u32 && from_host(i); };
    auto targets = [&](int i) { return type(i) == ValueType::i32 && from_host(i); };
    auto parameter_rows = [&](int i) { return of(o[i]).rows.a == kNone && of(o[i]).rows.b == kNone ? of(o[i]).rows.constant : -1; };
    // A KV state holds values of the type of operand `like`, or f32 values as q15.
    auto kv_state = [&](int i, int like) { return of(o[i]).kind == BufferKind::state && of(o[i]).role == "kv" && (type(i) == type(like) || (type(i) == ValueType::q15 && type(like) == ValueType::f32)) && parameter_rows(i) > 0 && parameter_rows(i) % 64 == 0; };

    switch (ins.op) {
      case Op::fill: return require(real(0), "y must be real");
      case Op::copy: case Op::scale:
        return require(one_type({0, 1}) && cols(0) == cols(1) && rows_equal(0, 1), "x and y differ in type or shape");
      case Op::convert: return require(real(0) && real(1) && cols(0) == cols(1) && rows_equal(0, 1), "x and y differ in shape");
      case Op::add:
        return require(one_type({0, 1, 2}) && cols(0) == cols(2) && cols(1) == cols(2) && rows_equal(0, 2) && rows_equal(1, 2), "a, b and y differ in type or shape");
      case Op::gather:
        return require(of(o[0]).kind == BufferKind::weight && ids(1) && real(2) && type(0) == type(2) && cols(0) == cols(2) && rows_equal(1, 2), "w [V,E], ids [R], y [R,E] do not agree");
      case Op::gather_rows: case Op::scatter_rows:
        return require(one_type({0, 2}) && ids(1) && cols(0) == cols(2) && rows_equal(1, ins.op == Op::gather_rows ? 2 : 0), "x, index and y do not agree");
      case Op::matmul: {
        LOOM_TRY(require(of(o[0]).kind == BufferKind::weight && real(3) && type(0) == type(3), "w must be a weight of y's type"));
        const ArithClass arith = product_class(of(o[0]).format);
        const ValueType want = type(3) == ValueType::f64 ? ValueType::f64 : arith == ArithClass::integer ? ValueType::q15 : arith == ArithClass::bfloat ? ValueType::bf16x2 : ValueType::f32;
        LOOM_TRY(require(type(1) == want, "x is not in the form the weight's arithmetic class multiplies"));
        LOOM_TRY(require(cols(1) == cols(0) && cols(3) == parameter_rows(0) && rows_equal(1, 3), "w [N,K], x [R,K], y [R,N] do not agree"));
        return require(!o[2].valid() || (type(2) == type(3) && vector_of(2, cols(3))), "bias must have N elements");
      }
      case Op::matmul_t:
        return require(of(o[0]).kind == BufferKind::weight && one_type({1, 2}) && type(0) == type(1) && cols(1) == parameter_rows(0) && cols(2) == cols(0) && rows_equal(1, 2), "w [N,K], gy [R,N], gx [R,K] do not agree");
      case Op::outer_add:
        return require(one_type({0, 1, 2}) && rows_equal(0, 1) && parameter_rows(2) == cols(0) && cols(2) == cols(1), "gy [R,N], x [R,K], gw [N,K] do not agree");
      case Op::col_sum: return require(one_type({0, 1}) && vector_of(1, cols(0)), "gb must have N elements");
      case Op::gather_add:
        return require(one_type({0, 2}) && ids(1) && rows_equal(0, 1) && parameter_rows(2) > 0 && cols(0) == cols(2), "gy [R,E], ids [R], gw [V,E] do not agree");
      case Op::activation:
        return require(one_type({0, 1}) && cols(0) == cols(1) && rows_equal(0, 1) && ins.ints[0] >= 0 && ins.ints[0] < kActivationCount, "unknown activation, or x and y differ");
      case Op::activation_back:
        return require(one_type({0, 1, 2}) && cols(0) == cols(1) && cols(1) == cols(2) && rows_equal(0, 1) && rows_equal(1, 2) && ins.ints[0] >= 0 && ins.ints[0] < kActivationCount, "unknown activation, or operands differ");
      case Op::silu_mul: return require(one_type({0, 1, 2}) && cols(0) == cols(1) && cols(1) == cols(2) && rows_equal(0, 2) && rows_equal(1, 2), "operands differ in shape");
      case Op::silu_mul_back:
        return require(one_type({0, 1, 2, 3, 4}) && cols(0) == cols(1) && cols(1) == cols(2) && cols(2) == cols(3) && cols(3) == cols(4) && rows_equal(0, 3) && rows_equal(1, 3) && rows_equal(2, 3) && rows_equal(3, 4), "operands differ in shape");
      case Op::rms_norm: case Op::layer_norm: {
        const int y = ins.op == Op::rms_norm ? 2 : 3;
        LOOM_TRY(require(group(ins, cols(0)), "group must divide the columns"));
        LOOM_TRY(require(ins.reals[0] > 0 && ins.reals[0] <= 1, "eps must be in (0, 1]"));
        LOOM_TRY(require(ins.op == Op::rms_norm || (type(2) == type(0) && vector_of(2, ins.ints[0])), "bias must have `group` elements"));
        return require(one_type({0, 1, y}) && vector_of(1, ins.ints[0]) && cols(0) == cols(y) && rows_equal(0, y), "x, gain and y do not agree");
      }
      case Op::rms_norm_back: case Op::layer_norm_back:
        LOOM_TRY(require(group(ins, cols(0)) && ins.reals[0] > 0, "group must divide the columns, eps be positive"));
        return require(one_type({0, 1, 2, 3}) && vector_of(1, ins.ints[0]) && cols(0) == cols(2) && cols(2) == cols(3) && rows_equal(0, 2) && rows_equal(2, 3), "operands do not agree");
      case Op::rms_norm_gain: case Op::layer_norm_gain:
        LOOM_TRY(require(group(ins, cols(0)) && ins.reals[0] > 0, "group must divide the columns, eps be positive"));
        return require(one_type({0, 1, 2}) && cols(0) == cols(1) && rows_equal(0, 1) && vector_of(2, ins.ints[0]), "operands do not agree");
      case Op::rope: {
        const std::int64_t hd = ins.ints[0];
        LOOM_TRY(require(hd >= 2 && hd % 2 == 0 && cols(0) % hd == 0, "head_dim must be even and divide the columns"));
        LOOM_TRY(require(of(o[2]).kind == BufferKind::constant && cols(2) == hd, "table must be a rope constant of head_dim columns"));
        return require(one_type({0, 2, 3}) && ids(1) && cols(0) == cols(3) && rows_equal(0, 3) && rows_equal(1, 0), "operands do not agree");
      }
      case Op::kv_append:
        return require(heads_ok(ins.ints[0], ins.ints[0], ins.ints[1]) && one_type({0, 1}) && ids(2) && ids(3) && cols(0) == ins.ints[0] * ins.ints[1] && cols(1) == cols(0) &&
                           rows_equal(0, 1) && rows_equal(2, 0) && rows_equal(3, 0) && kv_state(4, 0) && cols(4) == kv_columns(type(4), ins.ints[0], ins.ints[1]), "operands do not agree");
      case Op::attention:
        return require(heads_ok(ins.ints[0], ins.ints[1], ins.ints[2]) && ins.ints[3] >= 0 && one_type({0, 4}) && ids(2) && ids(3) && cols(0) == ins.ints[0] * ins.ints[2] && cols(4) == cols(0) &&
                           kv_state(1, 0) && cols(1) == kv_columns(type(1), ins.ints[1], ins.ints[2]) && (type(1) != ValueType::q15 || ins.ints[2] <= kMaxQ15HeadDim) && rows_equal(0, 4) && rows_equal(2, 0) && rows_equal(3, 0), "operands do not agree");
      case Op::attention_rows: case Op::attention_back: {
        LOOM_TRY(require(heads_ok(ins.ints[0], ins.ints[1], ins.ints[2]) && ins.ints[3] >= 0, "heads, kv_heads and head_dim do not agree"));
        const std::int64_t q = ins.ints[0] * ins.ints[2], kv = ins.ints[1] * ins.ints[2];
        LOOM_TRY(require(one_type({0, 1, 2, 4, 5}) && ids(3) && cols(0) == q && cols(1) == kv && cols(2) == kv && cols(4) == q && cols(5) == 2 * ins.ints[0], "operands do not agree"));
        for (int i = 1; i <= 5; ++i) LOOM_TRY(require(rows_equal(0, i), "operands differ in rows"));
        LOOM_TRY(require(p_.max_rows(o[0].buffer) <= kMaxAttentionRows, "more than 2^20 rows in one run"));
        if (ins.op == Op::attention_rows) return {};
        LOOM_TRY(require(type(6) == type(0) && cols(6) == q && rows_equal(0, 6), "gy does not agree"));
        return require(one_type({0, 7, 8, 9}) && cols(7) == q && cols(8) == kv && cols(9) == kv && rows_equal(0, 7) && rows_equal(0, 8) && rows_equal(0, 9), "gq, gk, gv do not agree");
      }
      case Op::cross_entropy: return require(one_type({0, 2}) && targets(1) && cols(2) == 1 && rows_equal(0, 1) && rows_equal(0, 2), "operands do not agree");
      case Op::cross_entropy_back: return require(one_type({0, 2}) && targets(1) && cols(2) == cols(0) && rows_equal(0, 1) && rows_equal(0, 2), "operands do not agree");
      case Op::mse: return require(one_type({0, 1, 2}) && cols(0) == cols(1) && cols(2) == 1 && rows_equal(0, 1) && rows_equal(0, 2), "operands do not agree");
      case Op::mse_back: return require(one_type({0, 1, 2}) && cols(0) == cols(1) && cols(2) == cols(0) && rows_equal(0, 1) && rows_equal(0, 2), "operands do not agree");
      case Op::sum_rows: return require(one_type({0, 1}) && cols(0) == 1 && vector_of(1, 1), "x must have one column, total one element");
      case Op::grad_merge:
        return require(ins.ints[0] >= 2 && ins.ints[0] <= (1 << 20) && p_.registers[static_cast<std::size_t>(ins.registers[0])].max < ins.ints[0] && one_type({0, 1, 2}) && cols(0) == cols(1) && cols(0) == cols(2) && parameter_rows(0) > 0 && rows_equal(0, 2) &&
                           parameter_rows(1) == merge_levels(ins.ints[0]) * parameter_rows(0), "micro must stay below micro_batches, levels hold ceil(log2(micro_batches)) copies of g, total one");
      case Op::sum_squares: return require(one_type({0, 1}) && vector_of(1, 1), "total must have one element");
      case Op::clip_scale: return require(real(1) && vector_of(1, 1) && (!o[0].valid() || (type(0) == type(1) && vector_of(0, 1))), "total and scale have one element");
      case Op::sgd:
        return require(one_type({0, 1, 2}) && vector_of(1, 1) && cols(0) == cols(2) && rows_equal(0, 2) && of(o[2]).kind == BufferKind::master &&
                           (!o[3].valid() || (type(3) == type(0) && cols(3) == cols(0) && rows_equal(0, 3))), "operands do not agree");
      case Op::adamw:
        return require(one_type({0, 1, 2, 3, 4}) && vector_of(1, 1) && of(o[2]).kind == BufferKind::master && cols(0) == cols(2) && cols(0) == cols(3) && cols(0) == cols(4) &&
                           rows_equal(0, 2) && rows_equal(0, 3) && rows_equal(0, 4), "operands do not agree");
      case Op::quantize: return require(type(0) == ValueType::f32 && type(1) == ValueType::q15 && cols(0) == cols(1) && rows_equal(0, 1), "x must be f32 and y q15 of one shape");
      case Op::split_bf16: return require(type(0) == ValueType::f32 && type(1) == ValueType::bf16x2 && cols(0) == cols(1) && rows_equal(0, 1), "x must be f32 and y bf16x2 of one shape");
      case Op::count_: break;
    }
    return error("unknown op");
  }

  static bool group(const Instruction& ins, std::int64_t cols) { return ins.ints[0] >= 1 && cols % ins.ints[0] == 0; }
  static bool heads_ok(std::int64_t heads, std::int64_t kv_heads, std::int64_t head_dim) {
    return heads >= 1 && heads <= 65536 && kv_heads >= 1 && heads % kv_heads == 0 && head_dim >= 1 && head_dim <= 65536;
  }

  const Program& p_;
  std::vector<bool> written_;
  std::uint64_t total_ = 0;
  std::size_t at_ = 0;
};

}  // namespace

Status verify(const Program& program) { return Verifier(program).run(); }

}  // namespace loom
