// The methods that learn part by part (grid/emit/emitter.h): each part of a chain has a loss, or a
// gradient that does not come from the part behind it.
#include "train/learner/learner.h"

namespace loom {
namespace {

Status no_rows(const ChainPart& part) {
  return Status(Code::unsupported, "training: the part of the network from cell " + part.path +
                                       " on hands on rows of another number than the network, "
                                       "which a method by parts does not take");
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
// part i is the mean of (h[i] - t[i])^2, t a constant.
Status Learner::emit_targets(ProgramBuilder& emit, NetworkEmitter& emitter, std::vector<View>& h,
                             View gy) {
  const std::vector<ChainPart>& parts = emitter.parts();
  LOOM_ASSIGN(const View gh, emitter.backward_part(parts.size() - 1, gy));
  if (!gh.valid())
    return Status(Code::unsupported, "training: no gradient reaches what stands before cell " +
                                         parts.back().path + ", so that it has no target");
  std::size_t i = parts.size() - 2;
  View target = emit.add(h[i], emit.scale(gh, -options_.method.step));
  for (;; --i) {
    LOOM_TRY(emitter.backward_part(i, emit.mse_back(h[i], target)).status());
    if (i == 0) return {};
    const ValueType type = parts[i - 1].type;
    const View w = MethodMatrices::weight(emit, options_.matrices->all()[i - 1], type);
    const auto g = [&](View v) {
      return emit.activation(emit.matmul(w, emit.convert(v, type)), Activation::tanh);
    };
    const View moved = g(target), stood = g(h[i]);
    target = emit.add(h[i - 1], emit.add(moved, emit.scale(stood, -1)));
  }
}

}  // namespace loom
