#include "train/learner/learner.h"

#include <algorithm>

#include "base/json/json.h"
#include "base/message.h"
#include "exec/session.h"
#include "grid/metacognition/act.h"

namespace loom {
namespace {

Status bad(std::string what) {
  return Status(Code::invalid_argument, message("training: ", std::move(what)));
}

// Powers by repeated squaring: the same bits on every target.
double power(double base, std::int64_t n) {
  double r = 1;
  for (; n > 0; n >>= 1, base *= base)
    if (n & 1) r *= base;
  return r;
}

Status check(const LearnerOptions& options) {
  if (options.max_rows < 1 || options.max_rows > INT32_MAX)
    return bad("max_rows must be in 1..2^31-1");
  if (options.micro_batches < 1 || options.micro_batches > (1 << 20))
    return bad("micro_batches must be in 1..2^20");
  if (options.optimizer.eps < 1e-8)
    return bad("eps must be at least 1e-8: smaller ones drown in what portable f32 flushes to 0");
  return {};
}

// Norms and biases of a cell that computes in double learn in double too, and in single again in
// one that does not, where that loses nothing. `g`: a gradient or an average.
template <class G>
Status match_master(const G& g) {
  const bool f64 = g.type == ValueType::f64;
  if (!g.store->has_master() || g.store->master_is_f64() == f64) return {};
  if (f64 && g.store->rows() == 1) LOOM_TRY(g.store->morph({.dtype = DType::f64}));
  if (!f64 && g.store->format().dtype == DType::f64) LOOM_TRY(g.store->morph({}));
  if (g.store->master_is_f64() == f64) return {};
  return bad(
      message("parameter ", g.path, ":", g.role,
              (f64 ? " learns in f64 with its cell, its master is f32: morph the whole cell"
                   : " learns in f32, its master holds f64 values: narrow_master() rounds them")));
}

// What learns by a rule of its own, whatever the optimizer.
bool is_feedback(const NetworkEmitter::Gradient& g) { return g.role == MethodMatrix::kFeedback; }

ExecutorOptions executor_options(const LearnerOptions& options) {
  ExecutorOptions eo;
  eo.device = options.device;
  eo.isa = options.isa;
  eo.fuse = options.fuse;
  // Smaller blocks copy the weight's panels more often: 2 % of a step of a model with 135 million
  // weights, where 128 rows cost nothing that shows.
  if (options.block_rows) eo.block_rows = options.recompute ? 64 : 128;
  eo.poison = options.poison;
  eo.cancel = options.cancel;
  return eo;
}

// The gradient of logits lies in their place where no instruction behind it reads them: of a large
// vocabulary they are most of what a step keeps. What other methods learn by, and what is observed,
// stays where it is looked for.
void replace_logits(Program& program, MethodKind method) {
  const auto found = std::ranges::find(program.code, Op::cross_entropy_back, &Instruction::op);
  if (method != MethodKind::back_propagation || found == program.code.end()) return;
  const BufferId x = found->operands[0].buffer, g = found->operands[2].buffer;
  const Buffer &logits = program.buffers[static_cast<std::size_t>(x)],
               &gradient = program.buffers[static_cast<std::size_t>(g)];
  const auto uses = [](auto begin, auto end, BufferId b) {
    return std::any_of(begin, end, [&](const Instruction& ins) {
      return std::ranges::find(ins.operands, b, &View::buffer) != ins.operands.end();
    });
  };
  if (x == g || logits.kind != BufferKind::temp || gradient.kind != BufferKind::temp ||
      logits.cols != gradient.cols || logits.rows != gradient.rows ||
      found->operands[0].cols != logits.cols || uses(found + 1, program.code.end(), x) ||
      uses(program.code.begin(), found, g))
    return;
  for (Instruction& ins : program.code)
    for (View& v : ins.operands)
      if (v.buffer == g) v.buffer = x;
}

}  // namespace

Result<Learner> Learner::create(Network& network, ThreadPool& pool, const LearnerOptions& options) {
  LOOM_TRY(check(options));
  Learner learner;
  learner.network_ = &network;
  learner.pool_ = &pool;
  learner.options_ = options;
  const bool by_ticks = network.ticks() > 0;
  if (options.method.kind != MethodKind::back_propagation && !options.matrices && !by_ticks) {
    LOOM_ASSIGN(learner.options_.matrices,
                MethodMatrices::create(network, options.method.kind, options.seed));
  }
  Program program;
  ProgramBuilder emit(program);
  if (options.fp8) emit.round_products_to_fp8();
  if (network.recurs_over_rows()) learner.packed_ = options.max_positions;
  const std::int64_t packed = std::max<std::int64_t>(learner.packed_, 1),
                     max = (options.max_rows + packed - 1) / packed;
  const Rows rows{packed, emit.u32_register("R", static_cast<std::uint32_t>(max)), kNone};
  const View x = emit_input(emit, network, rows);
  TickParts tick_parts{&learner, &emit};
  NetworkEmitter emitter(network, emit,
                         {.training = true,
                          .learning = true,
                          .seed = options.seed,
                          .max_positions = options.max_positions,
                          .sequences = options.streams > 0 ? 2 * options.streams : 1,
                          .steps = learner.packed_,
                          .streams = options.streams > 0,
                          .adapter = options.adapter.get(),
                          .pulls = by_ticks ? Pulls{} : learner.pulls(),
                          .recompute = options.recompute,
                          .truncate = options.truncate,
                          .handed_back = by_ticks ? learner.handed_back() : 1,
                          .look = by_ticks ? learner.look() : nullptr,
                          .looker = &tick_parts,
                          .record = options.taps.on,
                          .record_nested = options.taps.nested});
  LOOM_TRY(learner.emit_passes(emit, emitter, x, rows));
  if (options.micro_batches > 1) learner.emit_merge(program, emit);
  if (options.fp8) learner.emit_squares(emit);
  if (options.update) learner.emit_update(emit);
  for (const auto& [name, state] : emitter.states())
    learner.moments_.push_back({name, state.buffer, 2 * options.streams, state.cols, true});
  const std::vector<View> taps = learner.plan_taps(emit, emitter);
  remove_dead_code(program);
  if (taps.empty() && !by_ticks) replace_logits(program, options.method.kind);

  LOOM_ASSIGN(learner.executor_, Executor::create(std::move(program), learner.weights(), pool,
                                                  executor_options(options)));
  learner.find_buffers();
  if (!taps.empty()) learner.taps_ = std::make_unique<Taps>(*learner.executor_, taps, kNone);
  learner.tap(false);
  learner.set_loss_scale(1);
  learner.width_ = network.input().width;
  learner.classes_ = network.class_axis();
  learner.target_width_ = network.output().width;
  if (!options.heads.empty()) learner.target_width_ = 0;
  for (const HeadSpec& head : learner.options_.heads) learner.target_width_ += head.targets();
  return learner;
}

// Of the network, its adapter, and the method's matrices.
WeightLookup Learner::weights() const {
  WeightLookup lookup = weights_of(*network_, options_.adapter);
  if (!options_.matrices) return lookup;
  return [lookup, matrices = options_.matrices](std::string_view path, std::string_view role) {
    WeightStore* const own = matrices->find(path, role);
    return own ? own : lookup(path, role);
  };
}

Status Learner::emit_back_propagation(ProgramBuilder& emit, NetworkEmitter& emitter, View x,
                                      Rows rows) {
  LOOM_ASSIGN(const View y, emitter.forward(x));
  if (emit.type(y) != ValueType::f32 && emit.type(y) != ValueType::f64)
    return bad("the network has no layers");
  LOOM_TRY(resolve_heads(*network_, options_.heads));
  View gy = emit_losses(emit, y, rows);
  if (options_.method.kind == MethodKind::target_propagation)
    gy = emit.scale(gy, options_.method.output_step);
  if (options_.fp8)
    gy = emit.channel_affine(
        gy, emit.convert(emit.input("loss_scale", ValueType::f32, Rows{}, 1), emit.type(gy)), {},
        gy.cols);
  return emitter.backward(gy);
}

Status Learner::emit_passes(ProgramBuilder& emit, NetworkEmitter& emitter, View x, Rows rows) {
  const MethodKind method = options_.method.kind;
  if (method == MethodKind::back_propagation || network_->ticks() > 0) {
    LOOM_TRY(emit_back_propagation(emit, emitter, x, rows));
  } else {
    if (const std::string frozen = frozen_layer(*network_); !frozen.empty())
      return bad(message("the metacognition at ", frozen, " is frozen, and the method \"",
                         name(method), "\" learns every part: unfreeze it, or use ",
                         "back_propagation"));
    LOOM_TRY(resolve_heads(*network_, options_.heads));
    LOOM_TRY(emitter.begin_parts(x));
    LOOM_TRY(method == MethodKind::mono_forward ? emit_mono_forward(emit, emitter, rows)
             : method == MethodKind::target_propagation
                 ? emit_target_propagation(emit, emitter, rows)
                 : emit_feedback(emit, emitter, rows));
  }
  // By ticks backward came to the last cells first.
  std::ranges::sort(learning_parts_, {}, [](const LearningPart& p) { return p.part.first; });
  if (!emitter.shared_state().empty())
    return bad(
        message("the layer at ", emitter.shared_state(), " runs in several places, and in ",
                "\"streams\" would have one state for all: give each place a layer of its own"));
  gradients_ = emitter.gradients();
  gradients_.insert(gradients_.end(), projections_.begin(), projections_.end());
  if (!options_.adapter) averages_ = emitter.averages();
  for (const NetworkEmitter::Gradient& g : gradients_) LOOM_TRY(match_master(g));
  for (const NetworkEmitter::Average& a : averages_) LOOM_TRY(match_master(a));
  return {};
}

void Learner::emit_merge(Program& program, ProgramBuilder& emit) {
  const RegisterId micro =
      emit.u32_register("micro", static_cast<std::uint32_t>(options_.micro_batches - 1));
  for (NetworkEmitter::Gradient& g : gradients_) emit_merge_of(program, emit, g, micro);
  for (LearningPart& p : learning_parts_) emit_merge_of(program, emit, p.sums, micro);
}

// A micro-batch's gradient becomes a temporary; the pending sums and the total survive.
void Learner::emit_merge_of(Program& program, ProgramBuilder& emit, NetworkEmitter::Gradient& g,
                            RegisterId micro) {
  program.buffers[static_cast<std::size_t>(g.value.buffer)].kind = BufferKind::temp;
  const View levels = emit.buffer({.type = g.type,
                                   .kind = BufferKind::grad,
                                   .rows = {merge_levels(options_.micro_batches) * g.rows},
                                   .cols = g.cols,
                                   .path = g.path,
                                   .role = g.role + "/levels"});
  const View total = emit.buffer({.type = g.type,
                                  .kind = BufferKind::grad,
                                  .rows = {g.rows},
                                  .cols = g.cols,
                                  .path = g.path,
                                  .role = g.role + "/total"});
  emit.grad_merge(g.value, levels, total, options_.micro_batches, micro);
  g.value = total;
}

void Learner::emit_squares(ProgramBuilder& emit) {
  const View squares = emit.output("gradient_squares", ValueType::f32, Rows{}, 1);
  bool any = false;
  for (const NetworkEmitter::Gradient& g : gradients_) {
    if (g.type != ValueType::f32) continue;
    emit.sum_squares(g.value, squares, any ? Accumulate::yes : Accumulate::no);
    any = true;
  }
  if (!any) emit.fill(squares, 0);
}

void Learner::find_buffers() {
  const Program& p = executor_->program();
  rows_ = p.find_register("R");
  micro_ = p.find_register("micro");
  noise_ = p.find_register("noise");
  lr_ = p.find_register("lr");
  inv_n_ = p.find_register("inv_n");
  inv_rows_ = p.find_register("inv_rows");
  feedback_lr_ = p.find_register("feedback_lr");
  correction1_ = p.find_register("correction1");
  correction2_ = p.find_register("correction2");
  x_ = p.find(BufferKind::input, "", network_->input().ids > 0 ? "ids" : "x");
  target_ = p.find(BufferKind::input, "", "target");
  weights_ = p.find(BufferKind::input, "", "weights");
  positions_ = p.find(BufferKind::input, "", "positions");
  sequences_ = p.find(BufferKind::input, "", "sequences");
  next_sequences_ = p.find(BufferKind::input, "", "next_sequences");
  goes_on_ = p.find(BufferKind::input, "", "goes_on");
  loss_ = p.find(BufferKind::output, "", "loss");
  scale_ = p.find(BufferKind::input, "", "loss_scale");
  squares_ = p.find(BufferKind::output, "", "gradient_squares");
  for (std::size_t i = 0; i < options_.heads.size(); ++i) {
    const std::string number = std::to_string(i);
    head_targets_.push_back(p.find(BufferKind::input, "", "target" + number));
    head_losses_.push_back(p.find(BufferKind::output, "", "loss" + number));
    head_weights_.push_back(p.find(BufferKind::input, "", "weights" + number));
  }
}

// The squared norm of all gradients of a type in path order; invalid where there are none.
View Learner::emit_norm(ProgramBuilder& emit, ValueType type) {
  View total;
  for (const NetworkEmitter::Gradient& g : gradients_) {
    if (g.type != type || is_feedback(g)) continue;
    const bool first = !total.valid();
    if (first) total = emit.temp(type, Rows{}, 1);
    emit.sum_squares(g.value, total, first ? Accumulate::no : Accumulate::yes);
  }
  return total;
}

// The optimizer's rule for one parameter.
void Learner::emit_rule(ProgramBuilder& emit, const NetworkEmitter::Gradient& g, View scale,
                        RegisterId lr) {
  const OptimizerSpec& spec = options_.optimizer;
  auto state = [&](const char* moment) {
    const View v = emit.state(g.path, g.role + ":" + moment, g.type, {g.rows}, g.cols);
    moments_.push_back({g.path + ":" + g.role + ":" + moment, v.buffer, g.rows, g.cols});
    return v;
  };
  const View w = emit.buffer({.type = g.type,
                              .kind = BufferKind::master,
                              .rows = {g.rows},
                              .cols = g.cols,
                              .path = g.path,
                              .role = g.role});
  const double decay = g.rows > 1 || spec.decay_vectors ? spec.weight_decay : 0;
  switch (spec.kind) {
    case OptimizerKind::sgd:
      if (spec.nesterov)
        emit.sgd_nesterov(g.value, scale, w, state("velocity"), spec.momentum, decay, lr);
      else
        emit.sgd(g.value, scale, w, spec.momentum != 0 ? state("velocity") : View{}, spec.momentum,
                 decay, lr);
      break;
    case OptimizerKind::adamw:
    case OptimizerKind::adam: {
      const View m = state("m"), v = state("v");
      const RegisterId correction1 = emit.f32_register("correction1"),
                       correction2 = emit.f32_register("correction2");
      const bool coupled = spec.kind == OptimizerKind::adam;
      if (coupled || spec.uncorrected_eps)
        emit.adam(g.value, scale, w, m, v, coupled, spec.uncorrected_eps, spec.beta1, spec.beta2,
                  spec.eps, decay, lr, correction1, correction2);
      else
        emit.adamw(g.value, scale, w, m, v, spec.beta1, spec.beta2, spec.eps, decay, lr,
                   correction1, correction2);
      break;
    }
    case OptimizerKind::rmsprop: {
      const View v = state("v"), mean = spec.centered ? state("mean") : View{},
                 velocity = spec.momentum != 0 ? state("velocity") : View{};
      emit.rmsprop(g.value, scale, w, v, mean, velocity, spec.alpha, spec.eps, spec.momentum, decay,
                   lr);
      break;
    }
    case OptimizerKind::lion:
      emit.lion(g.value, scale, w, state("m"), spec.beta1, spec.beta2, decay, lr);
      break;
  }
}

// The rate and the scale of every gradient: 1/N, and the clip factor of the norm over all gradients
// of its type. In target_propagation each part has its own 1/N and rate.
void Learner::emit_rules(ProgramBuilder& emit) {
  View norms[2], scales[2];
  if (options_.optimizer.clip_norm > 0)
    for (const ValueType type : {ValueType::f32, ValueType::f64})
      norms[type == ValueType::f64] = emit_norm(emit, type);
  const auto scale_of = [&](ValueType type, RegisterId inv_n) {
    const View scale = emit.temp(type, Rows{}, 1);
    emit.clip_scale(norms[type == ValueType::f64], scale, options_.optimizer.clip_norm, inv_n);
    return scale;
  };
  const RegisterId lr = emit.f32_register("lr"), inv_n = emit.f32_register("inv_n");
  for (const NetworkEmitter::Gradient& g : gradients_) {
    if (is_feedback(g)) {
      emit_feedback_rule(emit, g);
      continue;
    }
    const std::size_t at = part_of(g.path);
    LearningPart* const part = at < learning_parts_.size() ? &learning_parts_[at] : nullptr;
    View& scale = (part ? part->scales : scales)[g.type == ValueType::f64];
    if (part && part->lr == kNone) {
      part->lr = emit.f32_register("lr of " + part->part.path);
      part->inv_n = emit.f32_register("inv_n of " + part->part.path);
    }
    if (!scale.valid()) scale = scale_of(g.type, part ? part->inv_n : inv_n);
    emit_rule(emit, g, scale, part ? part->lr : lr);
  }
}

void Learner::emit_update(ProgramBuilder& emit) {
  emit.set_segment(Segment::update);
  emit_rules(emit);
  for (const NetworkEmitter::Average& a : averages_)
    emit.moving_average(a.value,
                        emit.buffer({.type = a.type,
                                     .kind = BufferKind::master,
                                     .cols = a.store->cols(),
                                     .path = a.path,
                                     .role = a.role}),
                        a.momentum);
}

Status Learner::rows(std::int64_t n) {
  if (n < 1 || n > options_.max_rows)
    return bad(message("a micro-batch has 1..", options_.max_rows, " rows, got ", n));
  // The variance of one value is 0: everything becomes 0, and no gradient passes.
  for (const NetworkEmitter::Average& a : averages_)
    if (a.places * n == 1)
      return bad(
          message("batch_norm of cell ", a.path, " takes statistics of a micro-batch's rows, ",
                  "and this one has 1 row with 1 value per channel: it needs 2 rows or more ",
                  "(\"batch\" over \"micro_batches\")"));
  // Rows of values are samples of their own: attention sees a sequence of one position.
  const bool stream = options_.streams > 0;
  if (width_ > 0 && stream && given_positions_.size() != static_cast<std::size_t>(n))
    return bad(
        message("a stream has a position for each of ", n, " rows, got ", given_positions_.size()));
  if (width_ > 0 && positions_ != kNone)
    for (std::int64_t r = 0; r < n; ++r)
      put_window(r, stream ? given_positions_[static_cast<std::size_t>(r)] : 0);
  given_rows_ = n * std::max<std::int64_t>(packed_, 1);
  return executor_->set(rows_, static_cast<std::uint32_t>(n));
}

// Where a row stands, or the window of a stream: in the lanes' states, half of which are those that
// the step begins with, and half those that it leaves.
void Learner::put_window(std::int64_t window, std::uint32_t position) {
  if (positions_ != kNone) executor_->row<std::uint32_t>(positions_, window)[0] = position;
  const auto state = [&](BufferId buffer, bool second) {
    if (buffer == kNone) return;
    const std::int64_t row = lane_ + window + (second ? options_.streams : 0);
    executor_->row<std::uint32_t>(buffer, window)[0] = static_cast<std::uint32_t>(row);
  };
  state(sequences_, odd_);
  state(next_sequences_, !odd_);
}

template <class T>
Result<std::int64_t> Learner::put(std::span<const T> x) {
  const auto n = width_ == 0 ? 0 : static_cast<std::int64_t>(x.size()) / width_;
  if (n == 0 || static_cast<std::int64_t>(x.size()) != n * width_)
    return bad(message("the network takes ", network_->input().to_string(), ", got ", x.size(),
                       " values"));
  LOOM_TRY(network_->input().check_ids(x));
  LOOM_TRY(rows(n));
  for (std::int64_t r = 0; r < n; ++r)
    put_row(x_, r,
            x.subspan(static_cast<std::size_t>(r * width_), static_cast<std::size_t>(width_)));
  return n;
}

bool Learner::is_f64(BufferId buffer) const {
  return executor_->program().buffers[static_cast<std::size_t>(buffer)].type == ValueType::f64;
}
// Of a program that takes f32 or f64 there.
template <class T>
void Learner::put_row(BufferId buffer, std::int64_t row, std::span<const T> values) {
  const auto put = [&]<class To>(std::span<To> to) {
    std::transform(values.begin(), values.end(), to.begin(),
                   [](T v) { return static_cast<To>(v); });
  };
  if (is_f64(buffer)) put(executor_->row<double>(buffer, row));
  else put(executor_->row<float>(buffer, row));
}
// As the program has it then.
double Learner::put_weight(BufferId buffer, std::int64_t row, double weight) {
  if (!is_f64(buffer)) weight = static_cast<double>(static_cast<float>(weight));
  put_row<double>(buffer, row, {&weight, 1});
  return weight;
}
Status Learner::check_ids(std::span<const std::uint32_t> ids) const {
  const std::int64_t known = network_->input().ids;
  for (std::size_t i = 0; i < ids.size(); ++i)
    if (ids[i] >= known)
      return bad(message("id ", i, " is ", ids[i], ": the network takes ids below ", known));
  return {};
}
template <>
Result<std::int64_t> Learner::put(std::span<const std::uint32_t> ids) {
  const Shape& in = network_->input();
  const std::int64_t steps = in.count(), n = static_cast<std::int64_t>(ids.size()) / steps;
  if (in.ids == 0 || in.dims.empty() || n == 0 ||
      static_cast<std::int64_t>(ids.size()) != n * steps)
    return bad(
        message("the network takes ", in.to_string(), ", got rows of ", ids.size(), " ids in all"));
  LOOM_TRY(check_ids(ids));
  LOOM_TRY(rows(n));
  for (std::size_t i = 0; i < ids.size(); ++i)
    executor_->row<std::uint32_t>(x_, static_cast<std::int64_t>(i))[0] = ids[i];
  return n;
}

Status Learner::check_weights(std::size_t rows) const {
  if (given_weights_.empty() || (options_.weighted && given_weights_.size() == rows)) return {};
  return bad(options_.weighted ? "expects a weight for each of " + std::to_string(rows) +
                                     " rows, got " + std::to_string(given_weights_.size())
                               : "this learner was made for rows without weights");
}

// Row `at` of the program is a row that was given, with its class where it has one: -1 has none.
void Learner::count(std::int64_t at, std::size_t row, std::int32_t class_of) {
  const std::vector<double>& of_class = options_.class_weights;
  double weight = given_weights_.empty() ? 1.0 : static_cast<double>(given_weights_[row]);
  if (class_of < 0) weight = 0;
  else if (!of_class.empty()) weight *= of_class[static_cast<std::size_t>(class_of)];
  counted_ += class_of >= 0;
  if (weights_ == kNone) {
    weight_ += weight;
    return;
  }
  weight_ += put_weight(weights_, at, weight);
}

template <class T>
Status Learner::put_targets(std::int64_t n, std::span<const T> target) {
  const std::vector<HeadSpec>& heads = options_.heads;
  if (heads.empty() && takes_classes(options_.loss))
    return bad("the loss takes classes, got target values");
  if (static_cast<std::int64_t>(target.size()) != n * target_width_)
    return bad(message("expects targets of ", target_width_, " values for each of ", n,
                       " rows, got ", target.size()));
  LOOM_TRY(check_weights(static_cast<std::size_t>(n)));
  counted_ = 0, weight_ = 0;
  HeadSums sums = sums_;
  if (sums.heads.empty()) add_targets(sums, target, given_weights_);
  for (std::int64_t r = 0; r < n; ++r) {
    const T* t = target.data() + r * target_width_;
    count(r, static_cast<std::size_t>(r), 0);
    if (heads.empty()) put_row(target_, r, std::span(t, static_cast<std::size_t>(target_width_)));
    for (std::size_t i = 0; i < heads.size(); t += heads[i++].targets())
      LOOM_TRY(put_head(i, r, t, sums.heads[i] > 0 ? sums.rows / sums.heads[i] : 0));
  }
  return {};
}

// A head's targets of a row. `share`: the rows' weights over those of the head's places that count,
// so that the sum of its losses over the rows' weights is its mean.
template <class T>
Status Learner::put_head(std::size_t head, std::int64_t row, const T* target, double share) {
  const HeadSpec& h = options_.heads[head];
  const double weight = given_weights_.empty()
                            ? 1.0
                            : static_cast<double>(given_weights_[static_cast<std::size_t>(row)]);
  const auto weigh = [&](std::int64_t at, double by) {
    if (head_weights_[head] != kNone) put_weight(head_weights_[head], at, by);
  };
  if (!takes_classes(h.loss)) {
    put_row(head_targets_[head], row, std::span(target, static_cast<std::size_t>(h.columns)));
    weigh(row, weight);
    return {};
  }
  for (std::int64_t p = 0; p < h.axis.places; ++p) {
    auto number = class_of(static_cast<double>(target[p]), h.axis.classes);
    if (!number.ok())
      return bad(message("head \"", name_of(h, head), "\", row ", row, number.status().message()));
    const std::int64_t at = row * h.axis.places + p;
    executor_->row<std::int32_t>(head_targets_[head], at)[0] = *number;
    weigh(at, *number < 0 ? 0 : weight * share);
  }
  return {};
}

void Learner::add_to(HeadSums& sums, std::span<const float> target,
                     std::span<const float> weights) const {
  add_targets(sums, target, weights);
}
template <class T>
void Learner::add_targets(HeadSums& sums, std::span<const T> target,
                          std::span<const float> weights) const {
  sums.heads.resize(options_.heads.size());
  const std::size_t width = static_cast<std::size_t>(target_width_);
  for (std::size_t r = 0; r * width < target.size() && !sums.heads.empty(); ++r) {
    const double weight = weights.empty() ? 1.0 : static_cast<double>(weights[r]);
    const T* t = target.data() + r * width;
    sums.rows += weight;
    for (std::size_t i = 0; i < sums.heads.size(); ++i) {
      const HeadSpec& h = options_.heads[i];
      for (std::int64_t p = 0; p < h.places(); ++p)
        if (!takes_classes(h.loss) || t[p] != static_cast<T>(options_.ignore))
          sums.heads[i] += weight;
      t += h.targets();
    }
  }
}

// As the program has it: -1 is not counted.
Result<std::int32_t> Learner::class_of(double value, std::int64_t classes) const {
  if (value == static_cast<double>(options_.ignore)) return -1;
  if (is_class(value) && value >= 0 && value < static_cast<double>(classes))
    return static_cast<std::int32_t>(value);
  return Status(Code::invalid_argument, class_refusal(value, classes, options_.ignore));
}

template <>
Status Learner::put_targets(std::int64_t n, std::span<const std::int32_t> target) {
  if (!takes_classes(options_.loss) || !options_.heads.empty())
    return bad("the loss takes target values, got classes");
  if (static_cast<std::int64_t>(target.size()) != n * classes_.places)
    return bad(message("expects ", classes_.places, " classes for each of ", n, " rows, got ",
                       target.size()));
  LOOM_TRY(check_weights(static_cast<std::size_t>(n)));
  counted_ = 0, weight_ = 0;
  for (std::size_t i = 0; i < target.size(); ++i) {
    auto number = class_of(target[i], classes_.classes);
    if (!number.ok()) return bad(message("target ", i, number.status().message()));
    executor_->row<std::int32_t>(target_, static_cast<std::int64_t>(i))[0] = *number;
    count(static_cast<std::int64_t>(i), i / static_cast<std::size_t>(classes_.places), *number);
  }
  return {};
}

template <class X, class Target>
Status Learner::take(std::span<const X> x, std::span<const Target> target) {
  LOOM_ASSIGN(const std::int64_t n, put(x));
  return put_targets(n, target);
}
Status Learner::batch(const Batch& b, bool by_class) {
  // Positions of rows of values are those of windows (Streams).
  if (!b.positions.empty() && b.x.empty()) return batch(b.ids, b.positions, b.classes);
  const bool wide_x = !b.wide_x.empty() && is_f64(x_);
  const auto with_targets = [&](auto x) {
    if (by_class) return take(x, std::span(b.classes));
    if (!b.wide_values.empty()) return take(x, std::span(b.wide_values));
    return take(x, std::span(b.values));
  };
  if (!b.ids.empty()) return with_targets(std::span(b.ids));
  return wide_x ? with_targets(std::span(b.wide_x)) : with_targets(std::span(b.x));
}
Status Learner::batch(std::span<const float> x, std::span<const float> target) {
  return take(x, target);
}
Status Learner::batch(std::span<const float> x, std::span<const std::int32_t> target) {
  return take(x, target);
}
Status Learner::batch(std::span<const std::uint32_t> ids, std::span<const float> target) {
  return take(ids, target);
}
Status Learner::batch(std::span<const std::uint32_t> ids, std::span<const std::int32_t> target) {
  return take(ids, target);
}

Status Learner::check_tokens(std::span<const std::uint32_t> ids,
                             std::span<const std::uint32_t> positions, std::size_t targets) const {
  if (width_ != 0 || !takes_classes(options_.loss) || !options_.heads.empty())
    return bad("this network or loss takes other inputs or targets");
  if (ids.size() != positions.size() || ids.size() != targets)
    return bad("ids, positions and targets must have the same length");
  for (std::size_t r = 0; r < positions.size() && options_.streams == 0; ++r)
    if (positions[r] != 0 && (r == 0 || positions[r] != positions[r - 1] + 1))
      return bad(message("positions must ascend by one from 0 in each sequence: row ", r, " has ",
                         positions[r]));
  LOOM_TRY(check_ids(ids));
  return check_weights(ids.size());
}

Status Learner::batch(std::span<const std::uint32_t> ids, std::span<const std::uint32_t> positions,
                      std::span<const std::int32_t> target) {
  LOOM_TRY(check_tokens(ids, positions, target.size()));
  const bool stream = options_.streams > 0;
  const auto sequences =
      stream ? options_.streams / options_.micro_batches
             : static_cast<std::int64_t>(std::count(positions.begin(), positions.end(), 0u));
  const std::int64_t window = stream ? static_cast<std::int64_t>(ids.size()) / sequences : 0;
  if (stream && window * sequences != static_cast<std::int64_t>(ids.size()))
    return bad(message(ids.size(), " rows are not windows of ", sequences, " lanes"));
  if (packed_ > 0 && sequences * packed_ >= options_.max_rows + packed_)
    return bad(message("a micro-batch has at most ", (options_.max_rows + packed_ - 1) / packed_,
                       " sequences of ", packed_,
                       " rows, which layers that go from row to row take alike, got ", sequences));
  LOOM_TRY(rows(packed_ > 0 ? sequences : static_cast<std::int64_t>(ids.size())));
  const auto put = [&](std::int64_t row, std::uint32_t id, std::uint32_t position,
                       std::int32_t class_of) {
    executor_->row<std::uint32_t>(x_, row)[0] = id;
    if (goes_on_ != kNone) executor_->row<float>(goes_on_, row)[0] = position > 0 ? 1.0f : 0.0f;
    if (!stream && positions_ != kNone)
      executor_->row<std::uint32_t>(positions_, row)[0] = position;
    executor_->row<std::int32_t>(target_, row)[0] = class_of;
  };
  // Behind the end of a shorter sequence stand rows without a target.
  for (std::int64_t i = 0; i < sequences * packed_; ++i) {
    put(i, 0, static_cast<std::uint32_t>(i % packed_), -1);
    if (weights_ != kNone) count(i, 0, -1);
  }
  std::int64_t sequence = -1;
  counted_ = 0, weight_ = 0;
  for (std::size_t r = 0; r < ids.size(); ++r) {
    auto number = class_of(target[r], classes_.classes);
    if (!number.ok()) return bad(message("target ", r, number.status().message()));
    const auto place = stream ? static_cast<std::int64_t>(r) % window : positions[r];
    sequence += place == 0;
    if (packed_ > 0 && place >= packed_)
      return bad(
          message("a sequence has at most ", packed_, " rows, row ", r, " is at position ", place));
    if (stream && place == 0) put_window(sequence, positions[r]);
    const std::int64_t at = packed_ > 0 ? sequence * packed_ + place : static_cast<std::int64_t>(r);
    put(at, ids[r], positions[r], *number);
    count(at, r, *number);
  }
  return {};
}

Result<bool> Learner::prepare_until(std::int64_t deadline) {
  if (!updated_) return true;
  LOOM_ASSIGN(const bool all, executor_->refresh_until(deadline));
  updated_ = !all;
  return all;
}
Status Learner::prepare() { return prepare_until(Executor::kNoDeadline).status(); }

// A device knows by the refresh that the host is behind.
Status Learner::sync() {
  LOOM_TRY(prepare());
  return executor_->sync();
}

Status Learner::accumulate(std::int64_t micro) {
  return accumulate_until(micro, Executor::kNoDeadline).status();
}

Result<bool> Learner::accumulate_until(std::int64_t micro, std::int64_t deadline) {
  const std::int64_t parts = std::max(options_.micro_batches, options_.shards);
  if (micro < 0 || micro >= parts) return bad(message("micro-batch ", micro, " of ", parts));
  if (micro_ != kNone) LOOM_TRY(executor_->set(micro_, static_cast<std::uint32_t>(micro)));
  if (noise_ != kNone)
    LOOM_TRY(executor_->set(
        noise_, static_cast<std::uint32_t>(static_cast<std::uint64_t>(steps_ * parts + micro))));
  LOOM_TRY(prepare());
  step_rows_ = micro == 0 ? given_rows_ : step_rows_ + given_rows_;
  begin_taps(micro);
  LOOM_ASSIGN(const bool all, executor_->run_until(Segment::forward, Segment::backward,
                                                   tapping_ ? Executor::kNoDeadline : deadline));
  if (all) read_taps();
  return all;
}

void Learner::set_loss_scale(double scale) {
  if (scale_ == kNone) return;
  loss_scale_ = scale;
  executor_->row<float>(scale_, 0)[0] = static_cast<float>(scale);
}
bool Learner::gradients_finite() {
  const double squares = squares_ == kNone ? 0 : read_loss(squares_);
  return squares - squares == 0;
}

double Learner::read_loss(BufferId buffer) {
  return is_f64(buffer) ? executor_->row<double>(buffer, 0)[0]
                        : static_cast<double>(executor_->row<float>(buffer, 0)[0]);
}
double Learner::loss_sum() { return read_loss(loss_); }
double Learner::loss_sum(std::size_t head) { return read_loss(head_losses_[head]); }

Status Learner::update(double learning_rate, double weight, std::int64_t step) {
  LOOM_TRY(update_until(learning_rate, weight, step, Executor::kNoDeadline).status());
  end_update(step);
  return {};
}

Result<bool> Learner::update_until(double learning_rate, double weight, std::int64_t step,
                                   std::int64_t deadline) {
  if (lr_ == kNone) return bad("this learner was made for gradients only");
  if (!(weight > 0) || step < 1)
    return bad("an update needs rows with a weight and a step from 1 on");
  executor_->set_real(lr_, learning_rate);
  executor_->set_real(inv_n_, 1.0 / (weight * loss_scale_));
  if (inv_rows_ != kNone) {
    executor_->set_real(inv_rows_, 1.0 / static_cast<double>(step_rows_));
    executor_->set_real(feedback_lr_, options_.method.feedback_lr);
  }
  read_parts();
  set_part_rates(learning_rate, 1.0 / weight);
  if (correction1_ != kNone) {
    executor_->set_real(correction1_, 1.0 / (1.0 - power(options_.optimizer.beta1, step)));
    executor_->set_real(correction2_, 1.0 / (1.0 - power(options_.optimizer.beta2, step)));
  }
  return executor_->run_until(Segment::update, Segment::update, deadline);
}

void Learner::end_update(std::int64_t step) {
  steps_ = step;
  for (const NetworkEmitter::Gradient& g : gradients_) g.store->touch();
  for (const NetworkEmitter::Average& a : averages_) a.store->touch();
  updated_ = true;
}

}  // namespace loom
