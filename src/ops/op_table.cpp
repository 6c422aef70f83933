// The table of ops, made of the families' rows. Planner, verifier, dead-code removal, printing,
// saving and hashing work from it alone.
#include <algorithm>

#include "base/numbered.h"
#include "base/split.h"
#include "ops/op_row.h"

namespace loom {

namespace families {
#define LOOM_FAMILY(family) void family(RowSink&);
#include "ops/family_list.def"
#undef LOOM_FAMILY
}  // namespace families

namespace {

constexpr Family kFamilies[] = {
#define LOOM_FAMILY(family) &families::family,
#include "ops/family_list.def"
#undef LOOM_FAMILY
};

// They are places in tables.
constexpr int kIds[] = {
#define LOOM_OP(id, ...) id,
#include "ops/families.def"
};
#define LOOM_OP(id, name, ...)                                                   \
  static_assert(numbered(kIds, id), "op " #name                                  \
                                    ": ids are 0 to their count less one, each " \
                                    "once; append, never renumber: " #id);
#include "ops/families.def"

// What is read -> what is written; ~ what is modified, ? what may be left out, x<y: values of x are
// below what y has (OperandInfo::below).
std::vector<OperandInfo> parse_operands(std::string_view text) {
  std::vector<OperandInfo> list;
  Role role = Role::read;
  for (std::string_view word : split(text)) {
    if (word == "->") {
      role = Role::write;
      continue;
    }
    OperandInfo operand{{}, role, false, {}};
    if (word.starts_with('~')) operand.role = Role::modify, word.remove_prefix(1);
    if (word.ends_with('?')) operand.optional = true, word.remove_suffix(1);
    const std::size_t below = word.find('<');
    if (below != std::string_view::npos) operand.below = word.substr(below + 1);
    operand.name = word.substr(0, below);
    list.push_back(operand);
  }
  return list;
}

// name or name:type, f32 where none is named.
void parse_registers(std::string_view text, OpInfo& info) {
  for (const std::string_view word : split(text)) {
    const std::size_t colon = word.find(':');
    const std::string_view type = colon == std::string_view::npos ? "f32" : word.substr(colon + 1);
    info.registers.push_back(word.substr(0, colon));
    info.register_types.push_back(type == "u32"            ? RegisterType::u32
                                  : type == "dynamic_rows" ? RegisterType::dynamic_rows
                                                           : RegisterType::f32);
  }
}

class Table final : public RowSink {
 public:
  std::vector<OpInfo> ops = std::vector<OpInfo>(kOpCount);
  struct Lowered {
    std::string_view name;
    std::vector<OperandInfo> operands;
    OpTraits traits;
  };
  std::vector<Lowered> lowered = std::vector<Lowered>(kLoweredCount);

  Table() {
    for (const Family family : kFamilies) family(*this);
  }

  void add(int id, const char* text, const OpTraits& traits) override {
    const std::size_t place = id < 0 ? next_++ : static_cast<std::size_t>(id);
    std::string_view rest = text, column[5];
    for (std::string_view& c : column) {
      c = rest.substr(0, rest.find('|'));
      rest.remove_prefix(std::min(c.size() + 1, rest.size()));
    }
    lowered[place] = {column[0], parse_operands(column[1]), traits};
    if (id < 0) return;
    OpInfo& info = ops[place];
    info = {static_cast<Op>(id),
            column[0],
            lowered[place].operands,
            split(column[2]),
            split(column[3]),
            {},
            {}};
    parse_registers(column[4], info);
  }

 private:
  std::size_t next_ = kOpCount;  // of what only executors know
};

const Table& table() {
  static const Table table;
  return table;
}
const Table::Lowered& lowered(LoweredOp op) {
  return table().lowered[static_cast<std::size_t>(op)];
}

}  // namespace

const OpInfo& info(Op op) { return table().ops[static_cast<std::size_t>(op)]; }
const OpTraits& traits(Op op) { return lowered(static_cast<LoweredOp>(op)).traits; }
const OpTraits& traits(LoweredOp op) { return lowered(op).traits; }
std::string_view name(LoweredOp op) { return lowered(op).name; }
const std::vector<OperandInfo>& operands(LoweredOp op) { return lowered(op).operands; }

std::string_view name(ValueType type) {
  static constexpr std::string_view names[] = {"f32", "f64", "i32", "u32", "q15", "bf16x2"};
  return names[static_cast<std::size_t>(type)];
}
std::string_view name(BufferKind kind) {
  static constexpr std::string_view names[] = {"input",    "output", "weight", "master",
                                               "constant", "temp",   "grad",   "state"};
  return names[static_cast<std::size_t>(kind)];
}
std::string_view name(Segment segment) {
  static constexpr std::string_view names[] = {"forward", "loss", "backward", "update"};
  return names[static_cast<std::size_t>(segment)];
}

}  // namespace loom
