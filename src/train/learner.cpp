#include "train/learner.h"

#include <algorithm>

namespace loom {
namespace {

Status bad(std::string what) { return Status(Code::invalid_argument, "training: " + std::move(what)); }

// Powers by repeated squaring: the same bits on every target.
double power(double base, std::int64_t n) {
  double r = 1;
  for (; n > 0; n >>= 1, base *= base)
    if (n & 1) r *= base;
  return r;
}

}  // namespace

Result<Loss> parse_loss(std::string_view text) {
  if (text == "mse") return Loss::mse;
  if (text == "cross_entropy") return Loss::cross_entropy;
  return bad("unknown loss \"" + std::string(text) + "\": one of mse, cross_entropy");
}

Result<Learner> Learner::create(Network& network, ThreadPool& pool, const LearnerOptions& options) {
  if (options.max_rows < 1 || options.max_rows > INT32_MAX) return bad("max_rows must be in 1..2^31-1");
  if (options.micro_batches < 1 || options.micro_batches > (1 << 20)) return bad("micro_batches must be in 1..2^20");
  if (options.optimizer.kind == OptimizerKind::adamw && options.optimizer.eps < 1e-8) return bad("eps must be at least 1e-8: smaller ones drown in what portable f32 flushes to 0");

  Learner learner;
  learner.network_ = &network;
  learner.options_ = options;
  Program program;
  Emit emit(program);
  const Rows rows{1, emit.u32_register("R", static_cast<std::uint32_t>(options.max_rows)), kNone};
  const Shape& in = network.input();
  const View x = in.ids > 0 ? emit.input("ids", ValueType::u32, rows, 1) : emit.input("x", ValueType::f32, rows, in.width);
  NetworkEmitter emitter(network, emit, {.training = true, .max_positions = options.max_positions});
  LOOM_ASSIGN(const View y, emitter.forward(x));
  if (emit.type(y) != ValueType::f32 && emit.type(y) != ValueType::f64) return bad("the network has no layers");

  emit.set_segment(Segment::loss);
  const bool classes = options.loss == Loss::cross_entropy;
  View target = emit.input("target", classes ? ValueType::i32 : ValueType::f32, rows, classes ? 1 : y.cols);
  if (!classes) target = emit.convert(target, emit.type(y));
  const View losses = classes ? emit.cross_entropy(y, target) : emit.mse(y, target);
  emit.sum_rows(losses, emit.output("loss", emit.type(y), Rows{}, 1));

  emit.set_segment(Segment::backward);
  const View gy = classes ? emit.cross_entropy_back(y, target) : emit.mse_back(y, target);
  LOOM_TRY(emitter.backward(gy));
  learner.gradients_ = emitter.gradients();
  // Norms and biases of a cell that computes in double learn in double too, and in single again in one that does not, where that loses nothing.
  for (const NetworkEmitter::Gradient& g : learner.gradients_) {
    const bool f64 = g.type == ValueType::f64;
    if (!g.store->has_master() || g.store->master_is_f64() == f64) continue;
    if (f64 && g.rows == 1) LOOM_TRY(g.store->morph({.dtype = DType::f64}));
    if (!f64 && g.store->format().dtype == DType::f64) LOOM_TRY(g.store->morph({}));
    if (g.store->master_is_f64() == f64) continue;
    return bad("parameter " + g.path + ":" + g.role + (f64 ? " learns in f64 with its cell, its master is f32: morph the whole cell" : " learns in f32, its master holds f64 values: narrow_master() rounds them"));
  }

  if (options.micro_batches > 1) {
    const RegisterId micro = emit.u32_register("micro", static_cast<std::uint32_t>(options.micro_batches - 1));
    for (NetworkEmitter::Gradient& g : learner.gradients_) {
      // A micro-batch's gradient becomes a temporary; the pending sums and the total survive.
      program.buffers[static_cast<std::size_t>(g.value.buffer)].kind = BufferKind::temp;
      const View levels = emit.buffer({.type = g.type, .kind = BufferKind::grad, .rows = {merge_levels(options.micro_batches) * g.rows}, .cols = g.cols, .path = g.path, .role = g.role + "/levels"});
      const View total = emit.buffer({.type = g.type, .kind = BufferKind::grad, .rows = {g.rows}, .cols = g.cols, .path = g.path, .role = g.role + "/total"});
      emit.grad_merge(g.value, levels, total, options.micro_batches, micro);
      g.value = total;
    }
  }
  if (options.update) learner.emit_update(emit);
  remove_dead_code(program);

  ExecutorOptions eo;
  eo.device = options.device;
  eo.isa = options.isa;
  eo.poison = options.poison;
  LOOM_ASSIGN(learner.executor_, Executor::create(std::move(program), [&network](std::string_view path, std::string_view role) { return network.find(path, role); }, pool, eo));
  const Program& p = learner.executor_->program();
  learner.rows_ = p.find_register("R");
  learner.micro_ = p.find_register("micro");
  learner.lr_ = p.find_register("lr");
  learner.inv_n_ = p.find_register("inv_n");
  learner.correction1_ = p.find_register("correction1");
  learner.correction2_ = p.find_register("correction2");
  learner.x_ = p.find(BufferKind::input, "", in.ids > 0 ? "ids" : "x");
  learner.target_ = p.find(BufferKind::input, "", "target");
  learner.positions_ = p.find(BufferKind::input, "", "positions");
  learner.loss_ = p.find(BufferKind::output, "", "loss");
  learner.width_ = in.width;
  learner.target_width_ = network.output().width;
  return learner;
}

void Learner::emit_update(Emit& emit) {
  emit.set_segment(Segment::update);
  const OptimizerSpec& spec = options_.optimizer;
  const RegisterId lr = emit.f32_register("lr"), inv_n = emit.f32_register("inv_n");
  // One scale per float type, from one norm over all gradients of that type in path order.
  View scales[2];
  for (const ValueType type : {ValueType::f32, ValueType::f64}) {
    View total;
    bool any = false;
    for (const NetworkEmitter::Gradient& g : gradients_) {
      if (g.type != type) continue;
      if (spec.clip_norm > 0) {
        if (!total.valid()) total = emit.temp(type, Rows{}, 1);
        emit.sum_squares(g.value, total, any ? Accumulate::yes : Accumulate::no);
      }
      any = true;
    }
    if (!any) continue;
    View& scale = scales[type == ValueType::f64];
    scale = emit.temp(type, Rows{}, 1);
    emit.clip_scale(total, scale, spec.clip_norm, inv_n);
  }
  for (const NetworkEmitter::Gradient& g : gradients_) {
    auto state = [&](const char* moment) {
      const View v = emit.state(g.path, g.role + ":" + moment, g.type, {g.rows}, g.cols);
      moments_.push_back({g.path + ":" + g.role + ":" + moment, v.buffer, g.rows, g.cols});
      return v;
    };
    const View w = emit.buffer({.type = g.type, .kind = BufferKind::master, .rows = {g.rows}, .cols = g.cols, .path = g.path, .role = g.role});
    const View scale = scales[g.type == ValueType::f64];
    const double decay = g.rows > 1 ? spec.weight_decay : 0;
    if (spec.kind == OptimizerKind::sgd) {
      emit.sgd(g.value, scale, w, spec.momentum != 0 ? state("velocity") : View{}, spec.momentum, decay, lr);
    } else {
      const View m = state("m"), v = state("v");
      emit.adamw(g.value, scale, w, m, v, spec.beta1, spec.beta2, spec.eps, decay, lr, emit.f32_register("correction1"), emit.f32_register("correction2"));
    }
  }
}

Status Learner::rows(std::int64_t n) {
  if (n < 1 || n > options_.max_rows) return bad("a micro-batch has 1.." + std::to_string(options_.max_rows) + " rows, got " + std::to_string(n));
  // Rows of values are samples of their own: attention sees a sequence of one position.
  if (width_ > 0 && positions_ != kNone)
    for (std::int64_t r = 0; r < n; ++r) executor_->row<std::uint32_t>(positions_, r)[0] = 0;
  return executor_->set(rows_, static_cast<std::uint32_t>(n));
}

Status Learner::batch(std::span<const float> x, std::span<const float> target) {
  if (width_ == 0 || options_.loss != Loss::mse) return bad("this network or loss takes other inputs or targets");
  const auto n = static_cast<std::int64_t>(x.size()) / width_;
  if (static_cast<std::int64_t>(x.size()) != n * width_ || static_cast<std::int64_t>(target.size()) != n * target_width_)
    return bad("expects rows of " + std::to_string(width_) + " values and targets of " + std::to_string(target_width_) + ", got " + std::to_string(x.size()) + " and " + std::to_string(target.size()));
  LOOM_TRY(rows(n));
  for (std::int64_t r = 0; r < n; ++r) {
    std::copy_n(x.data() + r * width_, width_, executor_->row<float>(x_, r).begin());
    std::copy_n(target.data() + r * target_width_, target_width_, executor_->row<float>(target_, r).begin());
  }
  return {};
}

Status Learner::batch(std::span<const float> x, std::span<const std::int32_t> target) {
  if (width_ == 0 || options_.loss != Loss::cross_entropy) return bad("this network or loss takes other inputs or targets");
  const auto n = static_cast<std::int64_t>(target.size());
  if (static_cast<std::int64_t>(x.size()) != n * width_) return bad("expects " + std::to_string(n) + " rows of " + std::to_string(width_) + " values, got " + std::to_string(x.size()));
  LOOM_TRY(rows(n));
  for (std::int64_t r = 0; r < n; ++r) {
    std::copy_n(x.data() + r * width_, width_, executor_->row<float>(x_, r).begin());
    executor_->row<std::int32_t>(target_, r)[0] = target[static_cast<std::size_t>(r)];
  }
  return {};
}

Status Learner::batch(std::span<const std::uint32_t> ids, std::span<const std::uint32_t> positions, std::span<const std::int32_t> target) {
  if (width_ != 0 || options_.loss != Loss::cross_entropy) return bad("this network or loss takes other inputs or targets");
  if (ids.size() != positions.size() || ids.size() != target.size()) return bad("ids, positions and targets must have the same length");
  for (std::size_t r = 0; r < positions.size(); ++r)
    if (positions[r] != 0 && (r == 0 || positions[r] != positions[r - 1] + 1)) return bad("positions must ascend by one from 0 in each sequence: row " + std::to_string(r) + " has " + std::to_string(positions[r]));
  LOOM_TRY(rows(static_cast<std::int64_t>(ids.size())));
  for (std::size_t r = 0; r < ids.size(); ++r) {
    const auto i = static_cast<std::int64_t>(r);
    executor_->row<std::uint32_t>(x_, i)[0] = ids[r];
    if (positions_ != kNone) executor_->row<std::uint32_t>(positions_, i)[0] = positions[r];
    executor_->row<std::int32_t>(target_, i)[0] = target[r];
  }
  return {};
}

Status Learner::accumulate(std::int64_t micro) {
  if (micro < 0 || micro >= options_.micro_batches) return bad("micro-batch " + std::to_string(micro) + " of " + std::to_string(options_.micro_batches));
  if (micro_ != kNone) LOOM_TRY(executor_->set(micro_, static_cast<std::uint32_t>(micro)));
  return executor_->run(Segment::forward, Segment::backward);
}

double Learner::loss_sum() {
  const bool f64 = executor_->program().buffers[static_cast<std::size_t>(loss_)].type == ValueType::f64;
  return f64 ? executor_->row<double>(loss_, 0)[0] : static_cast<double>(executor_->row<float>(loss_, 0)[0]);
}

Status Learner::update(double learning_rate, std::int64_t count, std::int64_t step) {
  if (lr_ == kNone) return bad("this learner was made for gradients only");
  if (count < 1 || step < 1) return bad("an update needs at least one row and a step from 1 on");
  executor_->set_f32(lr_, static_cast<float>(learning_rate));
  executor_->set_f32(inv_n_, static_cast<float>(1.0 / static_cast<double>(count)));
  if (correction1_ != kNone) {
    executor_->set_f32(correction1_, static_cast<float>(1.0 / (1.0 - power(options_.optimizer.beta1, step))));
    executor_->set_f32(correction2_, static_cast<float>(1.0 / (1.0 - power(options_.optimizer.beta2, step))));
  }
  LOOM_TRY(executor_->run(Segment::update, Segment::update));
  for (const NetworkEmitter::Gradient& g : gradients_) g.store->touch();
  return executor_->refresh();
}

}  // namespace loom
