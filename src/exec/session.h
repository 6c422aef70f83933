// A Session runs a network: its program, one arena, and the states (KV caches) of its sequences.
// One network serves many sessions; one run at a time per session. Nothing is allocated while it
// runs.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "base/threads/thread_pool.h"
#include "exec/observe/observer.h"
#include "exec/observe/taps.h"
#include "grid/adapter.h"
#include "grid/network.h"
#include "ops/executor.h"

namespace loom {

// How products with integer weights take their activations (numerics rule 5): two planes, 15 bits,
// or one, 8 bits.
inline constexpr const char* kActivationNames = "q15, i8";

struct SessionOptions {
  std::int64_t max_rows = 64;      // rows (samples, tokens) per run
  std::int64_t max_head_rows = 1;  // rows that go on from the head cell, where the network has one
  std::int64_t max_positions = 512;  // per sequence
  std::int64_t sequences = 1;
  bool whole_sequences = false;      // no cache: attention sees the rows of this run only (each
                                     // sequence whole, positions from 0)
  std::shared_ptr<Adapter> adapter;  // beside the network's weights; null: none
  gpu::Device* device = nullptr;     // null: the CPU; it must outlive the session
  std::string isa;                   // "": the best here
  std::string activations;           // one of kActivationNames; "": q15
  bool fuse = true;                  // ExecutorOptions
  bool auto_device = false;  // with a device: each run takes the CPU where runs of as many rows
                             // were faster there. Sessions with states choose once
  bool poison = false;       // tests: NaN in what was not written
  bool watch = false;        // keeps what layers with rules take and give, for Session::watched
  // Set: a run ends as cancelled (Executor::run). Its rows count as not given: a cache then ends
  // before the first of them, a recurrent state begins anew.
  const std::atomic<bool>* cancel = nullptr;
};

class Session {
 public:
  // The network and the pool must outlive the session.
  static Result<Session> create(Network& network, ThreadPool& pool,
                                const SessionOptions& options = {});

  // Runs rows x width inputs; the result is the first row of the output, output(i) gives the
  // others.
  Result<std::span<const float>> run(std::span<const float> x, std::int64_t rows);
  // The same of doubles, for a network that takes them as they are (takes_f64).
  Status run(std::span<const double> x, std::int64_t rows);
  bool takes_f64() const { return wide_input_; }
  // Whether output_f64 has answers.
  bool gives_f64() const { return wide_output_; }

  // The same of ids: those of a row one after the other, as many as the input has steps.
  Result<std::span<const float>> run_ids(std::span<const std::uint32_t> ids);

  // The same where the network has attention over rows or carries states: each row with its
  // sequence and position.
  Result<std::span<const float>> run(std::span<const float> x,
                                     std::span<const std::uint32_t> sequences,
                                     std::span<const std::uint32_t> positions);
  Status run(std::span<const double> x, std::span<const std::uint32_t> sequences,
             std::span<const std::uint32_t> positions);

  // Token form: ids, each with its sequence and position; `head` lists the rows whose output is
  // wanted, ascending. The result holds head.size() rows (all rows where the network has no head
  // cell).
  Status run_tokens(std::span<const std::uint32_t> ids, std::span<const std::uint32_t> sequences,
                    std::span<const std::uint32_t> positions, std::span<const std::uint32_t> head);
  // Where `resident`: `id` is run at `position` of a sequence, then the id that `draw` picks after
  // it, and so on; picked are the ids so found, at most Executor::kMaxPicked, ~0 where the host has
  // to pick (Executor::run_ahead). On a device nothing else moves. output(0) is of the last run.
  bool resident() const {
    return !recurs_ && !observation_ && !options_.watch && active().executor_->resident();
  }
  // Whether a sequence can go back to an earlier position other than 0: recurrent states cannot.
  bool rewinds() const { return !recurs_; }
  Status run_ahead(std::uint32_t id, std::uint32_t sequence, std::uint32_t position,
                   const Draw& draw, std::span<std::uint32_t> picked);
  // Row i of the last run's output; rounded to f32 where the network's last cells compute in f64.
  std::span<const float> output(std::int64_t i);
  // There unrounded; empty where they compute in f32.
  std::span<const double> output_f64(std::int64_t i);

