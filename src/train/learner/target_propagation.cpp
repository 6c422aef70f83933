// Target propagation as the seeds have it: each part of a chain has a target t for its activations
// a, and learns to move a by the gap t - a.
//   of the output:    t = a - output_step dL/da
//   of a part before: t = a + gradient_scale J^T (gap of the part behind it), J the derivative of
//                     that part by its input, which its own backward knows
// With "mode": layer_wise no derivative passes a layer: the gap of a part before is that of the
// part behind it, brought back by the formulas of layers/pull.h. A part with the target t learns by
// the gradient -(t - a) of its output. Its budget (cos(a, t) + 1) / 2, over the whole batch, scales
// the rate of its update to lr (0.5 + 0.5 budget); below the gate it does not learn in that step.
//
// In a step mesh each cell is a part, and each link a step back of one tick: the target of a cell
// in a tick is a + gradient_scale times the sum of J^T gap over the cells that read it in the next
// one. Its budget is over the batch and all ticks.
#include <algorithm>

#include "base/math/exact_math.h"
#include "base/message.h"
#include "layers/pull.h"
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

Status no_formula(const std::string& what, const std::string& takes) {
  return Status(Code::unsupported, message("training: \"mode\": layer_wise has no formula for ",
                                           what, ": ", takes, "; chain_rule takes every layer"));
}

// Whether a layer and those in it hand on targets as the method says.
Status check_pull(const MethodSpec& method, const Node& node, const std::string& path) {
  for (std::size_t i = 0; i < node.children.size(); ++i)
    LOOM_TRY(check_pull(method, node.children[i], path + "/" + std::to_string(i)));
  if (!node.type) return {};
  const std::string type(node.type->name());
  const std::string place = type + " at " + path;
  const PullRule rule = pull_rule(type);
  if (rule == PullRule::none)
    return no_formula("the target of " + place,
                      "the reference of the method lists the layers "
                      "that it takes");
  const bool moves = type == "flatten" || type == "reshape";
  if (!method.difference_correction && rule != PullRule::passes && type != "dense" && !moves)
    return no_formula(place + " without difference_correction",
                      "it takes dense layers, with activations and dropout behind them");
  if (!method.activation_slope || rule == PullRule::passes) return {};
  static constexpr std::string_view kGated[] = {"gru", "lstm", "rnn", "swiglu"},
                                    kSlopes[] = {"linear", "relu", "tanh", "sigmoid"};
  const bool gated = std::ranges::find(kGated, type) != std::end(kGated);
  Json cell = Json::object();
  node.type->write(*node.config, cell);
  const Json* const kind = cell.find("activation");
  const bool known = !kind || std::ranges::find(kSlopes, kind->as_string()) != std::end(kSlopes);
  if (known && !gated) return {};
  return no_formula("the activation_slope of " + place,
                    "it takes linear, relu, tanh and sigmoid in dense layers and convolutions");
}

bool has_weights(const Node& node) {
  return !node.params.empty() || std::ranges::any_of(node.children, has_weights);
}

}  // namespace

std::int64_t reach_of(const std::vector<PartReport>& parts) {
  const auto ends = std::find_if(parts.rbegin(), parts.rend(),
                                 [](const PartReport& p) { return !(p.gap >= kReachedGap); });
  return ends - parts.rbegin();
}

void set_parts(Json& report, const std::vector<PartReport>& parts) {
  if (parts.empty()) return;
  Json list = Json::array();
  for (const PartReport& p : parts) {
    Json part = Json::object();
    part.set("path", p.path);
    part.set("budget", p.budget);
    part.set("gap", p.gap);
    part.set("learned", p.learned);
    if (p.alignment_step > 0) {
      part.set("alignment", p.alignment);
      part.set("alignment_step", p.alignment_step);
    }
    list.push(std::move(part));
  }
  report.set("parts", std::move(list));
  report.set("reach", reach_of(parts));
}

Status Learner::emit_target_propagation(ProgramBuilder& emit, NetworkEmitter& emitter, Rows rows) {
  const std::vector<ChainPart>& parts = emitter.parts();
  if (options_.method.mode == TargetMode::layer_wise) LOOM_TRY(check_pulls(parts));
  std::vector<View> a;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    LOOM_ASSIGN(const View y, emitter.forward_part(i));
    a.push_back(y);
  }
  View slope = emit_losses(emit, a.back(), rows);
  if (options_.method.output_step != 1) slope = emit.scale(slope, options_.method.output_step);
  learning_parts_.resize(parts.size());
  const bool by_layer = options_.method.mode == TargetMode::layer_wise;
  for (std::size_t i = parts.size(); i-- > 0;) {
    emit_part_sums(emit, learning_parts_[i], parts[i], a[i], slope);
    LOOM_ASSIGN(const View before, emitter.backward_part(i, slope));
    if (i == 0) break;
    if (!before.valid())
      return Status(Code::unsupported,
                    message("training: no gradient reaches what stands before cell ", parts[i].path,
                            ", so that it has no target"));
    slope = by_layer ? before : emit.scale(before, options_.method.gradient_scale);
  }
  return {};
}

