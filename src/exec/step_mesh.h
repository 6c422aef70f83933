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
#include "grid/network.h"
#include "ops/executor.h"

namespace loom {

struct StepMeshOptions {
  std::int64_t streams = 1;
  gpu::Device* device = nullptr;              // null: the CPU; it must outlive the mesh
  std::string isa;                            // "": the best here
  bool fuse = true;                           // ExecutorOptions
  bool poison = false;                        // tests: NaN in what was not written
  const std::atomic<bool>* cancel = nullptr;  // set: a run ends as cancelled between two programs
  std::int64_t max_ticks = 64;  // in one program: a run of many ticks is cut into such, and ticks
};

class StepMesh {
 public:
  // Any network that Network::over_ticks takes, with links in a cycle or without. Weights are
  // shared with it; it need not live on, the pool must.
  static Result<StepMesh> create(const Network& network, ThreadPool& pool,
                                 const StepMeshOptions& options = {});

  // Runs `ticks` ticks of all streams. x: streams x ticks x what arrives at a tick; or streams x
  // that, held for all of them. T: float, double (a network that takes f64), std::uint32_t (ids).
  // y: streams x ticks x what the last cell gives, or none. U: float (rounded where it gives f64),
  // double. invalid_argument: other sizes or types; cancelled: the mesh is as after the last tick
  // that it has done (tick()).
  template <class T, class U>
  Status run(std::span<const T> x, std::int64_t ticks, std::span<U> y);
  // Ticks since the values were 0, over all runs.
  std::int64_t tick() const { return tick_; }
  std::int64_t streams() const { return options_.streams; }
  bool takes_f64() const { return input_type_ == ValueType::f64; }
  bool gives_f64() const { return output_type_ == ValueType::f64; }
  std::int64_t input_width() const { return input_width_; }    // of a tick: values or ids
  std::int64_t output_width() const { return output_width_; }  // of a tick

  // What cell i gave in the last tick, to one stream: as many values as the cell's output has.
  Result<std::vector<double>> value(std::size_t cell, std::int64_t stream);

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
  std::string_view target() const { return one_.executor->target(); }

 private:
  // A program of some ticks, with its own room for the values.
  struct Ticks {
    std::int64_t ticks = 0;
    std::unique_ptr<Network> network;
    std::unique_ptr<Executor> executor;
    BufferId input = kNone, output = kNone;
    std::vector<BufferId> values;  // of each cell
    const Buffer& of(BufferId id) const {
      return executor->program().buffers[static_cast<std::size_t>(id)];
    }
  };
  StepMesh() = default;
  Result<Ticks> make(std::int64_t ticks);
  Status make_many();
  Ticks& holder() { return in_many_ ? many_ : one_; }
  template <class F>
  void each_value(const F& f);
  // Moves the values to where `to` finds them.
  void hand_over(Ticks& to);
  template <class T>
  void put(Ticks& program, std::span<const T> x, std::int64_t tick, std::int64_t ticks);
  template <class U>
  void get(Ticks& program, std::span<U> y, std::int64_t tick, std::int64_t ticks);
  template <class T>
  Status check_input(std::span<const T> x, std::int64_t ticks) const;

  std::unique_ptr<Network> network_;
  ThreadPool* pool_ = nullptr;
  StepMeshOptions options_;
  Ticks one_, many_;
  bool in_many_ = false;  // which of the two has the values
  std::int64_t tick_ = 0, input_width_ = 0, output_width_ = 0;
  ValueType input_type_ = ValueType::f32, output_type_ = ValueType::f32;
};

}  // namespace loom
