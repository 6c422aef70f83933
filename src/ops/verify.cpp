// The verifier: after it has passed, an executor may trust every operand, shape and attribute of a
// program.
#include <algorithm>
#include <string>

#include "base/files/bytes.h"
#include "ops/attention/rope.h"
#include "ops/graph/kinds.h"
#include "ops/op_check.h"
#include "ops/trees/trees.h"

namespace loom {
namespace {

constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 46;

class Verifier {
 public:
  explicit Verifier(const Program& program) : p_(program) {}

  Status run() {
    for (std::size_t i = 0; i < p_.buffers.size(); ++i) LOOM_TRY(buffer(i));
    before_.written.resize(p_.buffers.size());
    before_.routed.resize(p_.buffers.size());
    before_.ids.resize(p_.buffers.size());
    before_.dynamic_rows.resize(p_.registers.size());
    for (const Call& call : p_.calls) {
      LOOM_ASSIGN(const CustomLayerPtr layer, find_custom_layer(call.name, call.version));
      LOOM_ASSIGN(CallPlan plan, plan_call(*layer, call));
      before_.calls.push_back(std::move(plan));
    }
    for (std::size_t n = 0; n < p_.code.size(); ++n) {
      at_ = n;
      LOOM_TRY(instruction(p_.code[n]));
    }
    return {};
  }

 private:
  Status error(const std::string& what) const {
    const std::string where = "instruction " + std::to_string(at_) + " (" +
                              std::string(info(p_.code[at_].op).name) + "): ";
    return Status(Code::corrupt, "program: " + where + what);
  }

  static bool measures(const OpInfo& op) {
    return std::count(op.register_types.begin(), op.register_types.end(),
                      RegisterType::dynamic_rows) > 0;
  }
  bool is_register(RegisterId id, RegisterType type) const {
    return id >= 0 && static_cast<std::size_t>(id) < p_.registers.size() &&
           p_.registers[static_cast<std::size_t>(id)].type == type;
  }

  Status buffer(std::size_t i) {
    const Buffer& b = p_.buffers[i];
    auto bad = [i](const std::string& what) {
      return Status(Code::corrupt, "program: buffer " + std::to_string(i) + ": " + what);
    };
    int dynamic_rows = 0;
    for (RegisterId reg : {b.rows.a, b.rows.b}) {
      if (reg == kNone || is_register(reg, RegisterType::u32)) continue;
      if (!is_register(reg, RegisterType::dynamic_rows))
        return bad("its rows name register " + std::to_string(reg) + ", which is no row count");
      if (b.kind != BufferKind::temp || ++dynamic_rows > 1)
        return bad("dynamic rows are those of a temporary, counted by one register");
    }
    if (b.rows.constant < 1 || b.rows.constant > kMaxCols)
      return bad("row count " + std::to_string(b.rows.constant) + " is not in 1..2^31");
    if (b.cols < 1 || b.cols > kMaxCols)
      return bad("column count " + std::to_string(b.cols) + " is not in 1..2^31");
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
    if (parameter && b.type != ValueType::f32 && b.type != ValueType::f64)
      return bad("a parameter is f32 or f64");
    if (parameter && (b.rows.a != kNone || b.rows.b != kNone))
      return bad("a parameter's rows are constant");
    if (b.kind == BufferKind::constant) {
      if (b.constant.kind == ConstantKind::steps) return steps(b, bad);
      if (b.rows.a != kNone || b.rows.b != kNone) return bad("a constant's rows are constant");
      if (b.constant.kind == ConstantKind::alibi) return slopes(b, bad);
      if (b.constant.kind == ConstantKind::trees) return trees(b, bad);
      if (b.constant.kind == ConstantKind::gather_indices ||
          b.constant.kind == ConstantKind::inverse_index)
        return places(b, bad);
      if (b.constant.kind != ConstantKind::rope) return bad("a constant without a description");
      if (b.type != ValueType::f32 && b.type != ValueType::f64)
        return bad("a rope table is f32 or f64");
      LOOM_TRY(RopeSpec::from_reals(b.constant.reals).status());
    }
    return {};
  }