// Cells before the first one with weights have a target that nobody needs.
Status Learner::check_pulls(const std::vector<ChainPart>& parts) const {
  for (const ChainPart& part : parts) {
    bool needed = part.first > 0;
    for (std::size_t i = part.first; i < part.end; ++i) {
      const Node& node = network_->node(i);
      needed = needed || has_weights(node);
      if (needed) LOOM_TRY(check_pull(options_.method, node, network_->path(i)));
    }
  }
  return {};
}

void Learner::emit_part_sums(ProgramBuilder& emit, LearningPart& learning, const ChainPart& part,
                             View a, View slope, bool add) {
  const ValueType type = emit.type(a);
  const View of_rows = emit.temp(type, emit.rows(a), 3);
  const auto put = [&](View x, Reduce kind, std::int64_t col) {
    emit.copy_to(emit.reduce(x, kind, x.cols), ProgramBuilder::slice(of_rows, col, 1));
  };
  put(a, Reduce::sum_square, 0);
  put(emit.mul(a, slope), Reduce::sum, 1);
  put(slope, Reduce::sum_square, 2);
  if (add) return emit.bias_grad(of_rows, learning.sums.value, Accumulate::yes);
  const std::string path = "method/" + part.path;
  const View sums = emit.buffer(
      {.type = type, .kind = BufferKind::grad, .cols = 3, .path = path, .role = "sums"});
  emit.bias_grad(of_rows, sums, Accumulate::no);
  learning = {part, {path, "sums", nullptr, 1, 3, type, sums}};
}

void Learner::look_at_cell(void* tick_parts, std::size_t cell, View y, View gradient) {
  const auto& [learner, emit] = *static_cast<TickParts*>(tick_parts);
  const Network& network = *learner->network_;
  if (!has_weights(network.node(cell))) return;
  std::vector<LearningPart>& parts = learner->learning_parts_;
  const auto known =
      std::ranges::find_if(parts, [&](const LearningPart& p) { return p.part.first == cell; });
  const bool add = known != parts.end();
  const ChainPart part{cell, cell + 1, network.path(cell), y.cols, emit->type(y)};
  learner->emit_part_sums(*emit, add ? *known : parts.emplace_back(), part, y, gradient, add);
}

std::size_t Learner::part_of(const std::string& path) const {
  const std::string cell = path.substr(0, path.find('/'));
  const auto has = [&](const LearningPart& p) {
    for (std::size_t i = p.part.first; i < p.part.end; ++i)
      if (network_->path(i) == cell) return true;
    return false;
  };
  return static_cast<std::size_t>(std::ranges::find_if(learning_parts_, has) -
                                  learning_parts_.begin());
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
    if (learning_parts_[i].lr == kNone) continue;  // none of its weights learns
    const double on = report.learned ? 1 : 0;
    executor_->set_real(learning_parts_[i].lr, on * learning_rate * (0.5 + 0.5 * report.budget));
    executor_->set_real(learning_parts_[i].inv_n, on * inv_n);
  }
}

std::vector<double> Learner::alignment(const Learner& other) const {
  std::vector<double> cosines;
  for (std::size_t part = 0; part < learning_parts_.size(); ++part) {
    double ab = 0, aa = 0, bb = 0;
    for (const NetworkEmitter::Gradient& a : gradients_) {
      if (part_of(a.path) != part) continue;
      const auto b = std::ranges::find_if(other.gradients_, [&](const auto& g) {
        return g.path == a.path && g.role == a.role && g.type == a.type;
      });
      if (b == other.gradients_.end()) continue;
      const auto add = [&]<class T>(std::span<T> x, std::span<T> y) {
        for (std::size_t i = 0; i < x.size(); ++i) {
          const double p = static_cast<double>(x[i]), q = static_cast<double>(y[i]);
          ab += p * q, aa += p * p, bb += q * q;
        }
      };
      for (std::int64_t r = 0; r < a.rows; ++r) {
        if (a.type == ValueType::f64)
          add(executor_->row<double>(a.value.buffer, r),
              other.executor_->row<double>(b->value.buffer, r));
        else
          add(executor_->row<float>(a.value.buffer, r),
              other.executor_->row<float>(b->value.buffer, r));
      }
    }
    cosines.push_back(aa > 0 && bb > 0 ? ab / (exact::sqrt(aa) * exact::sqrt(bb)) : 0);
  }
  return cosines;
}

}  // namespace loom
