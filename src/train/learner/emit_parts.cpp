// The methods that learn part by part (grid/emit/emitter.h): each part of a chain has a loss, or a
// gradient that does not come from the part behind it.
#include "base/message.h"
#include "train/learner/learner.h"

namespace loom {
namespace {

Status no_rows(const ChainPart& part) {
  return Status(Code::unsupported,
                message("training: the part of the network from cell ", part.path,
                        " on hands on rows of another number than the network, "
                        "which a method by parts does not take"));
}

}  // namespace

// A part's values as an output of the network, and the loss of that; returns the gradient of the
// values.
View Learner::emit_projection(ProgramBuilder& emit, const MethodMatrix& m, ValueType type, View h,
                              ValueType out, Rows rows) {
  const View w = MethodMatrices::weight(emit, m, type);
  const View slope =
      emit.convert(emit_local_loss(emit, emit.convert(emit.matmul(w, h), out), rows), type);
  const std::int64_t outputs = m.store->rows(), width = m.store->cols();
  const View gw = emit.buffer({.type = type,
                               .kind = BufferKind::grad,
                               .rows = {outputs},
                               .cols = width,
                               .path = m.path,
                               .role = m.role});
  emit.weight_grad(slope, h, gw, Accumulate::no);
  projections_.push_back({m.path, m.role, m.store.get(), outputs, width, type, gw});
  return emit.matmul_t(w, slope);
}

// A part has learned before the next one begins, so that its activations make room for those of
// the next: segments stand in order, and all of that is the forward one's.
Status Learner::emit_mono_forward(ProgramBuilder& emit, NetworkEmitter& emitter, Rows rows) {
  const std::vector<ChainPart>& parts = emitter.parts();
  const std::size_t last = parts.size() - 1;
  for (std::size_t i = 0; i < last; ++i) {
    LOOM_ASSIGN(const View h, emitter.forward_part(i));
    if (emit.rows(h) != rows) return no_rows(parts[i]);
    const View gh = emit_projection(emit, options_.matrices->all()[i], parts[i].type, h,
                                    parts[last].type, rows);
    LOOM_TRY(emitter.backward_part(i, gh).status());
  }
  LOOM_ASSIGN(const View y, emitter.forward_part(last));
  return emitter.backward_part(last, emit_losses(emit, y, rows)).status();
}

Status Learner::emit_feedback(ProgramBuilder& emit, NetworkEmitter& emitter, Rows rows) {
  const std::vector<ChainPart>& parts = emitter.parts();
  std::vector<View> h;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    LOOM_ASSIGN(const View y, emitter.forward_part(i));
    if (emit.rows(y) != rows) return no_rows(parts[i]);
    h.push_back(y);
  }
  const View gy = emit_losses(emit, h.back(), rows);
  if (options_.method.kind == MethodKind::difference_target_propagation)
    return emit_targets(emit, emitter, h, gy);
  LOOM_TRY(emitter.backward_part(parts.size() - 1, gy).status());
  for (std::size_t i = parts.size() - 1; i-- > 0;) {
    const ValueType type = parts[i].type;
    const View b = MethodMatrices::weight(emit, options_.matrices->all()[i], type);
    LOOM_TRY(emitter.backward_part(i, emit.matmul(b, emit.convert(gy, type))).status());
  }
  return {};
}