  template <class Bad>
  static Status steps(const Buffer& b, Bad bad) {
    const std::vector<double>& r = b.constant.reals;
    if (b.type != ValueType::u32 || b.cols != 1) return bad("steps are a column of u32");
    if (r.size() != 1 || !(r[0] >= 1 && r[0] <= 2147483647.0) ||
        b.rows.constant % static_cast<std::int64_t>(r[0]) != 0 ||
        static_cast<double>(static_cast<std::int64_t>(r[0])) != r[0])
      return bad("steps whose number does not divide their rows");
    return {};
  }

  template <class Bad>
  static Status slopes(const Buffer& b, Bad bad) {
    const std::vector<double>& r = b.constant.reals;
    if ((b.type != ValueType::f32 && b.type != ValueType::f64) || b.rows != Rows{})
      return bad("slopes are a row of f32 or f64");
    if (r.size() != 1 || b.cols < 1 || b.cols > 65536 || r[0] != static_cast<double>(b.cols))
      return bad("slopes of another number of heads than they have columns");
    return {};
  }

  template <class Bad>
  static Status trees(const Buffer& b, Bad bad) {
    if (b.type != ValueType::u32 || b.rows != Rows{}) return bad("trees are a row of u32");
    const char* wrong = check_trees(b.constant, b.cols);
    return wrong ? bad(wrong) : Status();
  }

  // A list of places: one row, as long as its description says.
  template <class Bad>
  static Status places(const Buffer& b, Bad bad) {
    const std::vector<double>& r = b.constant.reals;
    if (b.type != ValueType::i32 || b.rows != Rows{})
      return bad("a list of places is one row of i32");
    if (r.empty() || !(r[0] >= 1 && r[0] <= 2147483647.0) ||
        static_cast<double>(static_cast<std::int64_t>(r[0])) != r[0])
      return bad("a list of places without its limit");
    const auto limit = static_cast<std::int64_t>(r[0]);
    const auto list = GatherIndices::list(std::span(r).subspan(1), limit);
    if (!list.ok()) return bad(list.status().message());
    const auto count = static_cast<std::int64_t>(list->size());
    if (b.cols != (b.constant.kind == ConstantKind::inverse_index ? limit + 1 + count : count))
      return bad("a list of " + std::to_string(count) + " places in " + std::to_string(b.cols) +
                 " columns");
    return {};
  }

  const Buffer& of(const View& v) const { return p_.buffers[static_cast<std::size_t>(v.buffer)]; }

  Status instruction(const Instruction& ins) {
    if (static_cast<int>(ins.op) >= kOpCount || !traits(ins.op).shape) {
      return Status(Code::corrupt, "program: instruction " + std::to_string(at_) + ": unknown op");
    }
    // A run of some segments is one stretch of code.
    if (at_ > 0 && ins.segment < p_.code[at_ - 1].segment)
      return error("segments must stand in order: forward, loss, backward, update");
    for (std::size_t i = 0; i < info(ins.op).operands.size(); ++i) LOOM_TRY(operand(ins, i));
    LOOM_TRY(results(ins));
    LOOM_TRY(attributes(ins));
    OpCheck check(p_, ins, before_);
    return traits(ins.op).shape(check) ? Status() : error(check.error());
  }

  Status operand(const Instruction& ins, std::size_t i) {
    const OpInfo& op = info(ins.op);
    const View& v = ins.operands[i];
    const std::string what = "operand " + std::string(op.operands[i].name);
    if (!v.valid()) return op.operands[i].optional ? Status() : error(what + " is missing");
    if (v.buffer < 0 || static_cast<std::size_t>(v.buffer) >= p_.buffers.size())
      return error(what + " names no buffer");
    const Buffer& b = of(v);
    if (v.col < 0 || v.cols < 1 || std::int64_t{v.col} + v.cols > b.cols)
      return error(what + " takes columns beyond its buffer's " + std::to_string(b.cols));
    const bool packed =
        b.type == ValueType::q15 || b.type == ValueType::bf16x2 || b.kind == BufferKind::weight;
    if (packed && (v.col != 0 || v.cols != b.cols))
      return error(what + ": packed values are not sliced");
    const bool writes = op.operands[i].role != Role::read;
    if (writes && (b.kind == BufferKind::input || b.kind == BufferKind::weight ||
                   b.kind == BufferKind::constant))
      return error(what + " writes to " + std::string(name(b.kind)));
    // Rows are counted before they are used, except those written together with the count.
    const RegisterId count = p_.dynamic_rows(v.buffer);
    if (count != kNone && !before_.dynamic_rows[static_cast<std::size_t>(count)] &&
        !(writes && measures(op)))
      return error(what + " has rows that are not counted yet");
    const bool transient = b.kind == BufferKind::temp || b.kind == BufferKind::output;
    if (transient && !writes && op.operands[i].role == Role::read &&
        !before_.written[static_cast<std::size_t>(v.buffer)])
      return error(what + " is read before it is written");
    return {};
  }

