#include "exec/program_runner.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "exec/session.h"
#include "ops/lowering/memory_planner.h"

namespace loom {
namespace {

Status bad(std::string what) { return Status(Code::invalid_argument, std::move(what)); }

bool is_plain(ValueType type) { return type != ValueType::q15 && type != ValueType::bf16x2; }

// One value into or out of a buffer of plain values.
void store(ValueType type, std::byte* to, double value) {
  const auto put = [&](auto v) { std::memcpy(to, &v, sizeof v); };
  switch (type) {
    case ValueType::f32: return put(static_cast<float>(value));
    case ValueType::f64: return put(value);
    case ValueType::i32: return put(static_cast<std::int32_t>(value));
    default: return put(static_cast<std::uint32_t>(value));
  }
}
double load(ValueType type, const std::byte* from) {
  const auto get = [&](auto v) { return std::memcpy(&v, from, sizeof v), static_cast<double>(v); };
  switch (type) {
    case ValueType::f32: return get(0.0f);
    case ValueType::f64: return get(0.0);
    case ValueType::i32: return get(std::int32_t{0});
    default: return get(std::uint32_t{0});
  }
}
// Whether a host's type goes into a buffer of that type without a loss.
template <class T>
bool takes(ValueType type) {
  if constexpr (std::is_same_v<T, std::int32_t>)
    return type == ValueType::i32 || type == ValueType::u32;
  else if constexpr (std::is_same_v<T, double>) return type == ValueType::f64;
  else return type == ValueType::f32 || type == ValueType::f64;
}

}  // namespace

std::string ProgramRunner::name_of(const Buffer& b) {
  return b.path.empty() ? b.role : b.path + ":" + b.role;
}

Result<ProgramRunner> ProgramRunner::create(const Program& program, Network& network,
                                            ThreadPool& pool, const ProgramRunnerOptions& options) {
  if (options.auto_device)
    return Status(Code::unsupported,
                  "program: \"auto\" measures run by run, and states stay where they are: name the "
                  "device");
  for (const Instruction& i : program.code)
    if (i.segment != Segment::forward)
      return Status(Code::unsupported, "program: it has a segment \"" +
                                           std::string(name(i.segment)) +
                                           "\": programs that learn are run by trainers");
  ExecutorOptions eo;
  eo.device = options.device;
  eo.isa = options.isa;
  eo.fuse = options.fuse;
  eo.sequences = options.sequences;
  eo.cancel = options.cancel;
  ProgramRunner r;
  LOOM_ASSIGN(r.executor_,
              Executor::create(program, weights_of(network, options.adapter), pool, eo));
  r.set_.resize(program.registers.size());
  r.values_.resize(program.registers.size());
  r.written_.resize(program.buffers.size(), -1);
  r.reset();
  return r;
}

Status ProgramRunner::set(std::string_view name, double value) {
  const RegisterId id = program().find_register(name);
  if (id == kNone) return bad("program: it has no register \"" + std::string(name) + "\"");
  const Register& r = program().registers[static_cast<std::size_t>(id)];
  if (r.type == RegisterType::f32) {
    executor_->set_real(id, value);
  } else {
    if (!(value >= 0 && value <= r.max && value == std::floor(value)))
      return Status(Code::out_of_range, "program: the register \"" + r.name +
                                            "\" takes whole numbers from 0 to " +
                                            std::to_string(r.max));
    LOOM_TRY(executor_->set(id, static_cast<std::uint32_t>(value)));
  }
  set_[static_cast<std::size_t>(id)] = true;
  values_[static_cast<std::size_t>(id)] = value;
  return {};
}

std::int64_t ProgramRunner::rows(BufferId id) const {
  std::vector<std::uint32_t> registers(program().registers.size());
  for (std::size_t i = 0; i < registers.size(); ++i)
    registers[i] = executor_->get(static_cast<RegisterId>(i));
  return program().rows(id, registers);
}

RegisterId ProgramRunner::counts(BufferId id) const {
  const Buffer& b = program().buffers[static_cast<std::size_t>(id)];
  return b.kind == BufferKind::input && b.rows.b == kNone ? b.rows.a : kNone;
}

std::int64_t ProgramRunner::of_row(BufferId id) const {
  const Buffer& b = program().buffers[static_cast<std::size_t>(id)];
  return counts(id) == kNone ? rows(id) * b.cols : b.rows.constant * b.cols;
}

Status ProgramRunner::fit(BufferId id, std::size_t count) const {
  const auto given = static_cast<std::int64_t>(count), wanted = of_row(id);
  const bool any = counts(id) != kNone;  // number of rows
  if (any ? wanted > 0 && given % wanted == 0 : given == wanted) return {};
  const Buffer& b = program().buffers[static_cast<std::size_t>(id)];
  return bad("program: \"" + name_of(b) + "\" has " + (any ? "rows of " : "") +
             std::to_string(wanted) + " values, got " + std::to_string(count));
}

Result<BufferId> ProgramRunner::find(std::string_view name, BufferKind kind) const {
  const std::vector<Buffer>& buffers = program().buffers;
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    const Buffer& b = buffers[i];
    if ((b.kind != kind && b.kind != BufferKind::state) || name_of(b) != name) continue;
    if (!is_plain(b.type))
      return Status(Code::unsupported, "program: \"" + std::string(name) + "\" is " +
                                           std::string(loom::name(b.type)) + ", packed values");
    return static_cast<BufferId>(i);
  }
  return bad("program: it has no " + std::string(loom::name(kind)) + " or state \"" +
             std::string(name) + "\"");
}

