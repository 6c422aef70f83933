// A network that runs by ticks: its cells fire at once, each from what those that it reads gave in
// the tick before, and the values of all cells live here between the ticks. Every link is one tick,
// of cells that are switched off or empty too; layers inside of a container run within the tick.
// Values begin at 0. Each stream is a mesh beside the others, with the same weights. One run at a
// time; nothing is allocated while it runs.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "base/threads/thread_pool.h"
#include "exec/observe/observer.h"
#include "grid/adapter.h"
#include "grid/emit/cell_groups.h"
#include "grid/network.h"
#include "ops/executor.h"

namespace loom {

struct StepMeshOptions {
  std::int64_t streams = 1;
  std::shared_ptr<Adapter> adapter;           // beside the network's weights; null: none
  gpu::Device* device = nullptr;              // null: the CPU; it must outlive the mesh
  std::string isa;                            // "": the best here
  bool fuse = true;                           // ExecutorOptions
  bool auto_device = false;                   // refused: values stay where they are
  bool poison = false;                        // tests: NaN in what was not written
  const std::atomic<bool>* cancel = nullptr;  // set: a run ends as cancelled (Executor::run)
  bool group = true;  // cells of one kind run as one instruction, with the same bits
  std::size_t part_bytes = GroupOptions().part_bytes;
  std::int64_t max_ticks = 64;  // in one program: a run of many ticks is cut into such, and ticks
};

class StepMesh {
 public:
  // Any network that Network::over_ticks takes, with links in a cycle or without. Weights are
  // shared with it; it need not live on, the pool must.
  static Result<StepMesh> create(const Network& network, ThreadPool& pool,
                                 const StepMeshOptions& options = {});
  StepMesh(StepMesh&&) noexcept;
  StepMesh& operator=(StepMesh&&) noexcept;
  ~StepMesh();

  // Runs `ticks` ticks of all streams. x: streams x ticks x what arrives at a tick; or streams x
  // that, held for all of them. T: float, double (a network that takes f64), std::uint32_t (ids).
  // y: streams x ticks x what the last cell gives; streams x that, after the last tick; or none.
  // U: float (rounded where it gives f64), double. invalid_argument: other sizes or types.
  // After an error (cancelled among them) the mesh is as after tick(), the last tick that it has
  // done.
  template <class T, class U>
  Status run(std::span<const T> x, std::int64_t ticks, std::span<U> y) {
    static_assert(kType<U> != ValueType::u32, "y: float or double");
    // x is only read.
    return run(values(std::span(const_cast<T*>(x.data()), x.size())), ticks, values(y));
  }
  // Runs end at a deadline from now on (Executor::slice_clock; kNoDeadline: at none), with the code
  // `paused`; a device looks between its programs. The same run again, with the same arguments,
  // continues it with the same bits, and y is written when it is done; another one, reset and
  // restore drop it: the mesh is then as after tick(), as it is meanwhile to those who look.
  void pause_at(std::int64_t deadline) { slices_.deadline = deadline; }
  // Ticks since the values were 0, over all runs.
  std::int64_t tick() const { return tick_; }
  std::int64_t streams() const { return options_.streams; }
  bool takes_ids() const { return input_type_ == ValueType::u32; }
  bool takes_f64() const { return input_type_ == ValueType::f64; }
  bool gives_f64() const { return output_type_ == ValueType::f64; }
  std::int64_t input_width() const { return input_width_; }    // of a tick: values or ids
  std::int64_t output_width() const { return output_width_; }  // of a tick
  // Its cells are those of the network that it was made of.
  const Network& network() const { return *network_; }

  // What cell i gave in the last tick, to one stream: as many values as the cell's output has.
  Result<std::vector<double>> value(std::size_t cell, std::int64_t stream);

  // From the next tick on `observer` has an event per cell of each tick that the options ask for
  // (null: of none any more): of its output to all streams. A pass is a tick. The program of a
  // tick stays as it is, and so do all bits; ticks that are observed are not joined with others in
  // one program. Ticks allocate nothing for it. A run that has paused is dropped. An error of the
  // observer ends a run after that tick. The observer must outlive the mesh or its end here.
  // invalid_argument: options, `nested` and `weights` among them. unsupported: a device.
  Status observe(Observer* observer, const ObserveOptions& options = {});
  // Ticks since observe(), and those of them that were observed.
  std::int64_t passes() const;
  std::int64_t observed_passes() const;