  // What it writes, and that it writes nothing that it reads elsewhere.
  Status results(const Instruction& ins) {
    const OpInfo& op = info(ins.op);
    before_.filled = true;
    for (std::size_t i = 0; i < op.operands.size(); ++i) {
      const View& v = ins.operands[i];
      if (!v.valid() || op.operands[i].role == Role::read) continue;
      if (op.operands[i].role == Role::modify)
        before_.filled = before_.written[static_cast<std::size_t>(v.buffer)];
      before_.written[static_cast<std::size_t>(v.buffer)] = true;
      for (std::size_t j = 0; j < op.operands.size(); ++j) {
        const View& u = ins.operands[j];
        if (j == i || !u.valid() || u.buffer != v.buffer || u.col + u.cols <= v.col ||
            v.col + v.cols <= u.col)
          continue;
        // The same element in the same place may be read and written by an elementwise op; any
        // other overlap is refused.
        if (u == v && traits(ins.op).in_place && op.operands[j].role == Role::read) continue;
        return error("operands " + std::string(op.operands[i].name) + " and " +
                     std::string(op.operands[j].name) + " overlap");
      }
    }
    return {};
  }

  Status attributes(const Instruction& ins) const {
    const OpInfo& op = info(ins.op);
    for (std::size_t i = 0; i < op.registers.size(); ++i)
      if (!is_register(ins.registers[i], op.register_types[i]))
        return error("register " + std::string(op.registers[i]) + " is missing or of another type");
    for (std::size_t i = 0; i < op.reals.size(); ++i)
      if (!(ins.reals[i] - ins.reals[i] == 0))
        return error(std::string(op.reals[i]) + " is not finite");
    return {};
  }

  const Program& p_;
  CheckedSoFar before_;
  std::uint64_t total_ = 0;
  std::size_t at_ = 0;
};

}  // namespace

bool OpCheck::one_type(std::initializer_list<int> list) const {
  return std::all_of(list.begin(), list.end(),
                     [&](int i) { return real(i) && type(i) == type(*list.begin()); });
}

bool OpCheck::alike(std::initializer_list<int> list) const {
  const int first = *list.begin();
  return one_type(list) && std::all_of(list.begin(), list.end(), [&](int i) {
           return cols(i) == cols(first) && rows_equal(i, first);
         });
}

std::int64_t OpCheck::constant_rows(int i) const {
  const Rows& rows = of(i).rows;
  return rows.a == kNone && rows.b == kNone ? rows.constant : -1;
}

bool OpCheck::routed(int i, int of_rows) const {
  const BufferId share = before_.routed[static_cast<std::size_t>(view(i).buffer)];
  return share > 0 && of(of_rows).rows == program.buffers[static_cast<std::size_t>(share - 1)].rows;
}

bool OpCheck::kv_state(int i, int like) const {
  const bool holds =
      type(i) == type(like) || (type(i) == ValueType::q15 && type(like) == ValueType::f32);
  return is(i, BufferKind::state) && of(i).role == "kv" && holds && constant_rows(i) > 0 &&
         constant_rows(i) % 64 == 0;
}

bool OpCheck::measures(int places, int share) {
  const auto count = static_cast<std::size_t>(ins.registers[0]);
  if (!require(!before_.dynamic_rows[count] &&
                   program.registers[count].max >= program.max_rows(view(share).buffer),
               "count must be written once, and its maximum hold all rows of share"))
    return false;
  before_.dynamic_rows[count] = true;
  before_.routed[static_cast<std::size_t>(view(places).buffer)] = view(share).buffer + 1;
  before_.ids[static_cast<std::size_t>(view(places).buffer)] = 0;
  return true;
}

void OpCheck::makes_ids(int i, std::int64_t count) {
  before_.ids[static_cast<std::size_t>(view(i).buffer)] = count;
  before_.routed[static_cast<std::size_t>(view(i).buffer)] = 0;
}

Status verify(const Program& program) { return Verifier(program).run(); }

}  // namespace loom
