#include "exec/session.h"

#include <algorithm>

#include "base/bytes.h"
#include "grid/emitter.h"

namespace loom {

WeightLookup weights_of(Network& network) {
  return [&network](std::string_view path, std::string_view role) { return network.find(path, role); };
}

Result<Program> emit_program(Network& network, const SessionOptions& options) {
  auto limit = [](std::int64_t v, std::string_view what) {
    return v >= 1 && v <= INT32_MAX ? Status() : Status(Code::invalid_argument, "session: " + std::string(what) + " must be in 1..2^31-1, got " + std::to_string(v));
  };
  LOOM_TRY(limit(options.max_rows, "max_rows"));
  LOOM_TRY(limit(options.max_head_rows, "max_head_rows"));
  LOOM_TRY(limit(options.max_positions, "max_positions"));
  LOOM_TRY(limit(options.sequences, "sequences"));
  Program program;
  Emit emit(program);
  const Rows rows{1, emit.u32_register("R", static_cast<std::uint32_t>(options.max_rows)), kNone};
  EmitOptions eo;
  eo.training = options.whole_sequences;
  eo.sequences = options.sequences;
  eo.max_positions = static_cast<std::int64_t>(align_up(static_cast<std::uint64_t>(options.max_positions), 64));
  if (network.head >= 0) {
    const Rows head{1, emit.u32_register("L", static_cast<std::uint32_t>(options.max_head_rows)), kNone};
    eo.head_rows = emit.input("head_rows", ValueType::u32, head, 1);
  }
  const Shape& in = network.input();
  const View x = in.ids > 0 ? emit.input("ids", ValueType::u32, rows, 1) : emit.input("x", ValueType::f32, rows, in.width);
  NetworkEmitter emitter(network, emit, eo);
  LOOM_ASSIGN(const View last, emitter.forward(x));
  if (emit.type(last) == ValueType::u32) return Status(Code::invalid_argument, "session: the network has no layers");
  const View y = emit.convert(last, ValueType::f32);
  emit.copy_to(y, emit.output("y", ValueType::f32, emit.rows(y), y.cols));
  remove_dead_code(program);
  return program;
}

Result<Session> Session::create(Network& network, ThreadPool& pool, const SessionOptions& options) {
  LOOM_ASSIGN(Program program, emit_program(network, options));
  Session s;
  s.options_ = options;
  ExecutorOptions eo;
  eo.device = options.device;
  eo.isa = options.isa;
  eo.sequences = options.sequences;
  eo.fuse = options.fuse;
  eo.poison = options.poison;
  LOOM_ASSIGN(s.executor_, Executor::create(std::move(program), weights_of(network), pool, eo));
  const Program& p = s.executor_->program();
  s.rows_ = p.find_register("R");
  s.head_ = p.find_register("L");
  s.input_ = p.find(BufferKind::input, "", network.input().ids > 0 ? "ids" : "x");
  s.output_ = p.find(BufferKind::output, "", "y");
  s.positions_ = p.find(BufferKind::input, "", "positions");
  s.sequences_ = p.find(BufferKind::input, "", "sequences");
  s.head_rows_ = p.find(BufferKind::input, "", "head_rows");
  s.width_ = network.input().width;
  return s;
}

Result<std::span<const float>> Session::run(std::span<const float> x, std::int64_t rows) {
  if (width_ == 0) return Status(Code::invalid_argument, "session: this network takes ids, not values");
  if (rows < 1 || static_cast<std::int64_t>(x.size()) != rows * width_)
    return Status(Code::invalid_argument, "session: expects " + std::to_string(rows) + " rows of " + std::to_string(width_) + " values, got " + std::to_string(x.size()) + " values");
  if (positions_ != kNone) return Status(Code::invalid_argument, "session: this network has attention: give positions with its rows");
  LOOM_TRY(executor_->set(rows_, static_cast<std::uint32_t>(rows)));
  for (std::int64_t r = 0; r < rows; ++r) std::copy_n(x.data() + r * width_, width_, executor_->row<float>(input_, r).begin());
  if (head_ != kNone) {
    LOOM_TRY(executor_->set(head_, static_cast<std::uint32_t>(rows)));
    for (std::int64_t r = 0; r < rows; ++r) executor_->row<std::uint32_t>(head_rows_, r)[0] = static_cast<std::uint32_t>(r);
  }
  LOOM_TRY(executor_->run());
  // Rows are padded to 16 in the arena; the caller gets them through output() when the width is not a multiple.
  return std::span<const float>(executor_->row<float>(output_, 0).data(), static_cast<std::size_t>(executor_->program().buffers[static_cast<std::size_t>(output_)].cols));
}

Status Session::set_tokens(std::span<const std::uint32_t> ids, std::span<const std::uint32_t> sequences, std::span<const std::uint32_t> positions, std::span<const std::uint32_t> head) {
  if (width_ != 0) return Status(Code::invalid_argument, "session: this network takes values, not ids");
  if (ids.empty() || sequences.size() != ids.size() || positions.size() != ids.size())
    return Status(Code::invalid_argument, "session: ids, sequences and positions must have the same length, at least 1");
  LOOM_TRY(executor_->set(rows_, static_cast<std::uint32_t>(ids.size())));
  for (std::size_t r = 0; r < ids.size(); ++r) {
    const auto i = static_cast<std::int64_t>(r);
    executor_->row<std::uint32_t>(input_, i)[0] = ids[r];
    if (positions_ != kNone) executor_->row<std::uint32_t>(positions_, i)[0] = positions[r];
    if (sequences_ != kNone) executor_->row<std::uint32_t>(sequences_, i)[0] = sequences[r];
  }
  if (head_ != kNone) {
    LOOM_TRY(executor_->set(head_, static_cast<std::uint32_t>(head.size())));
    for (std::size_t r = 0; r < head.size(); ++r) executor_->row<std::uint32_t>(head_rows_, static_cast<std::int64_t>(r))[0] = head[r];
  }
  return {};
}

Status Session::run_tokens(std::span<const std::uint32_t> ids, std::span<const std::uint32_t> sequences, std::span<const std::uint32_t> positions, std::span<const std::uint32_t> head) {
  LOOM_TRY(set_tokens(ids, sequences, positions, head));
  return executor_->run();
}

Status Session::run_greedy(std::uint32_t id, std::uint32_t sequence, std::uint32_t position, std::span<std::uint32_t> picked) {
  const std::uint32_t row = 0;
  if (picked.empty() || static_cast<std::int64_t>(position) + static_cast<std::int64_t>(picked.size()) > options_.max_positions)
    return Status(Code::out_of_range, "session: " + std::to_string(picked.size()) + " ids from position " + std::to_string(position) + " on: wants at least one, and at most " + std::to_string(options_.max_positions) + " positions");
  LOOM_TRY(set_tokens({&id, 1}, {&sequence, 1}, {&position, 1}, {&row, 1}));
  return executor_->run_greedy(picked);
}

std::span<const float> Session::output(std::int64_t i) { return executor_->row<float>(output_, i); }

}  // namespace loom
