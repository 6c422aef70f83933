// What handles stand for. Objects are shared: a released handle leaves a call that runs
// undisturbed, and what an object needs lives as long as it does. Internal to the C interface.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <loom/loom.h>
#include "base/files/sha256.h"
#include "base/files/source.h"
#include "base/status.h"
#include "base/threads/locks.h"
#include "base/threads/thread_pool.h"
#include "checkpoint/entity.h"
#include "convert/model_file.h"
#include "evolve/population.h"
#include "exec/metacognition/engine.h"
#include "exec/observe/totals.h"
#include "exec/program_runner.h"
#include "exec/seq2seq.h"
#include "exec/session.h"
#include "exec/step_mesh.h"
#include "llm/evaluate.h"
#include "llm/generate/generate.h"
#include "llm/model.h"
#include "online/online.h"
#include "onnx/import.h"
#include "ops/webgpu/probes/probes.h"
#include "populations/population.h"
#include "text/tokenizer.h"
#include "train/trainer.h"

namespace loom::c_api {

struct Object {
  explicit Object(std::int32_t kind) : kind(kind) {}
  virtual ~Object() = default;
  // In a child of fork(), before anything else: the threads that used the object are not here.
  virtual void forked() {}
  // What cancel() sets; null where nothing runs long.
  virtual std::atomic<bool>* cancel_flag() { return nullptr; }
  // Runs pause after this time (0: they do not) where it is not refused.
  virtual Status pause_after(std::int64_t microseconds);
  const std::int32_t kind;
};

template <std::int32_t Kind>
struct ObjectOf : Object {
  static constexpr std::int32_t kKind = Kind;
  ObjectOf() : Object(Kind) {}
};

struct Bytes : ObjectOf<LOOM_KIND_BYTES> {
  Bytes(std::shared_ptr<void> owner, std::byte* data, std::size_t size)
      : owner(std::move(owner)), data(data), size(size) {}
  std::span<const std::byte> span() const { return {data, size}; }
  SourcePtr source() const { return source_from_view(span(), "(memory)", owner); }
  std::shared_ptr<void> owner;
  std::byte* data;
  std::size_t size;
};

// Who has newer values of a network than its memory has: a trainer on a device.
struct Ahead {
  virtual Status bring() = 0;  // under the network's lock, alone