  // All values begin at 0 again.
  Status reset();
  // The values of all cells and the tick, as bytes (docs/reference/step-mesh.md). restore: of a
  // mesh with as many streams, whose cells give as much; else invalid_argument or corrupt, and
  // nothing has changed.
  std::string snapshot();
  Status restore(std::string_view bytes);

  // Prepares weights again after the network's changed.
  Status refresh();
  // Of one tick.
  const Program& program() const { return one_.executor->program(); }
  // Of any number of ticks, cells one by one, as every executor runs it: all that it needs beside
  // the network's weights are values of 0 in its states. x: [streams, ticks x input width].
  Result<Program> portable_program(std::int64_t ticks) const;
  std::string_view target() const { return one_.executor->target(); }

 private:
  // A program of some ticks, with its own room for the values.
  struct Ticks {
    std::int64_t ticks = 0;
    std::unique_ptr<Network> network;
    std::unique_ptr<Executor> executor;
    BufferId input = kNone, output = kNone;
    std::vector<View> values;      // of each cell, a row for each stream
    std::vector<BufferId> states;  // those that values lie in
    GroupedViews groups;
    ValueType type(const View& v) const {
      return executor->program().buffers[static_cast<std::size_t>(v.buffer)].type;
    }
    std::byte* row(const View& v, std::int64_t stream);
  };
  // What goes in or comes out, of one of the types of run().
  struct Values {
    std::byte* data;
    std::size_t count;
    ValueType type;
  };
  template <class T>
  static constexpr ValueType kType = std::is_same_v<T, double>          ? ValueType::f64
                                     : std::is_same_v<T, float>         ? ValueType::f32
                                     : std::is_same_v<T, std::uint32_t> ? ValueType::u32
                                                                        : ValueType::i32;
  template <class T>
  static Values values(std::span<T> v) {
    static_assert(kType<T> != ValueType::i32, "float, double or std::uint32_t");
    return {reinterpret_cast<std::byte*>(v.data()), v.size(), kType<T>};
  }
  StepMesh();
  // Ticks before the next one that is observed; of ticks that are done those that are.
  std::int64_t quiet_ticks() const;
  Status report_ticks(std::int64_t ticks);
  Result<Ticks> make(std::int64_t ticks);
  Result<Program> emit_ticks(Ticks& t);
  Result<Program> emit_cells(Ticks& t) const;
  Result<Program> emit_groups(Ticks& t);
  // Writes the tables and weights of the groups to their states.
  Status fill_groups();
  Status pack_groups();
  Status make_many();
  Ticks& holder() { return in_many_ ? many_ : one_; }
  template <class F>
  void each_value(const F& f);
  // On the CPU a run can end between two instructions that change values: those before it are
  // saved, and come back where it fails.
  void save(Ticks& program, bool back);
  Status run(Ticks& program);
  // Of runs with a deadline.
  struct Slices {
    std::int64_t deadline = Executor::kNoDeadline;
    Ticks StepMesh::* half = nullptr;  // the program that is half done
    bool begun = false;                // a run has paused, with these arguments:
    std::vector<std::byte> x;
    std::int64_t ticks = 0, done = 0;  // done: of its ticks
    std::vector<std::byte> y;          // their outputs
  };
  // Whether a run of these arguments continues the one that paused. Else that one is dropped.
  bool continues(const Values& x, std::int64_t ticks, const Values& y);
  void drop_slices();
  Status pause(std::int64_t done);
  // The values after tick() for those who look, where a program is half done.
  class Look;
  // Moves the values to where `to` finds them.
  void hand_over(Ticks& to);
  Status check(const Values& x, std::int64_t ticks, const Values& y) const;
  Status run(const Values& x, std::int64_t ticks, const Values& y);
  Status run_from(std::int64_t done, const Values& x, std::int64_t ticks, const Values& y);
  void put(Ticks& program, const Values& x, std::int64_t tick);
  void get(Ticks& program, const Values& y, std::int64_t tick);

  struct Observation;
  std::unique_ptr<Network> network_;
  ThreadPool* pool_ = nullptr;
  StepMeshOptions options_;
  GroupedCells groups_;
  Ticks one_, many_;  // of one tick, and of many: on the CPU they share their states
  std::vector<std::byte> saved_;
  Slices slices_;
  std::unique_ptr<Observation> observation_;
  bool in_many_ = false;  // which of the two has the values
  std::int64_t tick_ = 0, input_width_ = 0, output_width_ = 0;
  ValueType input_type_ = ValueType::f32, output_type_ = ValueType::f32;
};

}  // namespace loom
