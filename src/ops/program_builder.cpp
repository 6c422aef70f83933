#include "ops/program_builder.h"

#include <algorithm>

namespace loom {

ProgramBuilder::ProgramBuilder(Program& program) : p_(program) {
  for (std::size_t i = 0; i < p_.buffers.size(); ++i) know(static_cast<BufferId>(i));
}

// By its name, since programs have as many weights as networks have cells.
void ProgramBuilder::know(BufferId id) {
  const Buffer& b = p_.buffers[static_cast<std::size_t>(id)];
  if (b.kind == BufferKind::weight) weights_.try_emplace(b.path + '\0' + b.role, id);
  if (b.kind == BufferKind::constant) constants_.push_back(id);
  if (b.kind == BufferKind::input) inputs_.try_emplace(b.role, id);
}
BufferId ProgramBuilder::find_weight(std::string_view path, std::string_view role) const {
  const auto at = weights_.find(std::string(path) + '\0' + std::string(role));
  return at == weights_.end() ? kNone : at->second;
}

void ProgramBuilder::append(Op op, std::initializer_list<View> operands, Ints ints, Reals reals,
                            Registers registers) {
  Instruction ins;
  ins.op = op;
  ins.segment = segment_;
  std::copy(operands.begin(), operands.end(), ins.operands.begin());
  std::copy(ints.begin(), ints.end(), ins.ints.begin());
  std::copy(reals.begin(), reals.end(), ins.reals.begin());
  std::copy(registers.begin(), registers.end(), ins.registers.begin());
  // A buffer written again invalidates the forms made from it.
  const OpInfo& row = info(op);
  for (std::size_t i = 0; i < row.operands.size(); ++i) {
    if (row.operands[i].role == Role::read || !ins.operands[i].valid()) continue;
    const BufferId id = ins.operands[i].buffer;
    packed_.erase(packed_.lower_bound({id, INT32_MIN}), packed_.lower_bound({id + 1, INT32_MIN}));
    rounded_.erase(rounded_.lower_bound({id, INT32_MIN, INT32_MIN, Unary{}}),
                   rounded_.lower_bound({id + 1, INT32_MIN, INT32_MIN, Unary{}}));
    if (static_cast<std::size_t>(id) >= writes_.size()) writes_.resize(p_.buffers.size(), 0);
    ++writes_[static_cast<std::size_t>(id)];
  }
  p_.code.push_back(ins);
}

RegisterId ProgramBuilder::u32_register(std::string_view name, std::uint32_t max) {
  if (const RegisterId id = p_.find_register(name); id != kNone) {
    Register& r = p_.registers[static_cast<std::size_t>(id)];
    r.max = std::max(r.max, max);
    return id;
  }
  p_.registers.push_back({std::string(name), RegisterType::u32, max});
  return static_cast<RegisterId>(p_.registers.size() - 1);
}

RegisterId ProgramBuilder::f32_register(std::string_view name) {
  if (const RegisterId id = p_.find_register(name); id != kNone) return id;
  p_.registers.push_back({std::string(name), RegisterType::f32, 0});
  return static_cast<RegisterId>(p_.registers.size() - 1);
}

RegisterId ProgramBuilder::dynamic_register(std::uint32_t max) {
  p_.registers.push_back(
      {"count" + std::to_string(p_.registers.size()), RegisterType::dynamic_rows, max});
  return static_cast<RegisterId>(p_.registers.size() - 1);
}

View ProgramBuilder::buffer(Buffer description) {
  const auto cols = static_cast<std::int32_t>(description.cols);
  p_.buffers.push_back(std::move(description));
  know(static_cast<BufferId>(p_.buffers.size() - 1));
  return {static_cast<BufferId>(p_.buffers.size() - 1), 0, cols};
}

View ProgramBuilder::temp(ValueType type, Rows rows, std::int64_t cols) {
  return buffer({.type = type, .kind = BufferKind::temp, .rows = rows, .cols = cols});
}
View ProgramBuilder::input(std::string_view name, ValueType type, Rows rows, std::int64_t cols) {
  if (const auto at = inputs_.find(name); at != inputs_.end())
    return {at->second, 0, static_cast<std::int32_t>(cols)};
  return buffer({.type = type,
                 .kind = BufferKind::input,
                 .rows = rows,
                 .cols = cols,
                 .role = std::string(name)});
}
View ProgramBuilder::output(std::string_view name, ValueType type, Rows rows, std::int64_t cols) {
  return buffer({.type = type,
                 .kind = BufferKind::output,
                 .rows = rows,
                 .cols = cols,
                 .role = std::string(name)});
}
View ProgramBuilder::weight(std::string_view path, std::string_view role, std::int64_t rows,
                            std::int64_t cols, const WeightFormat& format, ValueType type) {
  if (const BufferId id = find_weight(path, role); id != kNone)
    return {id, 0, static_cast<std::int32_t>(cols)};
  return buffer({.type = type,
                 .kind = BufferKind::weight,
                 .rows = {rows},
                 .cols = cols,
                 .path = std::string(path),
                 .role = std::string(role),
                 .format = format});
}
View ProgramBuilder::state(std::string_view path, std::string_view role, ValueType type, Rows rows,
                           std::int64_t cols) {
  return buffer({.type = type,
                 .kind = BufferKind::state,
                 .rows = rows,
                 .cols = cols,
                 .path = std::string(path),
                 .role = std::string(role)});
}

View ProgramBuilder::constant(Buffer description) {
  description.kind = BufferKind::constant;
  for (const BufferId id : constants_) {
    const Buffer& b = p_.buffers[static_cast<std::size_t>(id)];
    if (b.type == description.type && b.rows == description.rows && b.cols == description.cols &&
        b.constant == description.constant)
      return {id, 0, static_cast<std::int32_t>(b.cols)};
  }
  return buffer(std::move(description));
}

}  // namespace loom
