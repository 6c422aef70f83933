// Target propagation as the seeds have it: each part of a chain has a target t for its activations
// a, and learns to move a by the gap t - a.
//   of the output:    t = a - output_step dL/da
//   of a part before: t = a + gradient_scale J^T (gap of the part behind it), J the derivative of
//                     that part by its input, which its own backward knows
// A part with the target t learns by the gradient -(t - a) of its output. Its budget
// (cos(a, t) + 1) / 2, over the whole batch, scales the rate of its update to
// lr (0.5 + 0.5 budget); below the gate it does not learn in that step.
#include <algorithm>

#include "base/math/exact_math.h"
#include "train/learner/learner.h"

namespace loom {
namespace {

PartReport report_of(const std::string& path, double aa, double ag, double gg, double gate) {
  PartReport report{path, 0.5, 0, true};
  const double tt = aa + 2 * ag + gg;
  if (aa > 0 && tt > 0)
    report.budget = (std::clamp((aa + ag) / exact::sqrt(aa * tt), -1.0, 1.0) + 1) / 2;
  if (gg > 0) report.gap = aa > 0 ? exact::sqrt(gg / aa) : 1;
  report.learned = report.budget >= gate;
  return report;
}

}  // namespace

std::int64_t reach_of(const std::vector<PartReport>& parts) {
  const auto ends = std::find_if(parts.rbegin(), parts.rend(),
                                 [](const PartReport& p) { return !(p.gap >= kReachedGap); });
  return ends - parts.rbegin();
}

Status Learner::emit_target_propagation(ProgramBuilder& emit, NetworkEmitter& emitter, Rows rows) {
  const std::vector<ChainPart>& parts = emitter.parts();
  std::vector<View> a;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    LOOM_ASSIGN(const View y, emitter.forward_part(i));
    a.push_back(y);
  }
  View slope = emit_losses(emit, a.back(), rows);
  if (options_.method.output_step != 1) slope = emit.scale(slope, options_.method.output_step);
  learning_parts_.resize(parts.size());
  for (std::size_t i = parts.size(); i-- > 0;) {
    emit_part_sums(emit, learning_parts_[i], parts[i], a[i], slope);
    LOOM_ASSIGN(const View gx, emitter.backward_part(i, slope));
    if (i == 0) return {};
    if (!gx.valid())
      return Status(Code::unsupported, "training: no gradient reaches what stands before cell " +
                                           parts[i].path + ", so that it has no target");
    slope = emit.scale(gx, options_.method.gradient_scale);
  }
  return {};
}

void Learner::emit_part_sums(ProgramBuilder& emit, LearningPart& learning, const ChainPart& part,
                             View a, View slope) {
  const ValueType type = emit.type(a);
  const View of_rows = emit.temp(type, emit.rows(a), 3);
  const auto put = [&](View x, Reduce kind, std::int64_t col) {
    emit.copy_to(emit.reduce(x, kind, x.cols), ProgramBuilder::slice(of_rows, col, 1));
  };
  put(a, Reduce::sum_square, 0);
  put(emit.mul(a, slope), Reduce::sum, 1);
  put(slope, Reduce::sum_square, 2);
  const std::string path = "method/" + part.path;
  const View sums = emit.buffer(
      {.type = type, .kind = BufferKind::grad, .cols = 3, .path = path, .role = "sums"});
  emit.bias_grad(of_rows, sums, Accumulate::no);
  learning = {part, {path, "sums", nullptr, 1, 3, type, sums}};
}

// The part that a parameter belongs to, by its path.
Learner::LearningPart* Learner::part_of(const std::string& path) {
  const std::string cell = path.substr(0, path.find('/'));
  for (LearningPart& p : learning_parts_)
    for (std::size_t i = p.part.first; i < p.part.end; ++i)
      if (network_->path(i) == cell) return &p;
  return nullptr;
}

void Learner::read_parts() {
  part_reports_.clear();
  for (const LearningPart& p : learning_parts_) {
    double sums[3];
    const BufferId buffer = p.sums.value.buffer;
    if (is_f64(buffer)) std::ranges::copy(executor_->row<double>(buffer, 0), sums);
    else std::ranges::copy(executor_->row<float>(buffer, 0), sums);
    part_reports_.push_back(
        report_of(p.part.path, sums[0], -sums[1], sums[2], options_.method.gate));
  }
}

// Below the gate the rate is 0 and so is the gradient: no weight moves, moments only fade.
void Learner::set_part_rates(double learning_rate, double inv_n) {
  for (std::size_t i = 0; i < part_reports_.size(); ++i) {
    const PartReport& report = part_reports_[i];
    const double on = report.learned ? 1 : 0;
    executor_->set_real(learning_parts_[i].lr, on * learning_rate * (0.5 + 0.5 * report.budget));
    executor_->set_real(learning_parts_[i].inv_n, on * inv_n);
  }
}

}  // namespace loom
