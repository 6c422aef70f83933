// loom bench layers: forward and backward of single layers in every dtype and mode. The layers,
// their sizes and their inputs are those of a table that was published for an older engine, so that
// the two can be laid side by side.
#include "bench/bench.h"

#include <algorithm>
#include <cstdio>

#include "base/json/json.h"
#include "base/random.h"
#include "exec/session.h"
#include "grid/emit/emitter.h"
#include "ops/executor.h"
#include "support/console.h"

namespace loom::cli {
namespace {

struct Layer {
  const char *name, *input, *cell;
  std::int64_t rows;
  double macs;   // of a forward pass; a backward pass has twice as many, for dX and dW
  double moved;  // where there are none: values read and written by a forward pass
};
constexpr Layer kLayers[] = {
    {"CNN1", R"({"dims":[3,32]})",
     R"("type":"conv1d","filters":16,"padding":1,"activation":"relu","bias":false)", 8,
     8. * 16 * 32 * 3 * 3, 0},
    {"CNN2", R"({"dims":[3,32,32]})",
     R"("type":"conv2d","filters":8,"padding":1,"activation":"relu","bias":false)", 8,
     8. * 8 * 32 * 32 * 3 * 9, 0},
    {"CNN3", R"({"dims":[3,16,16,16]})",
     R"("type":"conv3d","filters":4,"padding":1,"activation":"relu","bias":false)", 4,
     4. * 4 * 16 * 16 * 16 * 3 * 27, 0},
    {"Dense", R"({"width":1024})", R"("type":"dense","out":512,"activation":"relu","bias":false)",
     8, 8. * 1024 * 512, 0},
    {"LSTM", R"({"dims":[8,16]})", R"("type":"lstm","hidden":32)", 1, 8. * 4 * 32 * (16 + 32), 0},
    {"RNN", R"({"dims":[8,16]})", R"("type":"rnn","hidden":32)", 1, 8. * 32 * (16 + 32), 0},
    // Four projections, then what causal attention of 16 positions multiplies.
    {"MHA", R"({"width":128})", R"("type":"attention","heads":8,"kv_heads":8,"head_dim":16)", 16,
     16. * 4 * 128 * 128 + 8. * 136 * 16 * 2, 0},
    {"SwiGLU", R"({"width":128})", R"("type":"swiglu","hidden":256)", 16, 16. * 3 * 128 * 256, 0},
    {"Embedding", R"({"ids":100})", R"("type":"embedding","out":64)", 8, 0, 2. * 8 * 64},
    {"Residual", R"({"width":128})",
     R"("type":"sequential","layers":[{"type":"activation","activation":"linear"},{"type":"residual"}])",
     8, 0, 3. * 8 * 128},
};

// A layer on its own: forward, as it answers; where it learns, backward, too, from a gradient of
// the output to those of the input and of every parameter.
class Pass {
 public:
  static Result<Pass> create(const Layer& layer, const WeightFormat& format, const BenchMode& how,
                             const std::string& isa, bool learns) {
    Pass pass;
    const std::string topology = std::string(R"({"format":"loom-topology","version":1,"input":)") +
                                 layer.input + R"(,"cells":[{"at":[0,0,0,0],)" + layer.cell + "}]}";
    LOOM_ASSIGN(Network network, Network::from_json(std::string_view(topology)));
    LOOM_TRY(network.initialize(1));
    std::uint64_t stream = 0;
    for (const Network::NamedParam& p : network.params()) {  // matrices of values in -0.1..0.1
      const RandomStream random(1, ++stream);
      if (!p.param->spec.quantized) continue;
      const auto w = p.param->store->mutable_master();
      for (std::size_t i = 0; i < w.size(); ++i) w[i] = 0.2f * random.uniform(i) - 0.1f;
      p.param->store->touch();
    }
    LOOM_TRY(network.morph(format));
    pass.network_ = std::make_unique<Network>(std::move(network));
    Program program;
    ProgramBuilder emit(program);
    const Rows rows{1, emit.u32_register("R", static_cast<std::uint32_t>(layer.rows)), kNone};
    const Shape& in = pass.network_->input();
    const View x = emit_input(emit, *pass.network_, rows);
    NetworkEmitter emitter(*pass.network_, emit,
                           {.training = learns, .learning = learns, .max_positions = 64});
    LOOM_ASSIGN(const View y, emitter.forward(x));
    emit.copy_to(emit.convert(y, ValueType::f32), emit.output("y", ValueType::f32, rows, y.cols));
    if (learns) LOOM_TRY(emit_backward(emit, emitter, rows, y));
    remove_dead_code(program);
    LOOM_ASSIGN(pass.executor_,
                Executor::create(std::move(program), weights_of(*pass.network_), *how.pool,
                                 {.device = how.device, .isa = isa, .fuse = how.mode.fuse}));
    pass.fill(in, layer.rows);
    return pass;
  }