// t[last hidden] = h - step dL/dh, t[i] = h[i] + g[i](t[i + 1]) - g[i](h[i + 1]), and the loss of
// part i is the mean of (h[i] - t[i])^2, t a constant. g[i](v) is tanh(B v), or B v where B learns.
Status Learner::emit_targets(ProgramBuilder& emit, NetworkEmitter& emitter, std::vector<View>& h,
                             View gy) {
  const std::vector<ChainPart>& parts = emitter.parts();
  LOOM_ASSIGN(const View gh, emitter.backward_part(parts.size() - 1, gy));
  if (!gh.valid())
    return Status(Code::unsupported,
                  message("training: no gradient reaches what stands before cell ",
                          parts.back().path, ", so that it has no target"));
  std::size_t i = parts.size() - 2;
  View target = emit.add(h[i], emit.scale(gh, -options_.method.step));
  for (;; --i) {
    LOOM_TRY(emitter.backward_part(i, emit.mse_back(h[i], target)).status());
    if (i == 0) return {};
    const ValueType type = parts[i - 1].type;
    const MethodMatrix& m = options_.matrices->all()[i - 1];
    const View w = MethodMatrices::weight(emit, m, type);
    const bool learned = options_.method.feedback == Feedback::learned;
    if (learned) LOOM_TRY(emit_feedback_gradient(emit, emitter, i, m, h));
    const auto g = [&](View v) {
      return emit.activation(emit.matmul(w, emit.convert(v, type)),
                             learned ? Activation::linear : Activation::tanh);
    };
    const View moved = g(target), stood = g(h[i]);
    target = emit.add(h[i - 1], emit.add(moved, emit.scale(stood, -1)));
  }
}

// The local difference reconstruction loss of arXiv 2201.13415, for the part F behind the matrix B,
// with noise e of the deviation s on its input x and n on its output:
//   -e . (B F(x + e) - B F(x)) + |B (F(x) + n) - B F(x)|^2 / 2
// The mean of the second term over n is s^2 |B|^2 / 2, so that no n is drawn. Divided by s^2 the
// gradient is B - e (F(x + e) - F(x)) / s^2, which is 0 where B is the transposed derivative of F:
// emitted is the latter part, over all rows, and emit_feedback_rule has B. Each value of e is s or
// -s, as likely.
Status Learner::emit_feedback_gradient(ProgramBuilder& emit, NetworkEmitter& emitter,
                                       std::size_t part, const MethodMatrix& m,
                                       const std::vector<View>& h) {
  const std::int64_t rows = m.store->rows(), cols = m.store->cols();
  const ValueType type = emitter.parts()[part - 1].type;
  const View x = emit.convert(h[part - 1], type), y = emit.convert(h[part], type),
             g = emit.buffer({.type = type,
                              .kind = BufferKind::grad,
                              .rows = {rows},
                              .cols = cols,
                              .path = m.path,
                              .role = m.role});
  const auto all = [&](double value) {
    const View v = emit.like(x, x.cols);
    emit.fill(v, value);
    return v;
  };
  const std::int64_t draws = options_.method.feedback_draws;
  const double noise = options_.method.feedback_noise;
  for (std::int64_t k = 0; k < draws; ++k) {
    const Noise stream = named_noise(options_.seed, m.path + ":noise" + std::to_string(k),
                                     emit.u32_register("noise", UINT32_MAX));
    const View sign = emit.add(emit.dropout(all(1), stream, 0.5), all(-1));
    LOOM_ASSIGN(const View moved, emitter.part_of(part, emit.add(x, emit.scale(sign, noise))));
    const View by = emit.add(emit.convert(moved, type), emit.scale(y, -1));
    emit.weight_grad(sign, emit.scale(by, -1 / (noise * static_cast<double>(draws))), g,
                     k == 0 ? Accumulate::no : Accumulate::yes);
  }
  projections_.push_back({m.path, m.role, m.store.get(), rows, cols, type, g});
  return {};
}

// B moves by feedback_lr times the mean over the rows of -(B - e (F(x + e) - F(x)) / s^2): the
// second part is the gradient, and B a decay of 1.
void Learner::emit_feedback_rule(ProgramBuilder& emit, const NetworkEmitter::Gradient& g) {
  const View scale = emit.temp(g.type, Rows{}, 1);
  emit.clip_scale({}, scale, 0, emit.f32_register("inv_rows"));
  const View w = emit.buffer({.type = g.type,
                              .kind = BufferKind::master,
                              .rows = {g.rows},
                              .cols = g.cols,
                              .path = g.path,
                              .role = g.role});
  emit.sgd(g.value, scale, w, {}, 0, 1, emit.f32_register("feedback_lr"));
}

}  // namespace loom
