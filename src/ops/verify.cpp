// The verifier: after it has passed, an executor may trust every operand, shape and attribute of a program.
#include <algorithm>
#include <string>

#include "base/files/bytes.h"
#include "ops/activation.h"
#include "ops/program.h"
#include "ops/rope.h"
#include "ops/softmax.h"
#include "ops/tensor_ops.h"
#include "ops/window.h"

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
    routed_.resize(p_.buffers.size());
    measured_.resize(p_.registers.size());
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
    int measured = 0;
    for (RegisterId reg : {b.rows.a, b.rows.b}) {
      if (reg == kNone || is_register(reg, RegisterType::u32)) continue;
      if (!is_register(reg, RegisterType::measured)) return bad("its rows name register " + std::to_string(reg) + ", which is no row count");
      if (b.kind != BufferKind::temp || ++measured > 1) return bad("measured rows are those of a temporary, of one measured register");
    }
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
      if (b.rows.a != kNone || b.rows.b != kNone) return bad("a constant's rows are constant");
      if (b.constant.kind == ConstantKind::places || b.constant.kind == ConstantKind::uses) return places(b, bad);
      if (b.constant.kind != ConstantKind::rope) return bad("a constant without a description");
      if (b.type != ValueType::f32 && b.type != ValueType::f64) return bad("a rope table is f32 or f64");
      LOOM_TRY(RopeSpec::from_reals(b.constant.reals).status());
    }
    return {};
  }

  // A list of places: one row, as long as its description says.
  template <class Bad>
  static Status places(const Buffer& b, Bad bad) {
    const std::vector<double>& r = b.constant.reals;
    if (b.type != ValueType::i32 || b.rows != Rows{}) return bad("a list of places is one row of i32");
    if (r.empty() || !(r[0] >= 1 && r[0] <= 2147483647.0) || static_cast<double>(static_cast<std::int64_t>(r[0])) != r[0]) return bad("a list of places without its limit");
    const auto limit = static_cast<std::int64_t>(r[0]);
    const auto list = Places::list(std::span(r).subspan(1), limit);
    if (!list.ok()) return bad(list.status().message());
    const auto count = static_cast<std::int64_t>(list->size());
    if (b.cols != (b.constant.kind == ConstantKind::uses ? limit + 1 + count : count)) return bad("a list of " + std::to_string(count) + " places in " + std::to_string(b.cols) + " columns");
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
      // Rows are measured before they are used, but for what is written with the measure.
      const RegisterId count = p_.measured(v.buffer);
      if (count != kNone && !measured_[static_cast<std::size_t>(count)] && !(ins.op == Op::route_rows && i == 1)) return error(what + " has rows that are not measured yet");
      const bool transient = b.kind == BufferKind::temp || b.kind == BufferKind::output;
      if (transient && op.operands[i].role == Role::read && !written_[static_cast<std::size_t>(v.buffer)]) return error(what + " is read before it is written");
    }
    filled_ = true;
    for (std::size_t i = 0; i < op.operands.size(); ++i) {
      const View& v = ins.operands[i];
      if (!v.valid() || op.operands[i].role == Role::read) continue;
      if (op.operands[i].role == Role::modify) filled_ = written_[static_cast<std::size_t>(v.buffer)];
      written_[static_cast<std::size_t>(v.buffer)] = true;
      for (std::size_t j = 0; j < op.operands.size(); ++j) {
        const View& u = ins.operands[j];
        if (j == i || !u.valid() || u.buffer != v.buffer || u.col + u.cols <= v.col || v.col + v.cols <= u.col) continue;
        // The same element in the same place may be read and written by an elementwise op; any other overlap is refused.
        if (!(u == v && elementwise(ins.op) && op.operands[j].role == Role::read)) return error("operands " + std::string(op.operands[i].name) + " and " + std::string(op.operands[j].name) + " overlap");
      }
    }
    for (std::size_t i = 0; i < op.registers.size(); ++i) {
      const RegisterType type = ins.op == Op::route_rows ? RegisterType::measured : ins.op == Op::grad_merge || ins.op == Op::dropout || ins.op == Op::gumbel ? RegisterType::u32 : RegisterType::f32;
      if (!is_register(ins.registers[i], type)) return error("register " + std::string(op.registers[i]) + " is missing or of another type");
    }
    for (std::size_t i = 0; i < op.reals.size(); ++i)
      if (!(ins.reals[i] - ins.reals[i] == 0)) return error(std::string(op.reals[i]) + " is not finite");
    return shapes(ins);
  }

  static bool elementwise(Op op) {
    return op == Op::copy || op == Op::add || op == Op::mul || op == Op::scale || op == Op::activation || op == Op::activation_back || op == Op::silu_mul || op == Op::silu_mul_back;
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
    // Indices come from the host, since the executor checks those, or are places that route_rows has made of rows like those of operand `of_rows`.
    auto from_host = [&](int i) { return of(o[i]).kind == BufferKind::input && cols(i) == 1; };
    auto ids = [&](int i) { return type(i) == ValueType::u32 && from_host(i); };
    auto routed = [&](int i, int of_rows) {
      const BufferId share = routed_[static_cast<std::size_t>(o[i].buffer)];
      return share > 0 && of(o[of_rows]).rows == p_.buffers[static_cast<std::size_t>(share - 1)].rows;
    };
    auto targets = [&](int i) { return type(i) == ValueType::i32 && from_host(i); };
    auto parameter_rows = [&](int i) { return of(o[i]).rows.a == kNone && of(o[i]).rows.b == kNone ? of(o[i]).rows.constant : -1; };
    // A KV state holds values of the type of operand `like`, or f32 values as q15.
    auto kv_state = [&](int i, int like) { return of(o[i]).kind == BufferKind::state && of(o[i]).role == "kv" && (type(i) == type(like) || (type(i) == ValueType::q15 && type(like) == ValueType::f32)) && parameter_rows(i) > 0 && parameter_rows(i) % 64 == 0; };

    switch (ins.op) {
      case Op::fill: return require(real(0), "y must be real");
      case Op::copy: case Op::scale:
        return require(one_type({0, 1}) && cols(0) == cols(1) && rows_equal(0, 1), "x and y differ in type or shape");
      case Op::convert: return require(real(0) && real(1) && cols(0) == cols(1) && rows_equal(0, 1), "x and y differ in shape");
      case Op::add: case Op::mul:
        return require(one_type({0, 1, 2}) && cols(0) == cols(2) && cols(1) == cols(2) && rows_equal(0, 2) && rows_equal(1, 2), "a, b and y differ in type or shape");
      case Op::gather:
        return require(of(o[0]).kind == BufferKind::weight && ids(1) && real(2) && type(0) == type(2) && cols(0) == cols(2) && rows_equal(1, 2), "w [V,E], ids [R], y [R,E] do not agree");
      case Op::gather_rows: case Op::scatter_rows:
        return require(one_type({0, 2}) && (ids(1) || routed(1, ins.op == Op::gather_rows ? 0 : 2)) && cols(0) == cols(2) && rows_equal(1, ins.op == Op::gather_rows ? 2 : 0), "x, index and y do not agree");
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
      case Op::standardize:
        return require(one_type({0, 1, 2, 3}) && vector_of(1, cols(0)) && vector_of(2, cols(0)) && cols(0) == cols(3) && rows_equal(0, 3), "operands do not agree");
      case Op::standardize_back:
        return require(one_type({0, 1, 2, 3}) && vector_of(1, cols(0)) && cols(0) == cols(2) && cols(0) == cols(3) && rows_equal(0, 2) && rows_equal(0, 3), "operands do not agree");
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
      case Op::huber: case Op::huber_back:
        LOOM_TRY(require(ins.reals[0] >= 0x1p-20 && ins.reals[0] <= 0x1p40, "delta must be in 2^-20..2^40"));
        [[fallthrough]];
      case Op::mae: case Op::mae_back: case Op::bce: case Op::bce_back: {
        const bool back = ins.op == Op::mae_back || ins.op == Op::huber_back || ins.op == Op::bce_back;
        return require(one_type({0, 1, 2}) && cols(0) == cols(1) && cols(2) == (back ? cols(0) : 1) && rows_equal(0, 1) && rows_equal(0, 2), "operands do not agree");
      }
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
      case Op::sgd_nesterov: case Op::rmsprop: case Op::lion: {
        for (std::size_t i = 3; i < info(ins.op).operands.size(); ++i)
          if (o[i].valid()) LOOM_TRY(require(type(static_cast<int>(i)) == type(0) && cols(static_cast<int>(i)) == cols(0) && rows_equal(0, static_cast<int>(i)), "moments have the shape of w"));
        LOOM_TRY(require(ins.op != Op::rmsprop || ins.reals[1] > 0, "eps must be positive"));
        return require(one_type({0, 1, 2}) && vector_of(1, 1) && cols(0) == cols(2) && rows_equal(0, 2) && of(o[2]).kind == BufferKind::master, "operands do not agree");
      }
      case Op::adamw:
        return require(one_type({0, 1, 2, 3, 4}) && vector_of(1, 1) && of(o[2]).kind == BufferKind::master && cols(0) == cols(2) && cols(0) == cols(3) && cols(0) == cols(4) &&
                           rows_equal(0, 2) && rows_equal(0, 3) && rows_equal(0, 4), "operands do not agree");
      case Op::quantize: return require(type(0) == ValueType::f32 && type(1) == ValueType::q15 && cols(0) == cols(1) && rows_equal(0, 1), "x must be f32 and y q15 of one shape");
      case Op::split_bf16: return require(type(0) == ValueType::f32 && type(1) == ValueType::bf16x2 && cols(0) == cols(1) && rows_equal(0, 1), "x must be f32 and y bf16x2 of one shape");
      case Op::reorder: {
        std::int64_t block = 1;
        unsigned seen = 0;
        for (int d = 0; d < 5; ++d) {
          LOOM_TRY(require(ins.ints[static_cast<std::size_t>(d)] >= 1 && ins.ints[static_cast<std::size_t>(d)] <= kMaxCols / block, "sizes must be at least 1, a block at most 2^31"));
          block *= ins.ints[static_cast<std::size_t>(d)];
          seen |= 1u << (ins.ints[5] >> 4 * d & 15);
        }
        LOOM_TRY(require(ins.ints[5] >= 0 && ins.ints[5] < 1 << 20 && seen == 31, "order must name each of five dimensions once"));
        const Rows x = of(o[0]).rows, y = of(o[1]).rows;
        // Both below 2^62: rows and columns are at most 2^31.
        return require(one_type({0, 1}) && x.a == y.a && x.b == y.b && x.constant * cols(0) == y.constant * cols(1) && x.constant * cols(0) % block == 0, "x and y must hold the same number of values, in whole blocks");
      }
      case Op::unfold: case Op::fold: {
        const Window w = Window::from_ints(ins.ints);
        LOOM_TRY(require(w.valid() && w.positions() <= kMaxCols && w.taps() <= kMaxCols, "the window's sizes are out of range or do not agree"));
        const int whole = ins.op == Op::unfold ? 0 : 1, cut = 1 - whole;
        const Rows a = of(o[whole]).rows, b = of(o[cut]).rows;
        return require(one_type({0, 1}) && cols(whole) == w.values() && cols(cut) == w.taps() && a.a == b.a && a.b == b.b && b.constant == a.constant * w.positions(), "rows are items of channels x inputs on one side, places of channels x taps on the other");
      }
      case Op::max_pool: case Op::max_pool_back: case Op::avg_pool: case Op::avg_pool_back: {
        const Window w = Window::from_ints(ins.ints);
        LOOM_TRY(require(w.valid(), "the window's sizes are out of range or do not agree"));
        const std::int64_t in = w.values(), out = w.channels * w.positions();
        if (ins.op == Op::max_pool_back) return require(one_type({0, 1, 2}) && cols(0) == in && cols(1) == out && cols(2) == in && rows_equal(0, 1) && rows_equal(0, 2), "operands do not agree with the window");
        return require(one_type({0, 1}) && cols(0) == (ins.op == Op::avg_pool_back ? out : in) && cols(1) == (ins.op == Op::avg_pool_back ? in : out) && rows_equal(0, 1), "operands do not agree with the window");
      }
      case Op::group_matmul: case Op::group_matmul_t: {
        const std::int64_t groups = ins.ints[0], n = parameter_rows(0);
        const int x = ins.op == Op::group_matmul ? 1 : 2, y = ins.op == Op::group_matmul ? 3 : 1;
        LOOM_TRY(require(of(o[0]).kind == BufferKind::weight && one_type({x, y}) && type(0) == type(y) && groups >= 1 && groups <= kMaxCols && n % groups == 0, "groups must divide the rows of w, a weight of y's type"));
        LOOM_TRY(require(cols(x) == groups * cols(0) && cols(y) == n && rows_equal(x, y), "w [N,K], x [R, groups x K], y [R,N] do not agree"));
        return require(ins.op == Op::group_matmul_t || !o[2].valid() || (type(2) == type(y) && vector_of(2, n)), "bias must have N elements");
      }
      case Op::group_outer_add: {
        const std::int64_t groups = ins.ints[0], n = parameter_rows(2);
        return require(one_type({0, 1, 2}) && groups >= 1 && groups <= kMaxCols && n > 0 && n % groups == 0 && rows_equal(0, 1) && n == cols(0) && cols(1) == groups * cols(2), "gy [R,N], x [R, groups x K], gw [N,K] do not agree");
      }
      case Op::channel_affine: {
        LOOM_TRY(require(one_type({0, 3}) && cols(0) == cols(3) && rows_equal(0, 3) && group(ins, cols(0)), "x and y differ in type or shape, or inner does not divide their columns"));
        const std::int64_t channels = cols(0) / ins.ints[0];
        for (const int i : {1, 2}) LOOM_TRY(require(!o[i].valid() || (type(i) == type(0) && vector_of(i, channels)), "gain and bias must have an element per channel"));
        return {};
      }
      case Op::unary: case Op::unary_back: {
        const int y = ins.op == Op::unary ? 1 : 2;
        LOOM_TRY(require(ins.ints[0] >= 0 && ins.ints[0] < static_cast<int>(Unary::count_), "unknown kind"));
        for (int i = 1; i <= y; ++i) LOOM_TRY(require(one_type({0, i}) && cols(0) == cols(i) && rows_equal(0, i), "operands differ in type or shape"));
        return {};
      }
      case Op::binary: case Op::binary_back: {
        LOOM_TRY(require(ins.ints[0] >= 0 && ins.ints[0] < static_cast<int>(Binary::count_), "unknown kind"));
        LOOM_TRY(require(one_type({0, 1, 2}), "operands differ in type"));
        std::int64_t count = 1, last[2] = {0, 0};
        for (std::size_t d = 0; d < 5; ++d) {
          const std::int64_t size = ins.ints[1 + d];
          LOOM_TRY(require(size >= 1 && size <= kMaxCols / count, "sizes must be at least 1, their product at most 2^31"));
          count *= size;
          for (std::size_t i = 0; i < 2; ++i) {
            const std::int64_t step = ins.ints[6 + 5 * i + d];
            LOOM_TRY(require(step >= 0 && step <= kMaxCols, "steps must be 0 to 2^31"));
            last[i] += (size - 1) * step;  // five terms below 2^62: too large is seen below, before a sum wraps
            LOOM_TRY(require(last[i] < cols(static_cast<int>(i)), "steps lead out of an operand's row"));
          }
        }
        for (const int i : {0, 1}) LOOM_TRY(require(rows_equal(i, 2) || of(o[i]).rows == Rows{}, "operands have y's rows or one"));
        LOOM_TRY(require(cols(2) == count, "y must have the product of the sizes as columns"));
        if (ins.op == Op::binary) return {};
        return require(one_type({0, 3, 4}) && cols(3) == count && cols(4) == count && rows_equal(2, 3) && rows_equal(2, 4), "ga and gb must have the shape of gy");
      }
      case Op::reduce: case Op::reduce_back: {
        LOOM_TRY(require(ins.ints[0] >= 0 && ins.ints[0] < static_cast<int>(Reduce::count_) && ins.ints[1] >= 1 && cols(0) % ins.ints[1] == 0, "unknown kind, or n does not divide the columns"));
        LOOM_TRY(require(one_type({0, 1}) && cols(1) == cols(0) / ins.ints[1] && rows_equal(0, 1), "x and y do not agree"));
        if (ins.op == Op::reduce) return {};
        return require(one_type({0, 2, 3}) && cols(2) == cols(1) && cols(3) == cols(0) && rows_equal(0, 2) && rows_equal(0, 3), "gy and gx do not agree with y and x");
      }
      case Op::pick: case Op::pick_back: {
        const int x = ins.op == Op::pick ? 0 : 2, y = 2 - x;
        const Buffer& list = of(o[1]);
        LOOM_TRY(require(list.kind == BufferKind::constant && list.constant.kind == (ins.op == Op::pick ? ConstantKind::places : ConstantKind::uses) && o[1].col == 0 && cols(1) == list.cols, "places must be a whole list"));
        const std::int64_t limit = static_cast<std::int64_t>(list.constant.reals[0]), count = ins.op == Op::pick ? list.cols : list.cols - limit - 1;
        return require(one_type({0, 2}) && rows_equal(0, 2) && cols(x) == limit && cols(y) == count, "the list's limit and length are the columns of both sides");
      }
      case Op::select:
        return require(one_type({0, 1, 2, 3}) && cols(0) == cols(1) && cols(1) == cols(2) && cols(2) == cols(3) && rows_equal(0, 3) && rows_equal(1, 3) && rows_equal(2, 3), "operands differ in type or shape");
      case Op::value_matmul: {
        std::int64_t last[2] = {0, 0};
        for (std::size_t i = 0; i < 13; ++i) LOOM_TRY(require(ins.ints[i] >= (i < 5 ? 1 : 0) && ins.ints[i] <= kMaxCols, "sizes must be at least 1, steps at least 0, all at most 2^31"));
        const std::int64_t sizes[2][4] = {{ins.ints[0], ins.ints[1], ins.ints[2], ins.ints[4]}, {ins.ints[0], ins.ints[1], ins.ints[4], ins.ints[3]}};
        for (std::size_t i = 0; i < 2; ++i)
          for (std::size_t d = 0; d < 4; ++d) {
            last[i] += (sizes[i][d] - 1) * ins.ints[5 + 4 * i + d];
            LOOM_TRY(require(last[i] < cols(static_cast<int>(i)), "steps lead out of an operand's row"));
          }
        std::int64_t count = 1;
        for (std::size_t i = 0; i < 4; ++i) {
          LOOM_TRY(require(ins.ints[i] <= kMaxCols / count, "more than 2^31 results in a row"));
          count *= ins.ints[i];
        }
        return require(one_type({0, 1, 2}) && rows_equal(0, 2) && rows_equal(1, 2) && cols(2) == count, "y must have outer x inner x m x n columns");
      }
      case Op::lstm_cell: case Op::lstm_cell_back: case Op::gru_cell: case Op::gru_cell_back: {
        const bool lstm = ins.op == Op::lstm_cell || ins.op == Op::lstm_cell_back;
        const std::int64_t units = cols(2), gates = lstm ? 4 : 3;
        for (int i = 0; i < static_cast<int>(info(ins.op).operands.size()); ++i) {
          if (!o[i].valid()) continue;
          const bool sums = i < 2 || (ins.op == Op::lstm_cell_back && i == 6) || (ins.op == Op::gru_cell_back && (i == 4 || i == 5));
          LOOM_TRY(require(one_type({0, i}) && rows_equal(0, i) && cols(i) == (sums ? gates * units : units), "states and their gates differ in type or shape"));
        }
        return {};
      }
      case Op::state_read:
        return require(one_type({0, 3}) && of(o[0]).kind == BufferKind::state && parameter_rows(0) > 0 && ids(1) && ids(2) && cols(0) == cols(3) && rows_equal(1, 3) && rows_equal(2, 3), "state, seq, pos and y do not agree");
      case Op::state_write:
        return require(one_type({0, 2}) && of(o[2]).kind == BufferKind::state && parameter_rows(2) > 0 && ids(1) && cols(0) == cols(2) && rows_equal(0, 1), "x, seq and state do not agree");
      case Op::channel_moments:
        return require(one_type({0, 1}) && group(ins, cols(0)) && vector_of(1, 3 * (cols(0) / ins.ints[0])), "inner must divide the columns, y have three values a channel");
      case Op::channel_sums:
        return require(one_type({0, 1, 2}) && group(ins, cols(0)) && cols(0) == cols(1) && rows_equal(0, 1) && vector_of(2, 4 * (cols(0) / ins.ints[0])), "inner must divide the columns of g and x, y have four values a channel");
      case Op::fold_norm:
        LOOM_TRY(require(ins.reals[0] > 0 && ins.reals[0] <= 1, "eps must be in (0, 1]"));
        for (const int i : {0, 1, 2, 3, 4, 5}) LOOM_TRY(require(!o[i].valid() || (one_type({0, i}) && vector_of(i, cols(0))), "operands must have an element per channel"));
        return {};
      case Op::moving_average: return require(one_type({0, 1}) && vector_of(0, cols(0)) && vector_of(1, cols(0)) && of(o[1]).kind == BufferKind::master, "value and w must be vectors of one size");
      case Op::softmax: case Op::softmax_back: {
        const bool back = ins.op == Op::softmax_back;
        LOOM_TRY(require(ins.ints[0] >= 0 && ins.ints[0] < static_cast<int>(Simplex::count_) && !(back && ins.ints[0] == static_cast<int>(Simplex::hardmax)), "unknown kind, or one without a gradient"));
        LOOM_TRY(require(ins.ints[1] >= 1 && cols(0) % ins.ints[1] == 0 && ins.reals[0] > 1 && ins.reals[0] <= 8, "group must divide the columns, alpha be in (1, 8]"));
        for (const int i : {1, back ? 2 : 1}) LOOM_TRY(require(one_type({0, i}) && cols(0) == cols(i) && rows_equal(0, i), "operands differ in type or shape"));
        return {};
      }
      case Op::distances: case Op::distances_back: case Op::distances_weight: {
        const std::int64_t n = parameter_rows(0);
        LOOM_TRY(require(of(o[0]).kind == BufferKind::weight && one_type({1, 2}) && type(0) == type(1) && cols(1) == cols(0) && cols(2) == n && rows_equal(1, 2), "w [N,K], x [R,K] and their distances [R,N] do not agree"));
        if (ins.op == Op::distances) return {};
        return require(one_type({1, 3}) && cols(3) == cols(1) && (ins.op == Op::distances_back ? rows_equal(1, 3) : parameter_rows(3) == n), "the gradient must have the shape of what it is of");
      }
      case Op::dropout: case Op::gumbel:
        for (std::size_t i = 0; i < 4; ++i) LOOM_TRY(require(ins.ints[i] >= 0 && ins.ints[i] <= UINT32_MAX, "seed and stream are words"));
        return require(one_type({0, 1}) && cols(0) == cols(1) && rows_equal(0, 1) && ins.ints[4] >= 0 && ins.ints[4] <= 1 << 24, "x and y differ in type or shape, or drop is above 2^24");
      case Op::top_k: return require(one_type({0, 1}) && cols(0) == cols(1) && rows_equal(0, 1) && ins.ints[0] >= 1 && ins.ints[0] <= cols(0), "x and y differ in type or shape, or k is not 1 to their columns");
      case Op::route_rows: {
        const auto count = static_cast<std::size_t>(ins.registers[0]);
        LOOM_TRY(require(real(0) && cols(0) == 1, "share must be a column of real values"));
        LOOM_TRY(require(!measured_[count] && p_.registers[count].max >= p_.max_rows(o[0].buffer), "count must be measured once, its maximum hold all rows of share"));
        LOOM_TRY(require(type(1) == ValueType::u32 && of(o[1]).kind == BufferKind::temp && of(o[1]).cols == 1 && of(o[1]).rows == Rows{1, ins.registers[0], kNone}, "places must be a u32 temporary of `count` rows"));
        measured_[count] = true;
        routed_[static_cast<std::size_t>(o[1].buffer)] = o[0].buffer + 1;
        return {};
      }
      case Op::scatter_add:
        LOOM_TRY(require(one_type({0, 3}) && cols(0) == cols(3) && routed(2, 3) && rows_equal(2, 0), "x, index and y do not agree"));
        LOOM_TRY(require(!o[1].valid() || (type(1) == type(0) && cols(1) == 1 && rows_equal(1, 0)), "scale must be a column of x's rows"));
        return require(filled_, "y is added to before it is written");
      case Op::count_: break;
    }
    return error("unknown op");
  }

  static bool group(const Instruction& ins, std::int64_t cols) { return ins.ints[0] >= 1 && cols % ins.ints[0] == 0; }
  static bool heads_ok(std::int64_t heads, std::int64_t kv_heads, std::int64_t head_dim) {
    return heads >= 1 && heads <= 65536 && kv_heads >= 1 && heads % kv_heads == 0 && head_dim >= 1 && head_dim <= 65536;
  }

  const Program& p_;
  std::vector<bool> written_, measured_;   // buffers; registers
  std::vector<BufferId> routed_;           // of places: 1 + the share they were made of
  bool filled_ = true;                     // what the instruction modifies was written before
  std::uint64_t total_ = 0;
  std::size_t at_ = 0;
};

}  // namespace

Status verify(const Program& program) { return Verifier(program).run(); }

}  // namespace loom