  // The device's work is done when these return: what they read waits for it.
  Status forward() { return executor_->run(Segment::forward, Segment::loss); }
  Status backward() {
    LOOM_TRY(executor_->run(Segment::backward, Segment::backward));
    if (waits_for_ != kNone) executor_->row_bytes(waits_for_, 0);
    return {};
  }

 private:
  static Status emit_backward(ProgramBuilder& emit, NetworkEmitter& emitter, const Rows& rows,
                              const View& y) {
    emit.set_segment(Segment::backward);
    LOOM_TRY(emitter.backward(
        emit.convert(emit.input("gy", ValueType::f32, rows, y.cols), emit.type(y))));
    const View gx = emitter.input_gradient();
    if (gx.valid())
      emit.copy_to(gx, emit.buffer({.type = emit.type(gx),
                                    .kind = BufferKind::grad,
                                    .rows = rows,
                                    .cols = gx.cols,
                                    .path = "input",
                                    .role = "x"}));
    return {};
  }
  void fill(const Shape& in, std::int64_t rows) {
    const Program& p = executor_->program();
    (void)executor_->set(p.find_register("R"), static_cast<std::uint32_t>(rows));
    const auto wave = [](std::int64_t i) { return static_cast<float>(i % 13) * 0.1f - 0.6f; };
    for (std::size_t b = 0; b < p.buffers.size(); ++b) {
      const auto id = static_cast<BufferId>(b);
      const Buffer& buffer = p.buffers[b];
      if (buffer.kind == BufferKind::grad) waits_for_ = id;
      if (buffer.kind != BufferKind::input) continue;
      for (std::int64_t r = 0; r < rows; ++r)
        for (std::int64_t c = 0; c < buffer.cols; ++c) {
          if (buffer.type == ValueType::u32)
            executor_->row<std::uint32_t>(id, r)[static_cast<std::size_t>(c)] =
                static_cast<std::uint32_t>(in.ids > 0 && buffer.role == "ids" ? r * 11 % in.ids
                                           : buffer.role == "positions"       ? r
                                                                              : 0);
          else if (buffer.type == ValueType::f64)
            executor_->row<double>(id, r)[static_cast<std::size_t>(c)] =
                static_cast<double>(wave(r * buffer.cols + c));
          else
            executor_->row<float>(id, r)[static_cast<std::size_t>(c)] = wave(r * buffer.cols + c);
        }
    }
  }
  std::unique_ptr<Network> network_;
  std::unique_ptr<Executor> executor_;
  BufferId waits_for_ = kNone;
};

struct Times {
  double forward = 0, backward = 0;
};

// Median seconds of what is timed; `before` it, something that is not.
template <class Before, class Timed>
Result<double> median_of(int warmups, int repeats, Before before, Timed timed) {
  std::vector<double> seconds;
  for (int i = 0; i < warmups + repeats; ++i) {
    LOOM_TRY(before());
    const Stopwatch watch;
    LOOM_TRY(timed());
    if (i >= warmups) seconds.push_back(watch.seconds());
  }
  return median(seconds);
}

// Forward passes one after another, as of a network that answers; backward passes each after the
// forward pass whose values it reads.
Result<Times> time_of(const Layer& layer, const WeightFormat& format, const BenchMode& how,
                      const std::string& isa, int warmups, int repeats) {
  Times times;
  {
    LOOM_ASSIGN(Pass answers, Pass::create(layer, format, how, isa, false));
    const auto nothing = [] { return Status(); };
    LOOM_ASSIGN(times.forward,
                median_of(warmups, repeats, nothing, [&] { return answers.forward(); }));
  }
  LOOM_ASSIGN(Pass learns, Pass::create(layer, format, how, isa, true));
  LOOM_ASSIGN(times.backward, median_of(
                                  warmups, repeats, [&] { return learns.forward(); },
                                  [&] { return learns.backward(); }));
  return times;
}

}  // namespace

std::vector<std::string> bench_layer_names() {
  std::vector<std::string> names;
  for (const Layer& l : kLayers) names.emplace_back(l.name);
  return names;
}

int bench_layers(const BenchArgs& a) {
  LOOM_OR_EXIT(const BenchModes modes, bench_modes(a), kRefused);
  const int repeats = a.repeats > 0 ? a.repeats : a.quick ? 3 : 30, warmups = a.quick ? 1 : 5;
  Json rows = Json::array();
  if (!a.json && !print("layer     dtype    mode        forward us     rate   backward us     rate "
                        "  (GFLOP/s; GB/s where nothing is multiplied)\n"))
    return kFailed;
  for (const Layer& layer : kLayers) {
    if (!wanted(a.layers, layer.name)) continue;
    for (int d = 0; d < kDTypeCount; ++d) {
      const WeightFormat format = default_format(static_cast<DType>(d));
      const std::string dtype(name(format.dtype));
      if (!wanted(a.dtypes, dtype)) continue;
      for (const BenchMode& how : modes.list) {
        Json row = Json::object();
        row.set("layer", layer.name);
        row.set("dtype", dtype);
        row.set("mode", how.mode.name);
        char line[160];
        int n = std::snprintf(line, sizeof line, "%-9s %-8s %-10s", layer.name, dtype.c_str(),
                              how.mode.name.c_str());
        std::string text(line, static_cast<std::size_t>(n));
        const auto times = time_of(layer, format, how, a.isa, warmups, repeats);
        if (!times.ok() && times.status().code() == Code::unsupported) {  // a device has no f64
          row.set("refused", times.status().message());
          text += "  refused: " + times.status().message() + "\n";
        } else {
          if (!times.ok()) return fail(times.status(), kFailed);
          const double work = layer.macs > 0 ? 2 * layer.macs : 4 * layer.moved,
                       back = layer.macs > 0 ? 2 * work : work;
          const double rates[] = {work / times->forward / 1e9, back / times->backward / 1e9};
          row.set("forward_us", 1e6 * times->forward);
          row.set("backward_us", 1e6 * times->backward);
          row.set("forward_rate", rates[0]);
          row.set("backward_rate", rates[1]);
          row.set("unit", layer.macs > 0 ? "GFLOP/s" : "GB/s");
          n = std::snprintf(line, sizeof line, " %12.1f %8.2f  %12.1f %8.2f\n",
                            1e6 * times->forward, rates[0], 1e6 * times->backward, rates[1]);
          text.append(line, static_cast<std::size_t>(n));
        }
        rows.push(std::move(row));
        if (!a.json && !print(text)) return kFailed;
      }
    }
  }
  if (rows.as_array().empty())
    return fail(Status(Code::invalid_argument, "bench layers: no layer has these names and dtypes"),
                kUsage);
  if (!a.json) return kOk;
  Json figures = Json::object();
  figures.set("repeats", repeats);
  figures.set("warmups", warmups);
  return print_bench("layers", std::move(figures), modes, std::move(rows));
}

}  // namespace loom::cli