  // From the next run on `observer` has an event per cell, and per layer inside it where the
  // options say `nested`, of each pass that they ask for (null: of none any more). A pass is a call
  // of run. Observed ones run a second program, in which what every cell hands on is kept: the
  // outputs have the same bits, and passes in between run the program that runs without an
  // observer. Costs its arena and its prepared weights again, and where the network has states a
  // copy of them when the programs change over. Nothing is allocated by runs. The observer must
  // outlive the session or its end here. A session that observes is not resident. Errors:
  // invalid_argument for the options, and `weights`.
  Status observe(Observer* observer, const ObserveOptions& options = {});
  // Passes since observe(), and those of them that were observed.
  std::int64_t passes() const { return observation_ ? observation_->passes : 0; }
  std::int64_t observed_passes() const { return observation_ ? observation_->observed : 0; }

  // Runs end at a deadline from now on (Executor::slice_clock; kNoDeadline: at none), with the code
  // `paused`. The same run again, with the same arguments, continues it with the same bits; another
  // one drops it: its rows count as not given, as after `cancel`. run_ahead is not cut.
  // unsupported: a session on a device, or with auto_device, that observes, or that watches.
  Status pause_at(std::int64_t deadline);
  // Layers with rules, where the options watch: their statistics in the last pass, with all their
  // values where a layer ran several times. Paths repeat in no list.
  struct Watched {
    std::string path;
    CellStatistics in, out;
  };
  std::vector<Watched> watched();
  // Whether the next passes have those statistics (at first they have); the program is the same.
  void watch(bool on);
  // KV caches and recurrent states of the sequences, by the places that they have in programs, and
  // how far the sequences are.
  struct States {
    struct State {
      std::string path, role;
      ValueType type;
      std::int64_t cols;
      std::vector<std::byte> bytes;
    };
    std::vector<State> list;
    std::vector<std::int64_t> lengths;
  };
  States states();
  // Continues from the states of another session of this network, which may have had other layers
  // then. False: a state here has none there, and all sequences begin anew.
  bool take(const States& states);

  // Runs with another adapter, or with none, from now on. States (KV caches) begin anew: they were
  // another network's.
  Status adapt(std::shared_ptr<Adapter> adapter);
  // Prepares weights again after the network's changed.
  Status refresh();
  const Program& program() const { return active().executor_->program(); }
  // Of the last run, where a session may take one of two.
  Executor& executor() { return *active().executor_; }
  const SessionOptions& options() const { return options_; }

