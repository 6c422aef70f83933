// Target propagation as the seeds have it: each part of a chain has a target t for its activations
// a, and learns to move a by the gap t - a.
//   of the output:    t = a - output_step dL/da
//   of a part before: t = a + gradient_scale J^T (gap of the part behind it), J the derivative of
//                     that part by its input, which its own backward knows
// With "mode": layer_wise no derivative is taken: pull(v) = W^T v / (column sums of |W|), and
//   of a part before: t = a + pull(t') - pull(a'), or t = pull(t') without difference_correction
// where t' and a' are those of the part behind it, a dense layer with the weights W. Columns whose
// sum of |W| is at most 0.01 pull none: t = a.
// A part with the target t learns by the gradient -(t - a) of its output. Its budget
// (cos(a, t) + 1) / 2, over the whole batch, scales the rate of its update to
// lr (0.5 + 0.5 budget); below the gate it does not learn in that step.
//
// In a step mesh each cell is a part, and each link a step back of one tick: the target of a cell
// in a tick is a + gradient_scale times the sum of J^T gap over the cells that read it in the next
// one. Its budget is over the batch and all ticks.
#include <algorithm>

#include "base/math/exact_math.h"
#include "train/learner/learner.h"

namespace loom {
namespace {

constexpr double kMinPull = 0.01;  // sums of |w| up to it pull no target

PartReport report_of(const std::string& path, double aa, double ag, double gg, double gate) {
  PartReport report{path, 0.5, 0, true};
  const double tt = aa + 2 * ag + gg;
  if (aa > 0 && tt > 0)
    report.budget = (std::clamp((aa + ag) / exact::sqrt(aa * tt), -1.0, 1.0) + 1) / 2;
  if (gg > 0) report.gap = aa > 0 ? exact::sqrt(gg / aa) : 1;
  report.learned = report.budget >= gate;
  return report;
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
    View before;
    if (by_layer) {
      LOOM_ASSIGN(before, emit_layer(emit, emitter, i, slope, a));
    } else {
      LOOM_ASSIGN(before, emitter.backward_part(i, slope));
    }
    if (i == 0) break;
    if (!before.valid())
      return Status(Code::unsupported, "training: no gradient reaches what stands before cell " +
                                           parts[i].path + ", so that it has no target");
    slope = by_layer ? before : emit.scale(before, options_.method.gradient_scale);
  }
  std::ranges::reverse(projections_);
  return {};
}

// The cell of a part's dense layer. What else is in the part must hand a target on as it is.
Result<std::size_t> Learner::dense_of(const ChainPart& part, bool first) const {
  static constexpr std::string_view kPassing[] = {"dropout",    "flatten", "reshape",    "unary",
                                                  "activation", "softmax", "log_softmax"};
  std::size_t dense = part.end;
  for (std::size_t i = part.first; i < part.end; ++i) {
    const Node& node = network_->node(i);
    const bool here = network_->path(i) == part.path;
    if (here) dense = i;
    if (!node.type || (here && node.type->name() == "dense")) continue;
    const bool before = first && dense == part.end && node.params.empty() && node.children.empty();
    if (before || std::ranges::find(kPassing, node.type->name()) != std::end(kPassing)) continue;
    return Status(Code::unsupported,
                  "training: \"mode\": layer_wise has no formula for the target of " +
                      std::string(node.type->name()) + " at " + network_->path(i) +
                      ": it takes dense layers, with activations and dropout behind them; "
                      "chain_rule takes every layer");
  }
  return dense;
}

Result<View> Learner::emit_layer(ProgramBuilder& emit, const NetworkEmitter& emitter, std::size_t i,
                                 View slope, const std::vector<View>& a) {
  LOOM_ASSIGN(const std::size_t cell, dense_of(emitter.parts()[i], i == 0));
  const Node& node = network_->node(cell);
  if (!node.enabled) return slope;
  const View input = emitter.input_of(cell);
  const ValueType type = emit.type(input);
  const std::int64_t in = node.in.width, out = node.params[0].store->rows();
  const auto by_place = [&](View v, std::int64_t cols) {
    return emit.reshape(emit.convert(v, type), cols);
  };
  slope = by_place(slope, out);
  emit_outer(emit, node, network_->path(cell), by_place(input, in), slope);
  if (i == 0) return View{};
  const View before = emit_pull(emit, node, network_->path(cell), slope, by_place(a[i], out),
                                by_place(a[i - 1], in));
  return emit.convert(emit.reshape(before, a[i - 1].cols), emit.type(a[i - 1]));
}

void Learner::emit_outer(ProgramBuilder& emit, const Node& node, const std::string& path, View x,
                         View slope) {
  for (std::size_t i = node.params.size(); i-- > 0;) {
    const Param& p = node.params[i];
    const std::int64_t n = p.store->rows(), cols = p.store->cols();
    const View g = emit.buffer({.type = emit.type(x),
                                .kind = BufferKind::grad,
                                .rows = {n},
                                .cols = cols,
                                .path = path,
                                .role = p.spec.role});
    if (i == 0) emit.weight_grad(slope, x, g, Accumulate::no);
    else emit.bias_grad(slope, g, Accumulate::no);
    projections_.push_back({path, p.spec.role, p.store.get(), n, cols, emit.type(x), g});
  }
}

View Learner::emit_pull(ProgramBuilder& emit, const Node& node, const std::string& path, View slope,
                        View a, View a_before) const {
  const WeightStore& store = *node.params[0].store;
  const std::int64_t out = store.rows(), in = store.cols();
  const ValueType type = emit.type(slope);
  const View w = emit.weight(path, node.params[0].spec.role, out, in, store.format(), type);
  // The rows of W as values: their columns' sums of |w|, of 1 row.
  const View rows = emit.steps({out}, out);
  const auto row = [&] { return emit.temp(type, Rows{}, in); };
  const View sums = row(), limit = row();
  emit.bias_grad(emit.unary(emit.gather(w, rows), Unary::abs), sums, Accumulate::no);
  emit.fill(limit, kMinPull);
  const auto both = [&](View x, View y, Binary kind) {
    return emit.binary(x, y, kind, {1, 1, 1, 1, in}, {0, 0, 0, 0, 1}, {0, 0, 0, 0, 1}, Rows{});
  };
  const View pulls = both(sums, limit, Binary::greater),
             share = both(pulls, both(sums, limit, Binary::max), Binary::div);
  const auto pull = [&](View v) { return emit.channel_affine(emit.matmul_t(w, v), share, {}, 1); };
  if (options_.method.difference_correction) return pull(slope);
  const View target = pull(emit.add(a, emit.scale(slope, -1)));
  return emit.add(emit.channel_affine(a_before, pulls, {}, 1), emit.scale(target, -1));
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