template <class T>
Status ProgramRunner::write(std::string_view name, std::span<const T> values) {
  LOOM_ASSIGN(const BufferId id, find(name, BufferKind::input));
  const Buffer& b = program().buffers[static_cast<std::size_t>(id)];
  LOOM_TRY(fit(id, values.size()));
  if (!takes<T>(b.type))
    return bad("program: \"" + std::string(name) + "\" takes " + std::string(loom::name(b.type)));
  for (const T v : values)
    if (b.type == ValueType::u32 && v < 0)
      return Status(Code::out_of_range, "program: \"" + std::string(name) +
                                            "\" takes nothing below 0, got " +
                                            std::to_string(static_cast<std::int64_t>(v)));
  if (const RegisterId r = counts(id); r != kNone)
    LOOM_TRY(set(program().registers[static_cast<std::size_t>(r)].name,
                 static_cast<double>(static_cast<std::int64_t>(values.size()) / of_row(id))));
  const auto size = static_cast<std::size_t>(element_size(b.type)),
             cols = static_cast<std::size_t>(b.cols);
  for (std::int64_t r = 0; r < rows(id); ++r) {
    std::byte* const to = executor_->row_bytes(id, r);
    const T* const from = values.data() + static_cast<std::size_t>(r) * cols;
    for (std::size_t c = 0; c < cols; ++c)
      store(b.type, to + c * size, static_cast<double>(from[c]));
  }
  written_[static_cast<std::size_t>(id)] = rows(id);
  return {};
}

template <class T>
Status ProgramRunner::read(std::string_view name, std::span<T> values) {
  LOOM_ASSIGN(const BufferId id, find(name, BufferKind::output));
  const Buffer& b = program().buffers[static_cast<std::size_t>(id)];
  LOOM_TRY(fit(id, values.size()));
  const auto size = static_cast<std::size_t>(element_size(b.type)),
             cols = static_cast<std::size_t>(b.cols);
  for (std::int64_t r = 0; r < rows(id); ++r) {
    const std::byte* const from = executor_->row_bytes(id, r);
    T* const to = values.data() + static_cast<std::size_t>(r) * cols;
    for (std::size_t c = 0; c < cols; ++c) to[c] = static_cast<T>(load(b.type, from + c * size));
  }
  return {};
}

template Status ProgramRunner::write(std::string_view, std::span<const float>);
template Status ProgramRunner::write(std::string_view, std::span<const double>);
template Status ProgramRunner::write(std::string_view, std::span<const std::int32_t>);
template Status ProgramRunner::read(std::string_view, std::span<float>);
template Status ProgramRunner::read(std::string_view, std::span<double>);

Status ProgramRunner::run() {
  for (std::size_t i = 0; i < set_.size(); ++i) {
    const Register& r = program().registers[i];
    if (!set_[i] && r.type != RegisterType::dynamic_rows)
      return bad("program: set the register \"" + r.name + "\" first");
  }
  for (std::size_t i = 0; i < written_.size(); ++i) {
    const Buffer& b = program().buffers[i];
    const std::int64_t now = rows(static_cast<BufferId>(i));
    if (b.kind != BufferKind::input || written_[i] == now) continue;
    return bad("program: the input \"" + name_of(b) + "\" has " +
               (written_[i] < 0 ? "no values" : std::to_string(written_[i]) + " rows") +
               ": write " + std::to_string(now));
  }
  return executor_->run();
}

void ProgramRunner::reset() {
  for (std::size_t i = 0; i < program().buffers.size(); ++i)
    if (program().buffers[i].kind == BufferKind::state)
      std::ranges::fill(executor_->state(static_cast<BufferId>(i)), std::byte{0});
}

// Of inputs, for the registers as they are set, and the bytes of states.
template <class F>
void ProgramRunner::each_row(const F& f) {
  for (std::size_t i = 0; i < program().buffers.size(); ++i) {
    const Buffer& b = program().buffers[i];
    const auto id = static_cast<BufferId>(i);
    if (b.kind == BufferKind::state) f(executor_->state(id));
    if (b.kind != BufferKind::input) continue;
    const auto bytes = static_cast<std::size_t>(b.cols * element_size(b.type));
    for (std::int64_t r = 0; r < rows(id); ++r)
      f(std::span<std::byte>(executor_->row_bytes(id, r), bytes));
  }
}

std::string ProgramRunner::snapshot() {
  std::string out;
  for (std::size_t i = 0; i < set_.size(); ++i) {
    out += static_cast<char>(set_[i]);
    out.append(reinterpret_cast<const char*>(&values_[i]), sizeof values_[i]);
  }
  for (const std::int64_t w : written_) out.append(reinterpret_cast<const char*>(&w), sizeof w);
  each_row([&](std::span<std::byte> row) {
    out.append(reinterpret_cast<const char*>(row.data()), row.size());
  });
  return out;
}

void ProgramRunner::restore(std::string_view snapshot) {
  for (std::size_t i = 0; i < set_.size(); ++i) {
    double value;
    std::memcpy(&value, snapshot.data() + 1, sizeof value);
    if (snapshot[0]) (void)set(program().registers[i].name, value);
    snapshot.remove_prefix(1 + sizeof value);
  }
  for (std::int64_t& w : written_) {
    std::memcpy(&w, snapshot.data(), sizeof w);
    snapshot.remove_prefix(sizeof w);
  }
  each_row([&](std::span<std::byte> row) {
    std::memcpy(row.data(), snapshot.data(), row.size());
    snapshot.remove_prefix(row.size());
  });
}

}  // namespace loom
