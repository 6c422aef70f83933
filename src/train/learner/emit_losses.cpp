// The losses of a program, what a step reports of them, and their gradients.
#include "train/learner/learner.h"

namespace loom {
namespace {

// A row of logits for each place that has a class, and back.
View by_place(ProgramBuilder& emit, View y, const ClassAxis& axis) {
  const auto [places, classes, first] = axis;
  if (places == 1) return y;
  return first ? emit.transpose(y, {1, 1, 1, classes, places}, {0, 1, 2, 4, 3}, classes)
               : emit.reshape(y, classes);
}
View by_row(ProgramBuilder& emit, View gy, const ClassAxis& axis, std::int64_t cols) {
  const auto [places, classes, first] = axis;
  if (places == 1) return gy;
  return first ? emit.transpose(gy, {1, 1, 1, places, classes}, {0, 1, 2, 4, 3}, cols)
               : emit.reshape(gy, cols);
}

View times(ProgramBuilder& emit, View x, double factor) {
  return factor == 1 ? x : emit.scale(x, factor);
}
// Temperature T: T^2 times the cross-entropy of logits / T, so that gradients keep their size
// (arXiv 1503.02531); the mean over the places of a row.
View soft_loss(ProgramBuilder& emit, const HeadSpec& head, View y, View target) {
  const double t = head.temperature;
  View loss = emit.soft_cross_entropy(times(emit, by_place(emit, y, head.axis), 1 / t),
                                      by_place(emit, target, head.axis));
  if (head.axis.places > 1)
    loss = emit.reduce(emit.reshape(loss, head.axis.places), Reduce::mean, head.axis.places);
  return times(emit, loss, t * t);
}
View soft_slope(ProgramBuilder& emit, const HeadSpec& head, View y, View target) {
  const double t = head.temperature;
  const View g = emit.soft_cross_entropy_back(times(emit, by_place(emit, y, head.axis), 1 / t),
                                              by_place(emit, target, head.axis));
  return by_row(emit, times(emit, g, t / static_cast<double>(head.axis.places)), head.axis, y.cols);
}

View loss_of(ProgramBuilder& emit, const HeadSpec& head, View y, View target) {
  switch (head.loss) {
    case Loss::cross_entropy: return emit.cross_entropy(y, target);
    case Loss::mae: return emit.mae(y, target);
    case Loss::huber: return emit.huber(y, target, head.delta);
    case Loss::bce: return emit.bce(y, target);
    case Loss::soft_cross_entropy: return soft_loss(emit, head, y, target);
    case Loss::mse: break;
  }
  return emit.mse(y, target);
}
View slope_of(ProgramBuilder& emit, const HeadSpec& head, View y, View target) {
  switch (head.loss) {
    case Loss::cross_entropy: return emit.cross_entropy_back(y, target);
    case Loss::mae: return emit.mae_back(y, target);
    case Loss::huber: return emit.huber_back(y, target, head.delta);
    case Loss::bce: return emit.bce_back(y, target);
    case Loss::soft_cross_entropy: return soft_slope(emit, head, y, target);
    case Loss::mse: break;
  }
  return emit.mse_back(y, target);
}

// What a loss of classes sees of a head's columns, and the gradient of them; others see rows.
ClassAxis seen_axis(const HeadSpec& head) {
  return takes_classes(head.loss) ? head.axis : ClassAxis{};
}

}  // namespace

// The one loss of an output without heads.
HeadSpec Learner::only_head(std::int64_t cols) const {
  return {"",
          cols,
          options_.loss,
          options_.delta,
          1,
          takes_logits(options_.loss) ? network_->class_axis() : ClassAxis{},
          options_.temperature};
}

Learner::LossViews Learner::emit_only(ProgramBuilder& emit, View y, Rows rows) const {
  const ValueType type = emit.type(y);
  const HeadSpec only = only_head(y.cols);
  LossViews views{by_place(emit, y, seen_axis(only)), {}, {}};
  rows.constant *= only.places();
  views.target = emit.input("target", takes_classes(only.loss) ? ValueType::i32 : type, rows,
                            takes_classes(only.loss) ? 1 : y.cols);
  if (options_.weighted || !options_.class_weights.empty())
    views.weights = emit.input("weights", type, rows, 1);
  return views;
}

// Of one head. Classes have weights: what is not counted leaves
// the mean to the others (put_head).
Learner::LossViews Learner::emit_head(ProgramBuilder& emit, View y, Rows rows,
                                      std::size_t head) const {
  const HeadSpec& h = options_.heads[head];
  const ValueType type = emit.type(y);
  const bool classes = takes_classes(h.loss);
  const std::string number = std::to_string(head);
  rows.constant *= h.places();
  LossViews views{
      by_place(emit, ProgramBuilder::slice(y, h.column, h.columns), seen_axis(h)), {}, {}};
  views.target =
      emit.input("target" + number, classes ? ValueType::i32 : type, rows, classes ? 1 : h.columns);
  if (classes || options_.weighted) views.weights = emit.input("weights" + number, type, rows, 1);
  return views;
}

std::vector<Learner::LossViews> Learner::emit_heads(ProgramBuilder& emit, View y, Rows rows) {
  const ValueType type = emit.type(y);
  const std::vector<HeadSpec>& heads = options_.heads;
  std::vector<LossViews> views;
  View of_rows, of_places;  // sums of heads with one place a row, row by row, and of the others
  for (std::size_t i = 0; i < heads.size(); ++i) {
    const LossViews v = emit_head(emit, y, rows, i);
    views.push_back(v);
    const View losses = weighed(emit, loss_of(emit, heads[i], v.y, v.target), v.weights);
    const View sum = emit.output("loss" + std::to_string(i), type, Rows{}, 1);
    emit.sum_rows(losses, sum);
    View& total = heads[i].places() == 1 ? of_rows : of_places;
    const View share = emit.scale(heads[i].places() == 1 ? losses : sum, heads[i].weight);
    total = total.valid() ? emit.add(total, share) : share;
  }
  const View all = emit.output("loss", type, Rows{}, 1);
  if (!of_places.valid()) {
    emit.sum_rows(of_rows, all);
    return views;
  }
  if (of_rows.valid()) {
    const View sum = emit.temp(type, Rows{}, 1);
    emit.sum_rows(of_rows, sum);
    of_places = emit.add(of_places, sum);
  }
  emit.copy_to(of_places, all);
  return views;
}

// The gradient of an output of `cols` columns, from what its losses see of it.
View Learner::emit_slopes(ProgramBuilder& emit, const std::vector<LossViews>& views, Rows rows,
                          std::int64_t cols) const {
  const std::vector<HeadSpec>& heads = options_.heads;
  const LossViews& first = views[0];
  if (heads.empty()) {
    const HeadSpec only = only_head(cols);
    View gy = weighed(emit, slope_of(emit, only, first.y, first.target), first.weights);
    if (options_.loss_weight != 1) gy = emit.scale(gy, options_.loss_weight);
    return by_row(emit, gy, seen_axis(only), cols);
  }
  const View gy = emit.temp(emit.type(first.y), rows, cols);
  View sum;  // of the heads with these columns
  for (std::size_t i = 0; i < heads.size(); ++i) {
    const HeadSpec& head = heads[i];
    const LossViews& v = views[i];
    const View slope = weighed(emit, slope_of(emit, head, v.y, v.target), v.weights);
    const View part = emit.scale(by_row(emit, slope, seen_axis(head), head.columns), head.weight);
    sum = head.same_columns ? emit.add(sum, part) : part;
    if (i + 1 == heads.size() || !heads[i + 1].same_columns)
      emit.copy_to(sum, ProgramBuilder::slice(gy, head.column, head.columns));
  }
  return gy;
}

// The losses and what a step reports of them; returns the gradient of the output.
View Learner::emit_losses(ProgramBuilder& emit, View y, Rows rows) {
  emit.set_segment(Segment::loss);
  std::vector<LossViews> views;
  if (options_.heads.empty()) {
    views.push_back(emit_only(emit, y, rows));
    const LossViews& v = views[0];
    const View losses = loss_of(emit, only_head(y.cols), v.y, v.target);
    emit.sum_rows(weighed(emit, losses, v.weights), emit.output("loss", emit.type(y), Rows{}, 1));
  } else {
    views = emit_heads(emit, y, rows);
  }
  emit.set_segment(Segment::backward);
  return emit_slopes(emit, views, rows, y.cols);
}

// The gradient of another output, of which the same losses are taken and not reported.
View Learner::emit_local_loss(ProgramBuilder& emit, View y, Rows rows) const {
  std::vector<LossViews> views;
  if (options_.heads.empty()) views.push_back(emit_only(emit, y, rows));
  for (std::size_t i = 0; i < options_.heads.size(); ++i)
    views.push_back(emit_head(emit, y, rows, i));
  return emit_slopes(emit, views, rows, y.cols);
}

// Each row of x times its weight.
View Learner::weighed(ProgramBuilder& emit, View x, View weights) const {
  if (!weights.valid()) return x;
  return emit.binary(x, weights, Binary::mul, {1, 1, 1, 1, x.cols}, {0, 0, 0, 0, 1}, {},
                     emit.rows(x));
}

}  // namespace loom
