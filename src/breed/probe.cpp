#include "breed/probe.h"

#include <cmath>

#include "base/math/fp_env.h"
#include "base/threads/thread_pool.h"
#include "grid/emit/emitter.h"
#include "ops/executor.h"

namespace loom::breed {
namespace {

constexpr std::int64_t kRows = 3;
constexpr std::int64_t kTicks = 3;  // of a step mesh

Status bad(std::string text) { return {Code::invalid_argument, std::move(text)}; }

template <class T>
bool finite(std::span<const T> row) {
  for (const T v : row)
    if (!std::isfinite(v)) return false;
  return true;
}

bool finite_rows(Executor& executor, View v, std::int64_t rows) {
  const bool f64 =
      executor.program().buffers[static_cast<std::size_t>(v.buffer)].type == ValueType::f64;
  for (std::int64_t r = 0; r < rows; ++r)
    if (!(f64 ? finite<double>(executor.row<double>(v.buffer, r))
              : finite<float>(executor.row<float>(v.buffer, r))))
      return false;
  return true;
}

void fill_input(Executor& executor, const Network& network, BufferId x) {
  const Buffer& buffer = executor.program().buffers[static_cast<std::size_t>(x)];
  const Shape& in = network.input();
  const RandomStream random(1, 7);
  const std::int64_t rows = in.ids > 0 ? kRows * in.count() : kRows;
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t c = 0; c < buffer.cols; ++c) {
      const auto k = static_cast<std::uint64_t>(r * buffer.cols + c);
      const auto at = static_cast<std::size_t>(c);
      const float value = in.has_id_parts() ? 0.0f : normal(random, k);
      if (in.ids > 0)
        executor.row<std::uint32_t>(x, r)[at] =
            static_cast<std::uint32_t>(k % static_cast<std::uint64_t>(in.ids));
      else if (buffer.type == ValueType::f64) executor.row<double>(x, r)[at] = value;
      else executor.row<float>(x, r)[at] = value;
    }
}

Result<Program> inference(Network& network) {
  Program program;
  ProgramBuilder emit(program);
  const Rows rows{1, emit.u32_register("R", kRows), kNone};
  EmitOptions options;
  options.max_positions = 64;
  NetworkEmitter emitter(network, emit, options);
  const View x = emit_input(emit, network, rows);
  LOOM_ASSIGN(const View y, emitter.forward(x));
  if (emit.type(y) != ValueType::f32 && emit.type(y) != ValueType::f64)
    return bad("the network has no layers");
  emit.copy_to(y, emit.output("y", emit.type(y), emit.rows(y), y.cols));
  remove_dead_code(program);
  LOOM_TRY(verify(program));
  return program;
}

bool has_positions(const Program& program) {
  return program.find(BufferKind::input, "", "positions") != kNone;
}

Status run(Network& network, Program program, View out,
           const std::vector<NetworkEmitter::Gradient>& gradients) {
  const FpEnvGuard guard;
  ThreadPool pool(1);
  const auto weights = [&network](std::string_view path, std::string_view role) {
    return network.find(path, role);
  };
  LOOM_ASSIGN(const auto executor, Executor::create(std::move(program), weights, pool));
  const Program& p = executor->program();
  LOOM_TRY(executor->set(p.find_register("R"), kRows));
  fill_input(*executor, network,
             p.find(BufferKind::input, "", network.input().ids > 0 ? "ids" : "x"));
  LOOM_TRY(executor->run(Segment::forward, Segment::backward));
  if (!finite_rows(*executor, out, kRows)) return bad("gives values that are not finite");
  for (const NetworkEmitter::Gradient& g : gradients)
    if (!finite_rows(*executor, g.value, g.rows))
      return bad(g.path + ":" + g.role + ": has gradients that are not finite");
  return {};
}

Status check_learning(Network& network) {
  Program program;
  ProgramBuilder emit(program);
  const Rows rows{1, emit.u32_register("R", kRows), kNone};
  const View x = emit_input(emit, network, rows);
  EmitOptions options;
  options.training = options.learning = true;
  options.max_positions = 64;
  options.steps = network.recurs_over_rows() ? kRows : 0;
  NetworkEmitter emitter(network, emit, options);
  LOOM_ASSIGN(const View y, emitter.forward(x));
  const View out = emit.output("y", emit.type(y), emit.rows(y), y.cols);
  emit.copy_to(y, out);
  emit.set_segment(Segment::backward);
  const View gy = emit.temp(emit.type(y), emit.rows(y), y.cols);
  emit.copy_to(y, gy);  // of the loss y^2 / 2
  LOOM_TRY(emitter.backward(gy));
  const std::vector<NetworkEmitter::Gradient> gradients = emitter.gradients();
  if (gradients.empty()) return bad("no layer has weights that learn");
  remove_dead_code(program);
  LOOM_TRY(verify(program));
  const bool positions = has_positions(program) || network.input().axis == Axis::positions;
  return positions ? Status() : run(network, std::move(program), out, gradients);
}

}  // namespace

Status check_runs(Network& network, bool positions) {
  if (network.step_mesh) {
    LOOM_ASSIGN(Network mesh, network.over_ticks(kTicks, Network::Answers::last_tick));
    return check_learning(mesh);
  }
  LOOM_ASSIGN(const Program program, inference(network));
  if (!positions && has_positions(program)) return bad("a layer needs the positions of rows");
  return check_learning(network);
}

bool needs_positions(Network& network) {
  if (network.step_mesh) return false;
  const auto program = inference(network);
  return program.ok() && has_positions(*program);
}

}  // namespace loom::breed