 protected:
  ~Ahead() = default;
};

// A network and those who use it. Whoever takes the lock finds its newest values in its memory.
// Runs hold the lock shared, changes hold it alone and then count up what they changed; who asks
// first is served first, so that changes come through while others run.
struct SharedNetwork {
  explicit SharedNetwork(Network n) : own(std::move(n)), network(*own) {}
  explicit SharedNetwork(Model m) : model(std::move(m)), network(model->network) {}
  std::optional<Network> own;
  std::optional<Model> model;
  Network& network;
  EntitySections sections;  // of the file that the network came from; they go into its next file
  std::shared_ptr<Adapter> adapter;  // that sessions and generators run it with; null: none
  // The lock; refused for ever in a child that was forked while another thread changed the network.
  // `holder`: brings nothing, as the newest values are its own.
  Result<locks::unique_lock<locks::fair_mutex>> hold_alone(const Ahead* holder = nullptr);
  Result<locks::shared_lock<locks::fair_mutex>> hold_shared();
  void forked();
  locks::fair_mutex mutex;
  std::atomic<Ahead*> ahead{nullptr};  // set under the lock
  Status lost;               // under the lock: why values that were learned did not come; told once
  bool torn = false;         // half changed when the process was forked
  std::uint64_t values = 0;  // under the lock: changes of weights
  std::uint64_t forms = 0;   // and of topology or formats, after which programs are emitted again
  std::uint64_t acts = 0;    // those of them that were acts of rules
};
using NetworkPtr = std::shared_ptr<SharedNetwork>;

struct NetworkObject : ObjectOf<LOOM_KIND_NETWORK> {
  explicit NetworkObject(NetworkPtr n) : shared(std::move(n)) {}
  void forked() override { shared->forked(); }
  NetworkPtr shared;
};

struct ModelObject : ObjectOf<LOOM_KIND_MODEL> {
  explicit ModelObject(NetworkPtr n) : shared(std::move(n)) {}
  void forked() override { shared->forked(); }
  Model& model() const { return *shared->model; }
  NetworkPtr shared;
};

// What one thread at a time may use.
template <std::int32_t Kind>
struct ExclusiveOf : ObjectOf<Kind> {
  void forked() override { left |= locks::held_by_the_parent(mutex); }
  locks::mutex mutex;
  bool left = false;  // held by a thread of the process that was forked
};

// Of these, what works on a network.
template <std::int32_t Kind>
struct WorkerOf : ExclusiveOf<Kind> {
  WorkerOf(NetworkPtr n, int threads) : shared(std::move(n)), pool(threads) {}
  void forked() override {
    ExclusiveOf<Kind>::forked();
    shared->forked();
  }
  std::atomic<bool>* cancel_flag() override { return &cancel; }
  NetworkPtr shared;
  ThreadPool pool;
  webgpu::Choice device;
  std::atomic<bool> cancel{false};
  std::uint64_t values = 0, forms = 0;  // of the network, when it was made ready
};

// The lock of an object that one thread at a time may use.
Result<locks::unique_lock<locks::mutex>> enter(locks::mutex& mutex, const bool& left,
                                               std::int32_t kind);

// And whose runs can pause.
template <std::int32_t Kind>
struct PausingOf : WorkerOf<Kind> {
  using WorkerOf<Kind>::WorkerOf;
  Status pause_after(std::int64_t microseconds) override {
    LOOM_ASSIGN(const auto inside, enter(this->mutex, this->left, Kind));
    budget = microseconds;
    return {};
  }
  // Of a run that begins now.
  std::int64_t deadline() const {
    return budget == 0 ? Executor::kNoDeadline : Executor::slice_clock() + 1000 * budget;
  }
  std::int64_t budget = 0;
};

// Events of a session, a step mesh or a trainer until somebody takes them.
struct Observing {
  Observing(std::int64_t keep, std::int64_t window)
      : recorder(keep), window(window, recorder), total(this->window) {}
  ObserveOptions options;
  bool on = true, with_total = false;
  Recorder recorder;
  WindowObserver window;
  TotalObserver total;
  Observer* first() { return with_total ? static_cast<Observer*>(&total) : &window; }
};

// What is told of passes, and of their events, which are taken; null: it never began.
Json statistics(Observing* observing, std::int64_t passes, std::int64_t observed);

struct SessionObject : PausingOf<LOOM_KIND_SESSION> {
  using PausingOf::PausingOf;
  // Before a session is made anew.
  void keep() {
    if (!observing || !observing->on || !session) return;
    observing->options.passed = session->passes();
    observing->options.observed = session->observed_passes();
  }
  SessionOptions options;
  bool ignore_rules = false;
  std::optional<Metacognition> rules;    // of the network, or a trace
  std::unique_ptr<Observing> observing;  // outlives the session
  std::optional<Session> session;
};

struct Seq2SeqObject : WorkerOf<LOOM_KIND_SEQ2SEQ> {
  using WorkerOf::WorkerOf;
  Seq2SeqOptions options;
  std::optional<Seq2Seq> seq2seq;
};

struct StepMeshObject : PausingOf<LOOM_KIND_STEP_MESH> {
  using PausingOf::PausingOf;
  // Before the mesh is made anew: its values, with which the next one continues if its cells fit.
  void keep() {
    if (!mesh) return;
    kept = mesh->snapshot();
    count();
  }
  void count() {
    if (!observing || !observing->on || !mesh) return;
    observing->options.passed = mesh->passes();
    observing->options.observed = mesh->observed_passes();
  }
  StepMeshOptions options;
  std::unique_ptr<Observing> observing;  // outlives the mesh
  std::optional<StepMesh> mesh;
  std::string kept;
};

struct ProgramObject : WorkerOf<LOOM_KIND_PROGRAM> {
  using WorkerOf::WorkerOf;
  // Before the runner is made anew: the next one continues.
  void keep() {
    if (runner) kept = runner->snapshot();
  }
  Program program;
  ProgramRunnerOptions options;
  std::optional<ProgramRunner> runner;
  std::string kept;
};

struct DataObject : ObjectOf<LOOM_KIND_DATA> {
  explicit DataObject(std::unique_ptr<DataSource> d) : data(std::move(d)) {}
  std::shared_ptr<const DataSource> data;
};

struct OnnxObject : ObjectOf<LOOM_KIND_ONNX> {
  explicit OnnxObject(onnx::Model m) : runner(std::move(m), &cancel) {}
  void forked() override { runner.forked(); }
  std::atomic<bool>* cancel_flag() override { return &cancel; }
  std::atomic<bool> cancel{false};
  onnx::Runner runner;
};

struct TrainerObject : WorkerOf<LOOM_KIND_TRAINER>, Ahead {
  TrainerObject(NetworkPtr n, std::shared_ptr<const DataSource> d, int threads)
      : WorkerOf(std::move(n), threads), data(std::move(d)) {}
  ~TrainerObject() override;
  Status bring() override { return trainer->sync(); }
  std::shared_ptr<const DataSource> data;
  std::unique_ptr<Observing> observing;  // outlives the trainer
  std::unique_ptr<Trainer> trainer;
  std::uint64_t acts = 0;  // of the network, when the trainer was made for it
};

struct OnlineObject : WorkerOf<LOOM_KIND_ONLINE> {
  using WorkerOf::WorkerOf;
  std::unique_ptr<OnlineLearner> learner;
};

struct TokenizerObject : ObjectOf<LOOM_KIND_TOKENIZER> {
  explicit TokenizerObject(Tokenizer t) : tokenizer(std::move(t)) {}
  const Tokenizer tokenizer;
};

struct DecoderObject : ExclusiveOf<LOOM_KIND_DECODER> {
  explicit DecoderObject(StreamDecoder d) : decoder(std::move(d)) {}
  StreamDecoder decoder;
};

struct GeneratorObject : WorkerOf<LOOM_KIND_GENERATOR> {
  using WorkerOf::WorkerOf;
  GeneratorOptions options;
  std::optional<Generator> generator;
  std::vector<std::int32_t> chat_end;  // ids that end an answer, after generator_feed_chat
  std::vector<std::int32_t> text_ids;  // of the last text
};

struct EvaluatorObject : WorkerOf<LOOM_KIND_EVALUATOR> {
  using WorkerOf::WorkerOf;
  void forked() override {
    WorkerOf::forked();
    if (reference) reference->forked();
  }
  NetworkPtr reference;  // null: none
  std::uint64_t reference_values = 0, reference_forms = 0;
  std::optional<Sha256> hash;
  std::string logits_sha256;
  std::int64_t chunk = 0;
  std::optional<TextEvaluator> evaluator;
};

// Of genomes, or of whole networks: one of the two is there.
struct PopulationObject : ExclusiveOf<LOOM_KIND_POPULATION> {
  PopulationObject(evolve::Population p, int threads) : pool(threads), genomes(std::move(p)) {}
  PopulationObject(populations::NetworkPopulation p, int threads)
      : pool(threads), networks(std::move(p)) {}
  std::atomic<bool>* cancel_flag() override { return &cancel; }
  // What computed last is not used again: the population changes.
  void forget() { phenotype.reset(), session.reset(); }
  ThreadPool pool;
  std::atomic<bool> cancel{false};
  std::optional<evolve::Population> genomes;
  std::optional<populations::NetworkPopulation> networks;
  // Of the genome or network that ran last.
  std::optional<evolve::Phenotype> phenotype;
  std::shared_ptr<Network> network;  // outlives the session
  std::optional<Session> session;
  std::int64_t index = 0;
};

struct FileObject : ObjectOf<LOOM_KIND_FILE> {
  explicit FileObject(ModelFile f) : file(std::move(f)) {}
  const ModelFile file;
};

// The handle of an object; never 0.
loom_handle add(std::shared_ptr<Object> object);
// Null where there is no such handle.
std::shared_ptr<Object> find(loom_handle handle);
// False where there is no such handle.
bool remove(loom_handle handle);
std::int64_t count();
// Asks the call inside an object, or else its next one, to end as cancelled. False where there is
// no such handle, or nothing of it runs long. Neither locks nor allocates, so that a signal handler
// may call it.
bool cancel(loom_handle handle);

std::string_view kind_name(std::int32_t kind);
Status no_such_handle(loom_handle handle, std::int32_t expected);

template <class T>
Result<std::shared_ptr<T>> get(loom_handle handle) {
  std::shared_ptr<Object> object = find(handle);
  if (!object || object->kind != T::kKind) return no_such_handle(handle, T::kKind);
  return std::static_pointer_cast<T>(std::move(object));
}

template <class T>
Result<locks::unique_lock<locks::mutex>> enter(T& object) {
  return enter(object.mutex, object.left, T::kKind);
}

}  // namespace loom::c_api