 private:
  // `measured`: how long runs took, by the number of their rows in bits.
  struct Cost {
    double seconds[2] = {};  // the shortest, here and on the twin
    int runs[2] = {};
  };
  // A session of the second program, and who looks at it.
  struct Observation {
    std::unique_ptr<Session> session;
    Observer* observer = nullptr;
    ObserveOptions options;
    std::int64_t passes = 0, observed = 0;
    bool last = false;  // the last run was observed: its outputs and states are there
  };
  // Rows of a run by their sequences, positions and those whose output is wanted.
  struct Tokens {
    std::span<const std::uint32_t> sequences, positions, head;
  };
  // Of runs with a deadline.
  struct Slices {
    std::int64_t deadline = Executor::kNoDeadline;
    bool paused = false;
    std::vector<std::byte> begun, asked;  // the arguments of the run that paused, and of this one
    std::vector<std::uint32_t> sequences, positions;  // of its rows
    std::size_t turn = 0;                             // run_in_turn: where it is
  };
  Session() = default;
  static Result<Session> make(Network& network, ThreadPool& pool, const SessionOptions& options,
                              std::vector<ObservedCell> cells);
  template <class Run>
  auto observed(const Run& run) -> decltype(run(*this));
  // Which session a pass runs; `o` holds the observation meanwhile, as neither side may have it.
  Session& begin_pass(std::unique_ptr<Observation>& o);
  Status end_pass(std::unique_ptr<Observation> o, bool ran);
  Status report_pass();
  // States and lengths of sequences go where the next run needs them.
  void hand_states(Session& to);
  Session& latest() {
    return observation_ && observation_->last ? *observation_->session : active();
  }
  Status execute(const Taps::Places& places);
  Status run_slice();
  // Whether a run of these arguments continues the one that paused. Else that one is dropped.
  bool continues(std::span<const std::byte> x, const Tokens& tokens);
  void drop_slices();
  // What create() does: finds the program's registers and buffers, makes room for what a run needs,
  // and makes the session on the CPU that is measured against the device.
  void find_buffers();
  void reserve();
  Status add_cpu_fallback();
  Status choose_device_once();
  Session& active() { return on_cpu_fallback_ ? *cpu_fallback_ : *this; }
  const Session& active() const { return on_cpu_fallback_ ? *cpu_fallback_ : *this; }
  template <class Run>
  auto faster(std::size_t rows, const Run& run) -> decltype(run(*this));
  template <class T>
  void put_values(std::int64_t row, const T* x);
  template <class T>
  Result<std::span<const float>> run_values(std::span<const T> x, std::int64_t rows);
  template <class T>
  Status run_places(std::span<const T> x, std::span<const std::uint32_t> sequences,
                    std::span<const std::uint32_t> positions);
  template <class T>
  std::span<const T> answer(std::vector<T>& collected, std::int64_t i);
  Result<std::span<const float>> run_set(std::int64_t rows);
  Status check_values(std::size_t values, std::int64_t rows) const;
  Status check_room(std::int64_t rows, std::int64_t outputs) const;
  // put(r, to) sets what arrives at row `to` from the run's row r.
  template <class Put>
  Status set_rows(const Tokens& tokens, const Put& put);
  template <class Put>
  Status run_rows(std::span<const std::byte> x, const Tokens& tokens, const Put& put);
  template <class Put>
  Status run_in_turn(const Tokens& tokens, const Put& put, bool again);
  void take_turn(const Tokens& tokens, std::size_t n);
  Status check_positions(const Tokens& tokens);
  void forget(const Tokens& tokens);
  Status check_ids(std::span<const std::uint32_t> ids, const Tokens& tokens) const;
  Network* network_ = nullptr;
  ThreadPool* pool_ = nullptr;
  SessionOptions options_;
  std::unique_ptr<Executor> executor_;
  std::unique_ptr<Session> cpu_fallback_;  // on the CPU, where this one is on a device
  bool on_cpu_fallback_ = false;           // the last run
  // Of a session of the second program, or one that watches: what cells give, each view with its
  // cell, then what watched layers take and give; and room for the statistics of the cells.
  std::unique_ptr<Taps> taps_;
  std::vector<std::size_t> taps_of_;
  std::vector<CellStatistics> joined_;
  std::vector<std::string> watched_paths_;
  std::unique_ptr<Observation> observation_;
  std::unique_ptr<Slices> slices_;
  std::vector<Cost> costs_;
  RegisterId rows_ = kNone, head_ = kNone;
  BufferId input_ = kNone, output_ = kNone, positions_ = kNone, sequences_ = kNone,
           head_rows_ = kNone;
  std::int64_t width_ = 0;
  // Of sequences with states: positions that each has, and those that it will have after this run.
  std::vector<std::int64_t> lengths_, next_;
  bool recurs_ =
      false;  // layers go from row to row: a run takes one row of each sequence at a time
  std::vector<float> collected_;  // then: the outputs of a run's rows
  std::vector<double> collected_f64_;
  bool wide_input_ = false, wide_output_ = false;  // f64
  std::vector<float> rounded_;  // then: the outputs that somebody asked for in f32
  // One turn of such a run: what its rows are, which of the run's rows they were, and where outputs
  // go.
  struct Turn {
    std::vector<std::uint32_t> sequences, positions, head;
    std::vector<std::size_t> from, to;
    void reserve(std::size_t rows);
    void clear();
  };
  Turn turn_;
  std::vector<std::size_t> turn_of_, seen_;  // of a run's rows; of sequences
  std::vector<std::uint32_t> all_rows_;      // 0, 1, 2, ...: rows of values are all wanted
};

// The parameter lookup of a network and its adapter, for executors.
WeightLookup weights_of(Network& network, const std::shared_ptr<Adapter>& adapter = {});
// What a program keeps for observers: what cells and layers give; what layers with rules take and
// give, where the options watch.
struct TapPlan {
  std::vector<ObservedCell> cells;
  std::vector<View> views;      // of the cells, then two for each watched layer
  std::vector<std::size_t> of;  // the cells of those views; one may have none, or several
  std::vector<std::string> watched;
};
// The program a session of these options runs; with `taps` one that keeps what they say.
Result<Program> emit_program(Network& network, const SessionOptions& options,
                             TapPlan* taps = nullptr);

}  // namespace loom
