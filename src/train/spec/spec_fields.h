// The keys of each object of a training spec, once: reading, writing, checking, the schema and the
// reference (docs/reference/training-spec.md) follow. A kind comes first: what follows depends on
// it. Checkpoints compare what is written, so a key that came later is written where it is used.
#pragma once

#include "base/fields/fields.h"
#include "train/spec/spec.h"

namespace loom {

template <class V>
void fields(V& v, OptimizerSpec& o) {
  v("type", o.kind,
    {.doc = "`adamw` (arXiv 1711.05101), `adam` (arXiv 1412.6980: `weight_decay` times w is a "
            "part of the gradient), `sgd`, `rmsprop` or `lion` (arXiv 2302.06675)"});
  using K = OptimizerKind;
  const bool sgd = o.kind == K::sgd, rmsprop = o.kind == K::rmsprop, lion = o.kind == K::lion;
  if (sgd || rmsprop)
    v("momentum", o.momentum,
      {.doc = "`sgd`: velocity = momentum * velocity + gradient + weight_decay * w; w -= lr * "
              "velocity. `rmsprop`: the same of the divided gradient",
       .min = 0,
       .below = 1});
  if (sgd)
    v("nesterov", o.nesterov,
      {.doc = "w -= lr * (gradient + weight_decay * w + momentum * "
              "velocity)",
       .written = o.nesterov});
  if (rmsprop) {
    v("alpha", o.alpha,
      {.doc = "v = alpha * v + (1 - alpha) * gradient^2; the gradient is divided "
              "by sqrt(v) + eps",
       .min = 0,
       .below = 1});
    v("centered", o.centered,
      {.doc = "divides by the root of v less the square of the gradient's "
              "mean, not below 0"});
  }
  if (!sgd && !rmsprop) {
    if (lion) v.standard(o.beta2, 0.99);
    v("beta1", o.beta1,
      {.doc = "decay of the first moment; of `lion` the momentum's share in a "
              "step's direction",
       .min = 0,
       .below = 1});
    v("beta2", o.beta2,
      {.doc = "decay of the second moment; of `lion` that of the momentum", .min = 0, .below = 1});
  }
  const bool adam = o.kind == K::adamw || o.kind == K::adam;
  if (adam || rmsprop)
    v("eps", o.eps, {.doc = "added to the root of the second moment", .min = 1e-8, .below = 1});
  if (adam)
    v("uncorrected_eps", o.uncorrected_eps,
      {.doc = "eps is added to the root before that is corrected for its first steps, as Keras "
              "does",
       .written = o.uncorrected_eps});
  v("weight_decay", o.weight_decay,
    {.doc = "of parameters with more than one row; norms and "
            "biases are not decayed, unless by `decay_vectors`",
     .min = 0,
     .below = 1e6});
  v("decay_vectors", o.decay_vectors,
    {.doc = "norms and biases are decayed too, as PyTorch does if nothing else is asked for",
     .written = o.decay_vectors});
  v("clip_norm", o.clip_norm,
    {.doc = "the mean gradient is scaled down to this norm over all "
            "parameters; 0: never",
     .min = 0,
     .below = 1e30});
}

template <class V>
void feedback_fields(V& v, MethodSpec& m) {
  v("step", m.step,
    {.doc = "the target of the last hidden part is its activation less `step` times the "
            "gradient of the loss by it",
     .above = 0,
     .max = 1e6});
  // Not written where they change nothing: a spec of before has the digest it had.
  const bool learned = m.feedback == Feedback::learned;
  v("feedback", m.feedback,
    {.doc = "`fixed`: the feedback matrices stay as they were drawn (arXiv 2212.10352), a target "
            "is a + tanh(B t') - tanh(B a'); `learned`: they learn towards the transposed "
            "derivative of the part (arXiv 2201.13415), and a target is a + B (t' - a')",
     .written = learned});
  const When learns{"feedback", name(m.feedback), "learned"};
  v("feedback_noise", m.feedback_noise,
    {.doc = "what each value of a part's input is moved by, up or down at random, to see how the "
            "part's output moves",
     .above = 0,
     .max = 1e3,
     .only = learns,
     .written = learned});
  v("feedback_draws", m.feedback_draws,
    {.doc = "draws of that noise in each step, for each row: a further forward pass of the hidden "
            "parts each; the matrices learn from their mean",
     .min = 1,
     .max = 64,
     .only = learns,
     .written = learned});
  v("feedback_lr", m.feedback_lr,
    {.doc = "rate of the feedback matrices: the share of the way that a step moves them to the "
            "product of both movements",
     .above = 0,
     .max = 1,
     .only = learns,
     .written = learned});
}

template <class V>
void fields(V& v, MethodSpec& m) {
  v("type", m.kind,
    {.doc = "`back_propagation`, or a method by parts: `mono_forward` (arXiv 2501.09238), "
            "`direct_feedback_alignment` (arXiv 1609.01596), `difference_target_propagation` "
            "(arXiv 1412.7525) or `target_propagation` (as `tween`, too)"});
  if (m.kind == MethodKind::difference_target_propagation) feedback_fields(v, m);
  if (m.kind != MethodKind::target_propagation) return;
  v("mode", m.mode,
    {.doc = "how the target of a part is found from that of the part behind it: `chain_rule`, by "
            "the backward pass of that part, or `layer_wise`, by its weights alone"});
  v("output_step", m.output_step,
    {.doc = "the target of the output is the output less `output_step` times the gradient of the "
            "loss by it; with `mse`, half the number of outputs makes it the label",
     .above = 0,
     .max = 1e6});
  v("gradient_scale", m.gradient_scale,
    {.doc = "the target of a part is its activation and `gradient_scale` times what the backward "
            "pass of the part behind it makes of that part's gap; in a step mesh, where it counts "
            "for each tick back, the default is 1",
     .above = 0,
     .max = 1e6,
     .only = {"mode", name(m.mode), "chain_rule"}});
  v("difference_correction", m.difference_correction,
    {.doc = "the target is a + pull(t') - pull(a') in place of pull(t'), so that it is a where the "
            "part behind it has no gap",
     .only = {"mode", name(m.mode), "layer_wise"}});
  v("activation_slope", m.activation_slope,
    {.doc = "a layer learns by its gap times the slope of its activation, which no target "
            "meets: 1 or 0 of `relu`, 1 - a^2 of `tanh`, a (1 - a) of `sigmoid`; in `dense` layers "
            "and convolutions",
     .only = {"mode", name(m.mode), "layer_wise"},
     .written = m.activation_slope});
  v("gate", m.gate,
    {.doc = "a part whose budget, (cos(activation, target) + 1) / 2, is lower does not learn in "
            "that step; 0: all learn",
     .min = 0,
     .max = 1});
  v("alignment_every", m.alignment_every,
    {.doc = "steps after which, and at the end, the `alignment` of the parts is measured, by a "
            "back-propagation beside the step; 0: never",
     .min = 0,
     .max = 0x1p40,
     .written = m.alignment_every > 0});
}

template <class V>
void fields(V& v, Schedule& s) {
  v("type", s.kind, {.doc = "the course of the rate, see below"});
  using K = ScheduleKind;
  const bool restarts = s.kind == K::cosine_restarts;
  v("lr", s.lr, {.doc = "the highest learning rate", .above = 0, .max = 1e6});
  v("warmup", s.warmup, {.doc = "first steps, in which the rate rises linearly", .min = 0});
  if ((has_end(s.kind) && s.kind != K::one_cycle) || restarts)
    v("floor", s.floor, {.doc = "the rate at the end and after it; at most `lr`", .min = 0});
  if (has_end(s.kind))
    v("steps", s.steps,
      {.doc = "where it ends, warm-up included; 0: the training's last step", .min = 0});
  if (s.kind == K::step || restarts)
    v("every", s.every,
      {.doc = "`step`: steps between two drops; `cosine_restarts`: steps of the "
              "first cosine",
       .min = 1,
       .required = true});
  if (restarts)
    v("multiplier", s.multiplier,
      {.doc = "length of each cosine as a multiple of the one before", .min = 1, .max = 1000});
  if (s.kind == K::multi_step)
    v("milestones", s.milestones,
      {.doc = "steps after the warm-up, ascending, at which the rate "
              "drops",
       .min = 1,
       .required = true});
  if (s.kind == K::step || s.kind == K::multi_step || s.kind == K::exponential)
    v("factor", s.factor, {.doc = "of each drop", .above = 0, .max = 1});
  if (s.kind == K::one_cycle) {
    v("share", s.share, {.doc = "of the steps in which the rate rises", .above = 0, .below = 1});
    v("div", s.div, {.doc = "`lr` / `div` is the first rate", .min = 1, .max = 1e12});
    v("final_div", s.final_div,
      {.doc = "the first rate / `final_div` is the last rate", .min = 1, .max = 1e12});
  }
  if (s.kind == K::polynomial)
    v("power", s.power, {.doc = "of the falling line", .above = 0, .max = 100});
}

template <class V>
void fields(V& v, DataSpec& d) {
  v("type", d.kind, {.doc = "where the samples come from, see below"});
  if (d.kind == DataKind::caller) return;
  v("file", d.file, {.doc = "what holds them; `--data` names another"});
  if (d.kind == DataKind::tokens)
    v("dtype", d.dtype,
      {.doc = "of a bare file of little-endian ids; .npy files say their own",
       .one_of = "u16, u32"});
  if (d.kind == DataKind::tokens || d.kind == DataKind::text)
    v("length", d.length, {.doc = "rows of the longest sequence", .min = 1, .max = INT32_MAX});
  if (d.kind == DataKind::tokens)
    v("document_end", d.document_end,
      {.doc = "the id that ends each document; -1: all ids are one "
              "stream",
       .min = -1,
       .max = INT32_MAX});
  if (d.kind == DataKind::arrays)
    v("targets_file", d.targets_file,
      {.doc = "classes or values of the samples: .npy or idx, also "
              "as .gz",
       .required = true});
  if (d.kind == DataKind::table) {
    v("header", d.header, {.doc = "the first line names the columns"});
    v("separator", d.separator, {.doc = "one character between two cells"});
    v("targets", d.targets, {.doc = "columns to predict, in the order of the network's outputs"});
    v("class", d.class_column, {.doc = "or the column that holds a class number"});
  }
}

template <class V>
void fields(V& v, ValidationSpec& s) {
  v("share", s.share,
    {.doc = "of the samples is held back, picked by `seed`: it is never learned "
            "from; 0: none",
     .min = 0,
     .below = 1});
  v("every", s.every,
    {.doc = "steps between two judgments by what is held back; 0: an epoch. The "
            "last step is judged, too",
     .min = 0,
     .max = INT32_MAX});
  v("patience", s.patience,
    {.doc = "judgments in a row without a lower loss after which training "
            "stops; 0: never",
     .min = 0,
     .max = INT32_MAX});
}

template <class V>
void fields(V& v, QuantizeSpec& q) {
  v("dtype", q.dtype,
    {.doc = "a [format](dtypes.md): `ternary`, `binary`, `i4:row`, "
            "`fp8e4m3:block32`, but f32 and those that are computed in double; "
            "may be left out with `fp8`"});
  v("keep", q.keep,
    {.doc = "cells that stay as they are: `first` and `last` of those with "
            "matrices, or paths (`0.0.0.1`); a matrix that several cells share "
            "stays where one of them does"});
  v("after", q.after,
    {.doc = "steps before it begins, in which the cells are as the topology "
            "says; moments continue. `validation` then keeps the best network of those "
            "after it, and `patience` counts from there",
     .min = 0,
     .max = 0x1p40});
}

template <class V>
void fields(V& v, TicksSpec& s) {
  v("ticks", s.ticks,
    {.doc = "of a row, which holds what arrives at each of them, one behind the other; 0: none, "
            "the network runs as a pass",
     .min = 0,
     .max = 1 << 20,
     .required = true});
  v("answers", s.answers,
    {.doc = "after which ticks the output has targets: one behind the other for `every_tick`",
     .one_of = "every_tick, last_tick"});
  v("truncate", s.truncate,
    {.doc =
         "truncated back-propagation: a row is cut into pieces of this many ticks, and gradients "
         "stay in theirs; 0: they go back to the first tick",
     .min = 0,
     .max = 1 << 20});
}

template <class V>
void fields(V& v, HeadSpec& h) {
  v("name", h.name,
    {.doc = "in reports; its number where there is none. Of a network with several "
            "`outputs`: the name of one"});
  v("columns", h.columns,
    {.doc = "columns of the output that are this head's; 0: those of the "
            "network's output of its name",
     .min = 0,
     .max = INT32_MAX,
     .written = h.columns != 0});
  v("loss", h.loss, {.doc = "as of the spec"});
  v("delta", h.delta,
    {.doc = "of `huber`: where it turns from squares to a line",
     .min = 1e-6,
     .below = 1e12,
     .written = h.delta != 1.0});
  v("temperature", h.temperature,
    {.doc = "of `soft_cross_entropy`: logits are divided by it, and the loss multiplied by its "
            "square",
     .min = 1e-3,
     .max = 1e6,
     .only = {"loss", name(h.loss), "soft_cross_entropy"},
     .written = h.temperature != 1.0});
  v("same_columns", h.same_columns,
    {.doc = "the loss is of the columns of the head before: a second loss of the same values",
     .written = h.same_columns});
  v("weight", h.weight, {.doc = "of its loss in the sum", .min = 0, .below = 1e6});
}

template <class V>
void fields(V& v, AdapterSpec& a) {
  v.standard(a.rank, std::int64_t{8});
  v("rank", a.rank, {.doc = "rows of A; 0: no adapter", .min = 0, .max = 65536});
  v("alpha", a.alpha, {.doc = "the adapter counts alpha / rank", .min = 1e-6, .below = 1e6});
  v("targets", a.targets,
    {.doc = "a list of roles (`q`, `down`, `weight`), of last parts of "
            "module names (`q_proj`), or of single weights (`0.0.1.0/0/1:q`); none: "
            "all but the last cell's"});
}

// The keys of the spec itself, in the order of the reference: what learns from what, by which loss,
// how, and what is seen of it.
template <class V>
void source_fields(V& v, TrainingSpec& t) {
  v("network", t.network, {.doc = "a topology; initial weights come from `seed`"});
  v("network_file", t.network_file, {.doc = "or the file that holds it, relative to the spec"});
  v("base", t.base,
    {.doc = "or a network whose weights training starts from: a language model (a "
            "folder, a file, a name in the local HuggingFace cache, `embedded`) or "
            "an `.entity` file"});
  v("base_dtype", t.base_dtype,
    {.doc = "how the matrices of `base` are held; as they are where "
            "not given"});
  v("data", t.data, {.doc = "what is learned from, see below"});
}

template <class V>
void loss_fields(V& v, TrainingSpec& t) {
  v("loss", t.loss,
    {.doc = "the mean over the columns, with d = y - target. `mse`: d^2. `mae`: abs(d). `huber`: "
            "d^2 / 2 up to abs(d) = `delta`, and `delta` * (abs(d) - `delta` / 2) above. `bce`: "
            "-target log(s) - (1 - target) log(1 - s), s = sigmoid(y), targets in 0..1. "
            "`cross_entropy`: -log softmax(logits)[class]. `soft_cross_entropy`: -sum of p log "
            "softmax(logits / T) * T^2, T = `temperature`, targets p are a probability for each "
            "class. A step's loss is the mean over its "
            "counted rows"});
  v("delta", t.delta,
    {.doc = "of `huber`: where it turns from squares to a line",
     .min = 1e-6,
     .below = 1e12,
     .written = t.delta != 1.0});
  v("temperature", t.temperature,
    {.doc = "of `soft_cross_entropy`: logits are divided by it, and the loss multiplied by its "
            "square",
     .min = 1e-3,
     .max = 1e6,
     .only = {"loss", name(t.loss), "soft_cross_entropy"},
     .written = t.temperature != 1.0});
  v("loss_weight", t.loss_weight,
    {.doc = "gradients are those of the loss times this, as of a "
            "head's `weight`; reports are of the loss itself",
     .above = 0,
     .max = 1e80,
     .written = t.loss_weight != 1});
  v("heads", t.heads, {.doc = "several losses in place of `loss`, see below"});
  v("class_weights", t.class_weights,
    {.doc = "of `cross_entropy`: a list with the weight of each class, or `balanced`: rows / "
            "(classes that occur * rows of the class), see below",
     .names = "balanced"});
  v("ignore", t.ignore,
    {.doc = "the class of rows, steps or pixels that have no target and are "
            "not counted; any other negative class, or one that the network "
            "does not have, is refused by row and value",
     .min = INT32_MIN,
     .max = INT32_MAX,
     .written = t.ignore != kIgnoredClass});
}

template <class V>
void method_fields(V& v, TrainingSpec& t) {
  v("lora", t.lora,
    {.doc = "an adapter learns in the network's place, see below", .written = t.lora.rank > 0});
  v("checkpoint", t.checkpoint,
    {.doc = "what cells keep for backward is computed again there "
            "(gradient checkpointing): less memory, the same bits",
     .written = t.checkpoint});
  v("optimizer", t.optimizer, {.doc = "see below"});
  v("schedule", t.schedule, {.doc = "see below"});
}

template <class V>
void sample_fields(V& v, TrainingSpec& t) {
  v("steps", t.steps, {.doc = "optimizer steps", .min = 0, .max = 0x1p40});
  v("epochs", t.epochs,
    {.doc = "or passes over the data, rounded up to whole steps", .min = 0, .max = INT32_MAX});
  v("batch", t.batch,
    {.doc = "samples per step: sequences of tokens, rows of a table; more than "
            "65536 only where the data has as many",
     .min = 1,
     .max = INT32_MAX});
  v("micro_batches", t.micro_batches,
    {.doc = "equal parts that a step is cut into, to save "
            "memory; must divide `batch`",
     .min = 1,
     .max = 1 << 20});
  v("seed", t.seed,
    {.doc = "of the initial weights, the shuffling, the shifts and the noise of "
            "dropout and Gumbel softmax",
     .min = 0});
  v("shuffle", t.shuffle, {.doc = "each epoch in a new order; false: in the order of the file"});
  v("random_translate", t.random_translate,
    {.doc = "images, inputs of [..., height, width], move by at most this number of pixels up or "
            "down and left or right, drawn anew each time a sample is taken. Pixels that enter "
            "repeat the edge. Validation does not move them",
     .min = 0,
     .max = 1 << 20,
     .written = t.random_translate != 0});
  v("streams", t.streams,
    {.doc = "truncated back-propagation through time: the data is cut into this many lanes of "
            "equal length, each step takes the next window of all, and recurrent layers continue "
            "from the state before (the guide to sequences)",
     .min = 0,
     .max = 1 << 20,
     .written = t.streams != 0});
}

template <class V>
void fields(V& v, TrainingSpec& t) {
  source_fields(v, t);
  loss_fields(v, t);
  method_fields(v, t);
  sample_fields(v, t);
  v("fp8", t.fp8, {.doc = "products in FP8, forward and backward, see below", .written = t.fp8});
  const QuantizeSpec& q = t.quantize;
  v("quantize", t.quantize,
    {.doc = "weights learn in the dtype in which they will run, see below",
     .written = !q.dtype.empty() || !q.keep.empty() || q.after > 0});
  v("step_mesh", t.step_mesh,
    {.doc = "the network runs by ticks, see below", .written = t.step_mesh.ticks > 0});
  if (t.step_mesh.ticks > 0) v.standard(t.method.gradient_scale, 1.0);
  v("method", t.method,
    {.doc = "how gradients are found: the name of a method, or an object with its settings, see "
            "below",
     .written = t.method.kind != MethodKind::back_propagation});
  v("validation", t.validation,
    {.doc = "what is held back to judge by, see below", .written = t.validation.share > 0});
  v("checkpoint_every", t.checkpoint_every,
    {.doc = "steps between checkpoints; 0: one at the end", .min = 0, .max = INT32_MAX});
  v("log_every", t.log_every, {.doc = "steps between reports", .min = 0, .max = INT32_MAX});
}

}  // namespace loom
