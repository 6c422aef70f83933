#include "ops/executor.h"

#include <algorithm>
#include <chrono>

#include "ops/cpu/executor.h"
#include "ops/cpu/kernel_args.h"
#include "ops/lowering/memory_planner.h"
#include "ops/webgpu/executor.h"

namespace loom {

Result<std::unique_ptr<Executor>> Executor::create(Program program, WeightLookup weights,
                                                   ThreadPool& pool,
                                                   const ExecutorOptions& options) {
  if (options.device) {
    LOOM_ASSIGN(auto on_device, webgpu::Executor::create(std::move(program), std::move(weights),
                                                         *options.device, options));
    return std::unique_ptr<Executor>(std::move(on_device));
  }
  LOOM_ASSIGN(auto on_cpu,
              cpu::Executor::create(std::move(program), std::move(weights), pool, options));
  return std::unique_ptr<Executor>(std::move(on_cpu));
}

bool Executor::has_updates(const Program& program) {
  return std::any_of(program.code.begin(), program.code.end(),
                     [](const Instruction& ins) { return ins.segment == Segment::update; });
}

Result<bool> Executor::run_until(Segment first, Segment last, std::int64_t) {
  LOOM_TRY(run(first, last));
  return true;
}

Result<bool> Executor::resume(std::int64_t) {
  return Status(Code::invalid_argument, "executor: no run is paused");
}

Result<bool> Executor::refresh_until(std::int64_t) {
  LOOM_TRY(refresh());
  return true;
}

std::int64_t Executor::slice_clock() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

Status Executor::run_ahead(const Draw&, std::span<std::uint32_t> picked) {
  return Status(Code::unsupported, "executor: " + std::string(target()) +
                                       " picks no ids for this program, or not " +
                                       std::to_string(picked.size()) + " at a time");
}

Status Executor::set(RegisterId id, std::uint32_t value) {
  if (id < 0 || static_cast<std::size_t>(id) >= program_.registers.size())
    return Status(Code::invalid_argument, "the program has no register " + std::to_string(id));
  const Register& r = program_.registers[static_cast<std::size_t>(id)];
  if (r.type == RegisterType::dynamic_rows)
    return Status(Code::invalid_argument,
                  "register " + r.name + " is set by the run itself: its rows are dynamic");
  if (value > r.max)
    return Status(Code::out_of_range, "register " + r.name + ": " + std::to_string(value) +
                                          " is above its maximum of " + std::to_string(r.max));
  u32_[static_cast<std::size_t>(id)] = value;
  return {};
}

void Executor::bound_counts() {
  if (std::none_of(program_.registers.begin(), program_.registers.end(),
                   [](const Register& r) { return r.type == RegisterType::dynamic_rows; }))
    return;
  for (const Instruction& ins : program_.code)
    if (ins.op == Op::route_rows)
      u32_[static_cast<std::size_t>(ins.registers[0])] =
          static_cast<std::uint32_t>(program_.rows(ins.operands[0].buffer, u32_));
}

Status Executor::plan_pages(std::int64_t sequences) {
  sequences_ = std::max<std::int64_t>(sequences, 1);
  for (std::size_t b = 0; b < program_.buffers.size(); ++b) {
    const Buffer& buffer = program_.buffers[b];
    if (buffer.kind != BufferKind::state || buffer.role != "kv") continue;
    const std::int64_t rows = program_.max_rows(static_cast<BufferId>(b));
    if (rows % (64 * sequences_) != 0)
      return Status(Code::invalid_argument, "session: the KV state's " + std::to_string(rows) +
                                                " positions are not divisible among " +
                                                std::to_string(sequences_) +
                                                " sequences in pages of 64");
    const std::int64_t pages = rows / 64 / sequences_;
    if (pages_per_sequence_ != 0 && pages_per_sequence_ != pages)
      return Status(Code::invalid_argument, "session: KV states of different lengths");
    pages_per_sequence_ = pages;
  }
  page_table_.resize(static_cast<std::size_t>(pages_per_sequence_ * sequences_));
  for (std::size_t i = 0; i < page_table_.size(); ++i)
    page_table_[i] = static_cast<std::uint32_t>(i);
  return {};
}

void Executor::plan_limits() {
  limits_.clear();
  for (const Instruction& ins : program_.code) {
    const OpInfo& op = info(ins.op);
    for (std::size_t i = 0; i < op.operands.size(); ++i)
      if (!op.operands[i].below.empty() && ins.operands[i].valid())
        add_limit(ins, ins.operands[i].buffer, op.operands[i].below);
  }
}

void Executor::add_limit(const Instruction& ins, BufferId indices, std::string_view below) {
  if (program_.buffers[static_cast<std::size_t>(indices)].kind != BufferKind::input) return;
  Limit limit{indices, INT64_MAX, kNone, false};
  if (below == "sequences") limit.limit = sequences_;
  else if (below == "positions") limit.limit = pages_per_sequence_ * 64;
  else if (below == "classes") limit.limit = ins.operands[0].cols, limit.is_signed = true;
  else {
    const auto& operands = info(ins.op).operands;
    const auto named = std::find_if(operands.begin(), operands.end(),
                                    [&](const OperandInfo& o) { return o.name == below; });
    const BufferId of = ins.operands[static_cast<std::size_t>(named - operands.begin())].buffer;
    const Rows& rows = program_.buffers[static_cast<std::size_t>(of)].rows;
    if (rows.a == kNone && rows.b == kNone) limit.limit = rows.constant;
    else limit.rows_of = of;  // those of the run
  }
  for (Limit& l : limits_)
    if (l.buffer == indices && l.rows_of == limit.rows_of) {
      l.limit = std::min(l.limit, limit.limit);
      return;
    }
  limits_.push_back(limit);
}

Status Executor::check_inputs() {
  for (const Limit& l : limits_) {
    const auto b = static_cast<std::size_t>(l.buffer);
    const std::int64_t rows = program_.rows(l.buffer, u32_),
                       stride = row_stride(program_.buffers[b]);
    const std::int64_t limit = l.rows_of == kNone ? l.limit : program_.rows(l.rows_of, u32_);
    const auto* values = reinterpret_cast<const std::uint32_t*>(row_bytes(l.buffer, 0));
    for (std::int64_t r = 0; r < rows; ++r) {
      const std::uint32_t v = values[r * stride];
      if (l.is_signed && static_cast<std::int32_t>(v) < 0) continue;
      if (v >= static_cast<std::uint64_t>(limit)) {
        return Status(Code::out_of_range, program_.buffers[b].role + "[" + std::to_string(r) +
                                              "] is " + std::to_string(v) + ", the limit is " +
                                              std::to_string(limit));
      }
    }
  }
  return {};
}

void Executor::settle(float* values, std::int64_t rows, std::int64_t cols, std::int64_t stride) {
  for (std::int64_t r = 0; r < rows; ++r, values += stride)
    for (std::int64_t c = 0; c < cols; ++c) values[c] = cpu::stored(values[c]);
}

void Executor::settle_inputs() {
  for (std::size_t b = 0; b < program_.buffers.size(); ++b) {
    const Buffer& buffer = program_.buffers[b];
    if (buffer.kind != BufferKind::input || buffer.type != ValueType::f32) continue;
    auto* values = reinterpret_cast<float*>(row_bytes(static_cast<BufferId>(b), 0));
    if (values)
      settle(values, program_.rows(static_cast<BufferId>(b), u32_), buffer.cols,
             row_stride(buffer));
  }
}

Result<WeightStore*> Executor::parameter(const Buffer& b) const {
  WeightStore* store = lookup_(b.path, b.role);
  const std::string name = b.path + ":" + b.role;
  if (!store)
    return Status(Code::not_found,
                  "the program reads the parameter " + name + ", which the network lacks");
  if (store->rows() != b.rows.constant || store->cols() != b.cols) {
    return Status(Code::invalid_argument,
                  "parameter " + name + ": the program expects " + std::to_string(b.rows.constant) +
                      " x " + std::to_string(b.cols) + ", the network has " +
                      std::to_string(store->rows()) + " x " + std::to_string(store->cols()));
  }
  return store;
}

}  // namespace loom
