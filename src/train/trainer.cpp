#include "train/trainer.h"

#include <algorithm>
#include <chrono>

#include "base/fields/old_names.h"
#include "base/files/bytes.h"
#include "base/files/sha256.h"
#include "base/json/json.h"
#include "base/message.h"
#include "base/numerics_version.h"
#include "train/check_data.h"
#include "train/data/images/augment.h"

namespace loom {
namespace {

Status bad(std::string what) {
  return Status(Code::invalid_argument, message("training: ", std::move(what)));
}

// Calls f(row of a float or double matrix) for each row of a moment.
template <class F>
void each_row(Executor& executor, const Learner::Moment& m, F f) {
  const bool f64 =
      executor.program().buffers[static_cast<std::size_t>(m.buffer)].type == ValueType::f64;
  for (std::int64_t r = 0; r < m.rows; ++r) {
    if (f64) f(executor.row<double>(m.buffer, r));
    else f(executor.row<float>(m.buffer, r));
  }
}

template <class T>
std::vector<T>& values_of(TrainingTensor& t) {
  if constexpr (sizeof(T) == 8) return t.f64;
  else return t.f32;
}

// To a format, or back to what each was.
template <class List>
Status morph(const List& matrices, ThreadPool& pool, const std::string& dtype = "") {
  for (const auto& [p, before] : matrices) {
    WeightFormat format = before;
    if (!dtype.empty()) {
      LOOM_ASSIGN(format, parse_weight_format(dtype));
    }
    LOOM_TRY(p.param->store->morph(format, &pool).at(p.path + ":" + p.param->spec.role));
  }
  return {};
}

std::string moment_name(const Learner::Moment& m) { return "moments/" + m.name; }

}  // namespace

// The data as streams, or null.
Result<std::unique_ptr<Streams>> Trainer::cut(const TrainingSpec& spec, const Network& network,
                                              const DataSource& data) {
  if (spec.streams == 0) return std::unique_ptr<Streams>();
  LOOM_TRY(network.check_streams().at("training"));
  return Streams::create(data, spec.streams);
}

// Fills in what the spec leaves to the data: class weights, steps, the schedule's end.
static Status resolve(TrainingSpec& spec, const DataSource& data, const Network& network) {
  if (spec.class_weights.is_string())
    spec.class_weights = balanced_weights(data, network, spec.ignore);
  if (spec.steps == 0) {
    const auto samples = checked_mul(static_cast<std::uint64_t>(data.samples()),
                                     static_cast<std::uint64_t>(spec.epochs));
    if (!samples || *samples > (std::uint64_t{1} << 60))
      return bad(message(spec.epochs, " epochs are too many samples"));
    spec.steps = static_cast<std::int64_t>((*samples + static_cast<std::uint64_t>(spec.batch) - 1) /
                                           static_cast<std::uint64_t>(spec.batch));
  }
  // A batch may hold a sample several times, but one of more is rather a slip, which would take its
  // memory.
  constexpr std::int64_t kFreeBatch = 1 << 16;
  if (spec.batch > std::max(kFreeBatch, data.samples()))
    return bad(message("\"batch\" is ", spec.batch, " samples, the data has ", data.samples(),
                       ": at most as many, or ", kFreeBatch));
  // Samples are numbered through the whole training.
  if (spec.steps > (std::int64_t{1} << 60) / spec.batch)
    return bad(message(spec.steps, " steps of ", spec.batch, " samples are too many"));
  if (spec.fp8 && spec.quantize.dtype.empty()) spec.quantize.dtype = "fp8e4m3";
  if (has_end(spec.schedule.kind) && spec.schedule.steps == 0) spec.schedule.steps = spec.steps;
  LOOM_TRY(spec.schedule.check());
  if (spec.quantize.after >= spec.steps)
    return bad(message("quantize: \"after\" must be below the ", spec.steps, " steps"));
  if (spec.validation.share > 0 && spec.validation.every == 0)
    spec.validation.every = (data.samples() + spec.batch - 1) / spec.batch;
  return {};
}

// What the learner is asked for by a resolved spec.
static Result<LearnerOptions> learner_options(const TrainingSpec& spec, const DataSource& data,
                                              const Network& network,
                                              const TrainerOptions& options) {
  const auto rows = checked_mul(static_cast<std::uint64_t>(data.max_rows()),
                                static_cast<std::uint64_t>(spec.batch / spec.micro_batches));
  if (!rows || *rows > INT32_MAX)
    return bad(message("a micro-batch of ", spec.batch / spec.micro_batches, " samples of up to ",
                       data.max_rows(), " rows is too large"));
  LearnerOptions learning;
  learning.loss = spec.loss;
  learning.delta = spec.delta;
  learning.temperature = spec.temperature;
  learning.loss_weight = spec.loss_weight;
  learning.ignore = spec.ignore;
  learning.class_weights = spec.weights_of_classes();
  learning.weighted = data.form().weighted;
  learning.heads = spec.heads;
  learning.fp8 = spec.fp8;
  learning.recompute = spec.checkpoint;
  learning.optimizer = spec.optimizer;
  learning.method = spec.method;
  learning.max_rows = static_cast<std::int64_t>(*rows);
  learning.max_positions = data.max_rows();
  learning.micro_batches = spec.micro_batches;
  learning.streams = spec.streams;
  learning.truncate = spec.step_mesh.truncate;
  learning.seed = static_cast<std::uint64_t>(spec.seed);
  learning.isa = options.isa;
  // Left to Loom, the device is one that can run the layers.
  const bool here = options.auto_device && network.on_cpu_alone();
  learning.device = here ? nullptr : options.device;
  learning.fuse = options.fuse;
  learning.poison = options.poison;
  learning.cancel = options.cancel;
  return learning;
}

Result<std::unique_ptr<Trainer>> Trainer::create(const TrainingSpec& spec, Network& network,
                                                 const DataSource& data, ThreadPool& pool,
                                                 const TrainerOptions& options) {
  LOOM_TRY(spec.check());
  const TicksSpec& mesh = spec.step_mesh;
  if (mesh.ticks == 0 && network.step_mesh)
    return bad(
        "the network is a step mesh: say for how many ticks, by \"step_mesh\": "
        "{\"ticks\": 8}");
  if (mesh.ticks == 0) return create_for(spec, network, data, pool, options);
  LOOM_ASSIGN(Network over, network.over_ticks(mesh.ticks, mesh.answers == "last_tick"
                                                               ? Network::Answers::last_tick
                                                               : Network::Answers::every_tick));
  auto by_ticks = std::make_unique<Network>(std::move(over));
  LOOM_ASSIGN(std::unique_ptr<Trainer> trainer, create_for(spec, *by_ticks, data, pool, options));
  trainer->by_ticks_ = std::move(by_ticks);
  return trainer;
}

Result<std::unique_ptr<Trainer>> Trainer::create_for(const TrainingSpec& spec, Network& network,
                                                     const DataSource& given, ThreadPool& pool,
                                                     const TrainerOptions& options) {
  TrainingSpec resolved = spec;
  LOOM_TRY(resolve_heads(network, resolved.heads));
  LOOM_TRY(check_data(given, network, resolved));
  LOOM_ASSIGN(std::unique_ptr<Streams> streams, cut(spec, network, given));
  const DataSource& data = streams ? *streams : given;
  if (spec.validation.share > 0 && !options.judged)
    return bad(
        "\"validation\" is for loom train, which holds samples back; here the caller judges");
  LOOM_TRY(resolve(resolved, data, network));
  LOOM_ASSIGN(LearnerOptions learning, learner_options(resolved, data, network, options));
  std::string base;
  const std::vector<AdapterPlace> places =
      options.places.empty() ? adapter_places(network) : options.places;
  if (options.adapter && spec.lora.rank == 0)
    return bad(
        "the network runs with an adapter, which does not learn and would not be seen: add "
        "it to the weights (merge_adapter) or take it away (unload_adapter), or let it "
        "learn, by \"lora\"");
  if (spec.lora.rank > 0) {
    LOOM_ASSIGN(Adapter adapter, Adapter::create(network, places, spec.lora, learning.seed));
    if (options.adapter) LOOM_TRY(adapter.take(*options.adapter).at("training"));
    learning.adapter = std::make_shared<Adapter>(std::move(adapter));
    LOOM_ASSIGN(base, loom::digest(network));
  }
  if (spec.method.kind != MethodKind::back_propagation && network.ticks() == 0) {
    LOOM_ASSIGN(learning.matrices,
                MethodMatrices::create(network, spec.method.kind, learning.seed));
  }
  LOOM_ASSIGN(std::vector<Quantized> matrices, find_quantized(resolved.quantize, network));
  const bool at_once = !matrices.empty() && resolved.quantize.after == 0;
  LOOM_TRY(morph(matrices, pool, resolved.quantize.dtype));
  Json topology = network.to_json();
  if (!at_once) LOOM_TRY(morph(matrices, pool));
  LOOM_ASSIGN(Learner learner, Learner::create(network, pool, learning));
  std::unique_ptr<Trainer> trainer(new Trainer(resolved, network, data, pool, std::move(learning),
                                               std::move(base), std::move(learner)));
  trainer->streams_ = std::move(streams);
  trainer->places_ = places;
  trainer->matrices_ = std::move(matrices);
  trainer->topology_ = std::move(topology);
  trainer->quantized_ = at_once;
  if (options.auto_device && trainer->learning_.device) LOOM_TRY(trainer->choose_device());
  return trainer;
}

// Learns on the CPU where that is as fast.
Status Trainer::choose_device() {
  LOOM_ASSIGN(const double on_device, first_seconds());
  LearnerOptions on_cpu_too = learning_;
  on_cpu_too.device = nullptr;
  LOOM_ASSIGN(Learner on_host, Learner::create(network_, pool_, on_cpu_too));
  std::swap(learner_, on_host);
  LOOM_ASSIGN(const double on_cpu, first_seconds());
  if (on_device < on_cpu) std::swap(learner_, on_host);
  else learning_ = std::move(on_cpu_too);
  return {};
}

Result<std::vector<Trainer::Quantized>> Trainer::find_quantized(const QuantizeSpec& spec,
                                                                Network& network) {
  std::vector<Quantized> list;
  if (spec.dtype.empty()) return list;
  std::vector<Network::NamedParam> matrices = network.params();
  std::erase_if(matrices, [](const Network::NamedParam& p) { return !p.param->spec.quantized; });
  auto cell = [](const Network::NamedParam& p) { return p.path.substr(0, p.path.find('/')); };
  std::vector<std::string> kept;
  for (const std::string& name : spec.keep) {
    const std::string path = matrices.empty()  ? name
                             : name == "first" ? cell(matrices.front())
                             : name == "last"  ? cell(matrices.back())
                                               : name;
    if (std::none_of(matrices.begin(), matrices.end(),
                     [&](const auto& p) { return cell(p) == path; }))
      return bad(message("quantize: \"keep\": \"", name,
                         "\" is no cell with matrices: expects first, last, or a path as ",
                         (matrices.empty() ? "0.0.0.0" : cell(matrices.front()))));
    kept.push_back(path);
  }
  auto keeps = [&](const Network::NamedParam& p) {
    return std::find(kept.begin(), kept.end(), cell(p)) != kept.end();
  };
  for (const Network::NamedParam& p : matrices) {
    // A matrix of several cells stays where one of them does.
    const bool stays = std::any_of(matrices.begin(), matrices.end(), [&](const auto& other) {
      return other.param->store == p.param->store && keeps(other);
    });
    if (!stays) list.push_back({p, p.param->store->format()});
  }
  if (list.empty()) return bad(message("quantize: no matrix is left to learn as ", spec.dtype));
  return list;
}

// After `after` steps the weights are seen in another dtype: the same moments in another program.
Status Trainer::set_quantized(bool quantized) {
  if (quantized == quantized_) return {};
  LOOM_TRY(sync());
  LOOM_TRY(morph(matrices_, pool_, quantized ? spec_.quantize.dtype : ""));
  if (const Status made = remake(learning_); !made.ok()) {
    LOOM_TRY(morph(matrices_, pool_, quantized ? "" : spec_.quantize.dtype));
    return made;
  }
  quantized_ = quantized;
  return {};
}

// Another program with the same moments.
Status Trainer::remake(const LearnerOptions& learning) {
  LOOM_TRY(sync());
  TrainingState now = state();
  LOOM_ASSIGN(Learner next, Learner::create(network_, pool_, learning));
  const std::size_t weights = now.tensors.size() - next.moments().size();
  learner_ = std::move(next);
  learning_ = learning;
  learner_.resume(done_);
  for (std::size_t i = 0; i < learner_.moments().size(); ++i)
    exchange(learner_.moments()[i], now.tensors[weights + i]);
  return {};
}

Status Trainer::follow() {
  const char* const what = !matrices_.empty()     ? "\"quantize\""
                           : learning_.matrices   ? "a local method"
                           : network_.ticks() > 0 ? "\"step_mesh\""
                                                  : nullptr;
  if (what)
    return bad(message("rules have changed the network, and a training with ", what,
                       " does not follow them: make a new trainer"));
  std::vector<TrainingTensor> before;
  for (const Learner::Moment& m : learner_.moments()) before.push_back(read(m));
  LOOM_ASSIGN(Learner next, Learner::create(network_, pool_, learning_));
  if (learning_.adapter) {
    LOOM_ASSIGN(base_, loom::digest(network_));
  }
  learner_ = std::move(next);
  learner_.resume(done_);
  for (const Learner::Moment& m : learner_.moments()) {
    const auto old = std::ranges::find_if(before, [&](const TrainingTensor& t) {
      return t.name == moment_name(m) && t.rows == m.rows && t.cols == m.cols;
    });
    if (old == before.end()) continue;
    // A cell may compute in another type now.
    std::size_t at = 0;
    each_row(learner_.executor(), m, [&]<class T>(std::span<T> row) {
      for (T& v : row) {
        v = old->f64.empty() ? static_cast<T>(old->f32[at]) : static_cast<T>(old->f64[at]);
        ++at;
      }
    });
  }
  return begin_observer();
}

// Forward and backward of the first micro-batch, the shortest of three; no weight changes.
Result<double> Trainer::first_seconds() {
  double shortest = 0;
  LOOM_TRY(fill(0, spec_.batch / spec_.micro_batches));
  for (int i = 0; i < 3; ++i) {
    const auto start = std::chrono::steady_clock::now();
    LOOM_TRY(learner_.accumulate());
    // Reading a gradient waits for the device.
    if (const auto& g = learner_.gradients(); !g.empty())
      learner_.executor().row_bytes(g.front().value.buffer, 0);
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (i == 0 || seconds < shortest) shortest = seconds;
  }
  return shortest;
}

Status Trainer::fill(std::int64_t first, std::int64_t count) {
  read(first, count);
  if (streams_) learner_.go_on(first % spec_.streams, done_, batch_.positions);
  return give();
}

// Samples first..first+count-1 of the training: epoch after epoch, each in an order of its own.
void Trainer::read(std::int64_t first, std::int64_t count) {
  batch_.clear();
  const std::int64_t samples = data_.samples();
  for (std::int64_t i = first; i < first + count;) {
    const std::int64_t epoch = i / samples, end = std::min(first + count, (epoch + 1) * samples);
    const Permutation order(samples, static_cast<std::uint64_t>(spec_.seed),
                            static_cast<std::uint64_t>(epoch));
    for (; i < end; ++i) {
      data_.append(spec_.shuffle ? order(i % samples) : i % samples, batch_);
      if (spec_.random_translate == 0) continue;
      shift_last(i);
    }
  }
}

// Moves the image that was read last, number `sample` of the training.
void Trainer::shift_last(std::int64_t sample) {
  const Shape& in = network_.input();
  const auto shift = [&]<class T>(std::vector<T>& x) {
    if (x.empty()) return;
    random_translate(std::span(x).last(static_cast<std::size_t>(in.width)), in.dims.end()[-2],
                     in.dims.back(), spec_.random_translate, static_cast<std::uint64_t>(spec_.seed),
                     static_cast<std::uint64_t>(sample));
  };
  shift(batch_.x);
  shift(batch_.wide_x);
}

// What was read becomes the learner's micro-batch.
Status Trainer::give() {
  learner_.weigh(batch_.weights);
  if (network_.input().ids > 0 && network_.input().dims.empty())
    return learner_.batch(batch_.ids, batch_.positions, batch_.classes);
  return learner_.batch(batch_, spec_.heads.empty() && takes_classes(spec_.loss));
}

Status Trainer::run(const std::function<Result<bool>(const StepReport&)>& after_step) {
  while (done_ < spec_.steps) {
    auto stepped = step();
    if (stepped.status().code() == Code::cancelled) LOOM_TRY(sync());
    LOOM_ASSIGN(const StepReport report, std::move(stepped));
    LOOM_ASSIGN(const bool go_on, after_step(report));
    if (!go_on || done_ == spec_.steps) LOOM_TRY(sync());
    if (!go_on)
      return Status(Code::cancelled,
                    message("training: stopped after step ", done_, " of ", spec_.steps));
  }
  return {};
}

Status Trainer::extend(std::int64_t steps, std::int64_t epochs) {
  if (steps < 0 || epochs < 0 || (steps > 0) == (epochs > 0))
    return bad("extend: give either steps or epochs, at least 1");
  // Samples are numbered through the whole training.
  const auto max = std::uint64_t{1} << 60;
  const auto batch = static_cast<std::uint64_t>(spec_.batch),
             samples = static_cast<std::uint64_t>(data_.samples());
  auto total =
      checked_add(static_cast<std::uint64_t>(spec_.steps), static_cast<std::uint64_t>(steps));
  if (epochs > 0) {
    const std::uint64_t whole = static_cast<std::uint64_t>(spec_.steps) * batch / samples;
    total = checked_mul(whole + static_cast<std::uint64_t>(epochs), samples);
    if (total) total = (*total + batch - 1) / batch;
  }
  if (!total || *total > max / batch) return bad("extend: that is more than 2^60 samples");
  const auto end = static_cast<std::uint64_t>(spec_.schedule.steps);
  if (has_end(spec_.schedule.kind) && end < *total)
    return bad(message("extend: the schedule \"", name(spec_.schedule.kind), "\" ends at step ",
                       end, ", this would be step ", *total,
                       ": give it \"steps\" at the beginning"));
  spec_.steps = static_cast<std::int64_t>(*total);
  spec_.epochs = 0;
  return {};
}

// The part of the spec that decides bits; network and data are compared themselves.
Json Trainer::comparable_spec() const {
  TrainingSpec spec = spec_;
  spec.network = Json();
  spec.network_file.clear();
  spec.base.clear();  // known by its values
  spec.base_dtype.clear();
  spec.checkpoint = false;  // no bit depends on it, nor on the next one
  spec.method.alignment_every = 0;
  spec.data = {};
  spec.steps = spec.epochs = spec.checkpoint_every = spec.log_every = 0;
  return spec.to_json();
}

std::vector<Trainer::Learned> Trainer::learned() const {
  std::vector<Learned> list;
  if (adapter_) {
    for (const Adapter::Target& t : adapter_->targets) {
      list.push_back({"weights/" + t.path + ":" + t.role + ":lora_A", t.a.get()});
      list.push_back({"weights/" + t.path + ":" + t.role + ":lora_B", t.b.get()});
    }
    return list;
  }
  for (const Network::NamedParam& p : network_.params())
    if (!p.tied)
      list.push_back({"weights/" + p.path + ":" + p.param->spec.role, p.param->store.get()});
  return list;
}

std::vector<Trainer::Learned> Trainer::learned_beside() const {
  std::vector<Learned> list;
  if (!learning_.matrices) return list;
  for (const MethodMatrix& m : learning_.matrices->all())
    list.push_back({m.path + ":" + m.role, m.store.get()});
  return list;
}

std::vector<Trainer::Learned> Trainer::all_learned() const {
  std::vector<Learned> list = learned(), more = learned_beside();
  list.insert(list.end(), more.begin(), more.end());
  return list;
}

std::vector<TrainingTensor> Trainer::masters_of(const std::vector<Learned>& list) {
  std::vector<TrainingTensor> masters;
  for (const auto& [name, store] : list) {
    TrainingTensor t{name, store->rows(), store->cols(), {}, {}};
    t.f32.assign(store->master().begin(), store->master().end());
    t.f64.assign(store->master64().begin(), store->master64().end());
    masters.push_back(std::move(t));
  }
  return masters;
}

std::vector<TrainingTensor> Trainer::weights() const { return masters_of(learned()); }

Status Trainer::set_weights(const std::vector<TrainingTensor>& weights) {
  LOOM_TRY(whole());
  auto next = weights.begin();
  for (const auto& [name, store] : learned()) {
    if (next == weights.end() || next->f32.size() != store->mutable_master().size() ||
        next->f64.size() != store->mutable_master64().size())
      return Status(Code::corrupt, message("training state: ", name, " has another size"));
    std::copy(next->f32.begin(), next->f32.end(), store->mutable_master().begin());
    std::copy(next->f64.begin(), next->f64.end(), store->mutable_master64().begin());
    store->touch();
    ++next;
  }
  return refresh();
}

TrainingState Trainer::state() {
  TrainingState state;
  state.info = Json::object();
  state.info.set("numerics", LOOM_NUMERICS_VERSION);
  state.info.set("step", done_);
  state.info.set("spec", comparable_spec());
  state.info.set("data", data_.hash());
  state.info.set("topology", matrices_.empty() ? network_.to_json() : topology_);
  if (adapter_) state.info.set("base", base_);
  if (spec_.fp8) {
    Json scale = Json::object();
    scale.set("exponent", scale_.exponent);
    scale.set("since", scale_.since);
    scale.set("skipped", scale_.skipped);
    state.info.set("loss_scale", std::move(scale));
  }
  state.tensors = masters_of(all_learned());
  for (const Learner::Moment& m : learner_.moments()) state.tensors.push_back(read(m));
  return state;
}

TrainingTensor Trainer::read(const Learner::Moment& m) {
  TrainingTensor t{moment_name(m), m.rows, m.cols, {}, {}};
  each_row(learner_.executor(), m, [&]<class T>(std::span<T> row) {
    values_of<T>(t).insert(values_of<T>(t).end(), row.begin(), row.end());
  });
  return t;
}

Status Trainer::check_info(const Json& info) const {
  if (!info.is_object()) return Status(Code::corrupt, "training state: expected an object");
  // Version 1 did not write it.
  LOOM_ASSIGN(const std::int64_t numerics, info.get_integer("numerics", 1));
  if (numerics != LOOM_NUMERICS_VERSION) {
    std::string text = "training: the state was saved under numerics version ";
    text += std::to_string(numerics) + ", this library has ";
    text += std::to_string(LOOM_NUMERICS_VERSION);
    text += " and would go on with other bits; its weights load and run: train from them anew";
    return Status(Code::unsupported, std::move(text));
  }
  const Json* written = info.find("spec");
  if (!written || !written->is_object()) return Status(Code::corrupt, "training state: no spec");
  const Json spec = spec_by_present_names(*written);
  auto differs = [](const std::string& key, const Json* saved, const Json* now) {
    return bad(message("the state was saved with another \"", key, "\": ",
                       (saved ? saved->dump() : "none"), ", now ", (now ? now->dump() : "none")));
  };
  auto same = [](const Json* a, const Json* b) {
    return (!a && !b) || (a && b && a->dump() == b->dump());
  };
  const Json now = comparable_spec();
  for (const Json* side : {&now, &spec}) {
    for (const auto& [key, unused] : side->as_object()) {
      const Json *saved = spec.find(key), *current = now.find(key);
      if (same(saved, current)) continue;
      if (!saved || !current || !saved->is_object() || !current->is_object())
        return differs(key, saved, current);
      for (const Json* inner : {current, saved})
        for (const auto& [name, value] : inner->as_object())
          if (!same(saved->find(name), current->find(name)))
            return differs(key + ": " + name, saved->find(name), current->find(name));
    }
  }
  LOOM_ASSIGN(const std::string data, info.get_string("data", ""));
  if (data != data_.hash())
    return bad(message("the state was saved with other data: its SHA-256 is ", data, ", now ",
                       data_.hash()));
  LOOM_ASSIGN(const std::string base, info.get_string("base", ""));
  if (base != base_)
    return bad(message(
        "the state was saved with an adapter on another network: the SHA-256 of its base is ",
        (base.empty() ? "missing" : base), ", now ",
        (base_.empty() ? "the network itself learns" : base_)));
  const Json* topology = info.find("topology");
  const auto text_of = [](const Json& t) { return topology_by_old_names(t).dump(); };
  if (!topology || !topology->is_object() ||
      text_of(*topology) != text_of(matrices_.empty() ? network_.to_json() : topology_))
    return bad("the state was saved with another network topology");
  return {};
}

void Trainer::exchange(const Learner::Moment& m, TrainingTensor& t) {
  std::size_t at = 0;
  each_row(learner_.executor(), m, [&]<class T>(std::span<T> row) {
    std::swap_ranges(row.begin(), row.end(),
                     values_of<T>(t).begin() + static_cast<std::ptrdiff_t>(at));
    at += row.size();
  });
}

Result<Trainer::LossScale> Trainer::saved_scale(const Json& info, std::int64_t step) {
  LossScale scale;
  const Json* saved = info.find("loss_scale");
  if (!saved || !saved->is_object()) return Status(Code::corrupt, "training state: no loss_scale");
  LOOM_ASSIGN(const std::int64_t exponent, saved->get_integer("exponent", kMaxScale + 1));
  LOOM_ASSIGN(scale.since, saved->get_integer("since", -1));
  LOOM_ASSIGN(scale.skipped, saved->get_integer("skipped", -1));
  scale.exponent = static_cast<int>(exponent);
  if (exponent < kMinScale || exponent > kMaxScale || scale.since < 0 || scale.skipped < 0 ||
      scale.skipped > step)
    return Status(Code::corrupt, "training state: loss_scale is out of range");
  return scale;
}

// The tensor of a name, which must have this type and shape.
static Result<TrainingTensor*> find_tensor(TrainingState& state, const std::string& name, bool f64,
                                           std::int64_t rows, std::int64_t cols) {
  const auto t = std::find_if(state.tensors.begin(), state.tensors.end(),
                              [&](const TrainingTensor& s) { return s.name == name; });
  if (t == state.tensors.end())
    return Status(Code::not_found, message("training state: no tensor '", name, "'"));
  const auto elements = static_cast<std::size_t>(rows) * static_cast<std::size_t>(cols);
  if (t->rows != rows || t->cols != cols || t->f32.size() != (f64 ? 0 : elements) ||
      t->f64.size() != (f64 ? elements : 0))
    return Status(Code::corrupt,
                  message("training state: tensor '", name, "': expects ", rows, " x ", cols,
                          (f64 ? " f64" : " f32"), ", got ", t->rows, " x ", t->cols, " with ",
                          t->f32.size(), " f32 and ", t->f64.size(), " f64 values"));
  return &*t;
}

Result<std::vector<TrainingTensor*>> Trainer::find_tensors(TrainingState& state) const {
  std::vector<TrainingTensor*> found;
  for (const auto& [name, store] : all_learned()) {
    LOOM_ASSIGN(TrainingTensor* const t,
                find_tensor(state, name, store->master_is_f64(), store->rows(), store->cols()));
    found.push_back(t);
  }
  const auto& buffers = learner_.executor().program().buffers;
  for (const Learner::Moment& m : learner_.moments()) {
    const bool f64 = buffers[static_cast<std::size_t>(m.buffer)].type == ValueType::f64;
    LOOM_ASSIGN(TrainingTensor* const t, find_tensor(state, moment_name(m), f64, m.rows, m.cols));
    found.push_back(t);
  }
  if (found.size() != state.tensors.size())
    return Status(Code::corrupt, message("training state: has ", state.tensors.size(),
                                         " tensors, this training ", found.size()));
  return found;
}

// Values go in and come out, so that what was there can go back.
Status Trainer::exchange_all(const std::vector<TrainingTensor*>& tensors) {
  auto next = tensors.begin();
  for (const auto& [name, store] : all_learned()) {
    TrainingTensor& t = **next++;
    std::swap_ranges(t.f32.begin(), t.f32.end(), store->mutable_master().begin());
    std::swap_ranges(t.f64.begin(), t.f64.end(), store->mutable_master64().begin());
    store->touch();
  }
  for (const Learner::Moment& m : learner_.moments()) exchange(m, **next++);
  return learner_.executor().refresh();
}

Status Trainer::restore(TrainingState state) {
  LOOM_TRY(whole());
  LOOM_TRY(check_info(state.info));
  LOOM_ASSIGN(const std::int64_t step, state.info.get_integer("step", -1));
  if (step < 0) return Status(Code::corrupt, "training state: no step");
  if (step > spec_.steps)
    return bad(message("the state is after step ", step, ", the spec ends at ", spec_.steps));
  LossScale scale;
  if (spec_.fp8) {
    LOOM_ASSIGN(scale, saved_scale(state.info, step));
  }
  LOOM_ASSIGN(const std::vector<TrainingTensor*> tensors, find_tensors(state));
  const bool quantized = quantized_;
  LOOM_TRY(set_quantized(!matrices_.empty() &&
                         (step > spec_.quantize.after || spec_.quantize.after == 0)));
  if (const Status status = exchange_all(tensors); !status.ok()) {
    // The cells' dtypes do not have these values.
    LOOM_TRY(exchange_all(tensors));
    LOOM_TRY(set_quantized(quantized));
    return status;
  }
  done_ = step;
  scale_ = scale;
  parts_.clear();
  learner_.resume(step);
  return {};
}

std::string Trainer::digest() {
  const TrainingState now = state();
  Sha256 sha;
  sha.update_u64(static_cast<std::uint64_t>(done_));
  for (const TrainingTensor& t : now.tensors) {
    sha.update_text(t.name);
    sha.update_u64(static_cast<std::uint64_t>(t.rows));
    sha.update_u64(static_cast<std::uint64_t>(t.cols));
    sha.update_f32(t.f32);
    sha.update_f64(t.f64);
  }
  return Sha256::hex(sha.finish());
}

}  // namespace loom
