#include "ops/emit.h"

#include <algorithm>

namespace loom {

void Emit::append(Op op, std::initializer_list<View> operands, Ints ints, Reals reals, Registers registers) {
  Instruction ins;
  ins.op = op;
  ins.segment = segment_;
  std::copy(operands.begin(), operands.end(), ins.operands.begin());
  std::copy(ints.begin(), ints.end(), ins.ints.begin());
  std::copy(reals.begin(), reals.end(), ins.reals.begin());
  std::copy(registers.begin(), registers.end(), ins.registers.begin());
  // A buffer written again invalidates the packed forms made from it.
  const OpInfo& row = info(op);
  for (std::size_t i = 0; i < row.operands.size(); ++i) {
    if (row.operands[i].role == Role::read || !ins.operands[i].valid()) continue;
    std::erase_if(packed_, [&](const auto& entry) { return entry.first.first == ins.operands[i].buffer; });
    std::erase_if(rounded_, [&](const auto& entry) { return std::get<0>(entry.first) == ins.operands[i].buffer; });
  }
  p_.code.push_back(ins);
}

RegisterId Emit::u32_register(std::string_view name, std::uint32_t max) {
  if (const RegisterId id = p_.find_register(name); id != kNone) {
    Register& r = p_.registers[static_cast<std::size_t>(id)];
    r.max = std::max(r.max, max);
    return id;
  }
  p_.registers.push_back({std::string(name), RegisterType::u32, max});
  return static_cast<RegisterId>(p_.registers.size() - 1);
}

RegisterId Emit::f32_register(std::string_view name) {
  if (const RegisterId id = p_.find_register(name); id != kNone) return id;
  p_.registers.push_back({std::string(name), RegisterType::f32, 0});
  return static_cast<RegisterId>(p_.registers.size() - 1);
}

RegisterId Emit::measured_register(std::uint32_t max) {
  p_.registers.push_back({"count" + std::to_string(p_.registers.size()), RegisterType::measured, max});
  return static_cast<RegisterId>(p_.registers.size() - 1);
}

View Emit::buffer(Buffer description) {
  const auto cols = static_cast<std::int32_t>(description.cols);
  p_.buffers.push_back(std::move(description));
  return {static_cast<BufferId>(p_.buffers.size() - 1), 0, cols};
}

View Emit::temp(ValueType type, Rows rows, std::int64_t cols) { return buffer({.type = type, .kind = BufferKind::temp, .rows = rows, .cols = cols}); }
View Emit::input(std::string_view name, ValueType type, Rows rows, std::int64_t cols) {
  if (const BufferId id = p_.find(BufferKind::input, "", name); id != kNone) return {id, 0, static_cast<std::int32_t>(cols)};
  return buffer({.type = type, .kind = BufferKind::input, .rows = rows, .cols = cols, .role = std::string(name)});
}
View Emit::output(std::string_view name, ValueType type, Rows rows, std::int64_t cols) {
  return buffer({.type = type, .kind = BufferKind::output, .rows = rows, .cols = cols, .role = std::string(name)});
}
View Emit::weight(std::string_view path, std::string_view role, std::int64_t rows, std::int64_t cols, const WeightFormat& format, ValueType type) {
  if (const BufferId id = p_.find(BufferKind::weight, path, role); id != kNone) return {id, 0, static_cast<std::int32_t>(cols)};
  return buffer({.type = type, .kind = BufferKind::weight, .rows = {rows}, .cols = cols, .path = std::string(path), .role = std::string(role), .format = format});
}
View Emit::state(std::string_view path, std::string_view role, ValueType type, Rows rows, std::int64_t cols) {
  return buffer({.type = type, .kind = BufferKind::state, .rows = rows, .cols = cols, .path = std::string(path), .role = std::string(role)});
}

View Emit::constant(Buffer description) {
  description.kind = BufferKind::constant;
  for (std::size_t i = 0; i < p_.buffers.size(); ++i) {
    const Buffer& b = p_.buffers[i];
    if (b.kind == BufferKind::constant && b.type == description.type && b.rows == description.rows && b.cols == description.cols && b.constant == description.constant)
      return {static_cast<BufferId>(i), 0, static_cast<std::int32_t>(b.cols)};
  }
  return buffer(std::move(description));
}

}  // namespace loom
