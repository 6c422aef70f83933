// Replays a Program on a WebGPU device. Everything that instructions write lies in one storage
// buffer, the arena: the planned buffers, then states, masters, vectors, tables and scratch.
// Planning makes the pipelines and bind groups; setting registers only rewrites the parameters, and
// a run is one submit of the recorded list. The host holds copies of its inputs and outputs.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "gpu/device.h"
#include "ops/executor.h"
#include "ops/lowering/fuse_decoding.h"
#include "ops/lowering/memory_planner.h"
#include "ops/webgpu/device_weights.h"
#include "ops/webgpu/kernels.h"

namespace loom::webgpu {

class Executor final : public loom::Executor {
 public:
  // Errors: unsupported where the program computes in f64 (class D) or an instruction has no kernel
  // here, by name; out_of_memory by the device's limits.
  static Result<std::unique_ptr<Executor>> create(Program program, WeightLookup weights,
                                                  gpu::Device& device,
                                                  const ExecutorOptions& options = {});
  ~Executor() override;

  std::string_view target() const override { return device_.info().name; }
  std::int64_t barriers() const override { return dispatched_; }
  std::size_t instructions() const override { return lowered_.code.size(); }
  std::int64_t arena_bytes() const override { return static_cast<std::int64_t>(arena_.bytes()); }
  std::int64_t state_bytes() const override { return state_bytes_; }
  std::int64_t weight_bytes() const override;

  std::byte* row_bytes(BufferId id, std::int64_t r) override;
  std::span<std::byte> state(BufferId id) override;
  Status run(Segment first = Segment::forward, Segment last = Segment::update) override;
  bool resident() const override { return !pick_.empty(); }
  Status run_ahead(const Draw& draw, std::span<std::uint32_t> picked) override;
  Status refresh() override;
  Status sync() override;
  bool keeps_masters() const override { return !masters_.empty(); }

 private:
  static constexpr std::size_t kSlot = 128;  // words of parameters per dispatch

  // A recorded dispatch; `spec.instruction` is null where it brings a master into the forms that
  // kernels read.
  struct Launch {
    LaunchSpec spec;
    gpu::Handle pipeline = 0, bindings = 0;
    std::vector<gpu::Handle> wide{};
  };
  // A parameter that the program reads as a matrix or a vector.
  struct Parameter {
    BufferId buffer = kNone;
    WeightStore* store = nullptr;
    std::uint64_t epoch = ~std::uint64_t{0};
    bool matrix = false;
    DeviceMatrix device;
  };
  struct Master {
    BufferId buffer = kNone;
    WeightStore* store = nullptr;
  };
  // Per row of an input of positions: the first row of its sequence, and the sequence's length. For
  // attention_rows.
  struct SequenceTable {
    BufferId positions = kNone;
    std::uint32_t at = 0;    // word in the arena
    std::int64_t limit = 0;  // of a sequence, in whole blocks
  };
  // The host's copy of a buffer.
  struct Mirror {
    std::vector<std::byte> bytes;
    bool fresh = false;  // holds what the device has
    bool dirty = false;  // the host may have written to it since the last run
  };

  Executor(Program program, WeightLookup weights, gpu::Device& device,
           const ExecutorOptions& options)
      : loom::Executor(std::move(program), std::move(weights), options.cancel), device_(device) {}
  Status plan(const ExecutorOptions& options);
  Status refuse_doubles() const;
  Status plan_arena();
  std::int64_t plan_sequences();
  void plan_lasting();
  Status write_constants();
  Status plan_parameters();
  Status record();
  Status record_code(std::vector<LaunchSpec>& specs);
  Status add_launch(LaunchSpec spec);
  std::uint32_t take_words(std::int64_t count);
  std::uint32_t word_of(BufferId id) const { return place_[static_cast<std::size_t>(id)]; }
  std::int64_t stride_words(BufferId id) const;
  const Buffer& buffer(BufferId id) const { return lowered_.buffers[static_cast<std::size_t>(id)]; }
  Parameter* matrix_of(BufferId id);
  const SequenceTable* sequences_of(BufferId positions) const;
  Status plan_heaps();
  Status upload_parameter(Parameter& p);
  Status upload_masters();
  Status repack_on_device();
  Status bind_registers();
  void fill_slot(std::size_t n);
  RowRange rows_of(const LaunchSpec& spec, std::size_t operand) const;
  void fill_matrices(const LaunchSpec& spec, std::uint32_t* slot);
  Status upload_inputs(Segment first);
  Status upload_sequences();
  Status poison();
  // The dispatches of a run, in submitted_.
  void collect(std::span<const std::size_t> order, Segment first, Segment last);
  Status submit(std::span<const std::size_t> order, Segment first, Segment last);
  static LaunchSpec* update_of(std::vector<LaunchSpec>& specs, BufferId master, BufferId matrix);
  void plan_repacks(std::vector<LaunchSpec>& specs);
  std::int64_t pick_words() const;
  void plan_index_select(std::vector<LaunchSpec>& specs);
  void fill_pick(std::uint32_t* extra) const;
  Status prepare_draw(const Draw& draw);
  Status upload_seen(const Draw& draw);
  Status prepare(Segment first);
  Status read_outputs();
  Mirror& mirror(BufferId id);
  Status fetch(BufferId id);

  gpu::Device& device_;
  LoweredProgram lowered_;
  std::vector<Fusion> fusions_;  // of single rows
  Placement placement_;
  std::vector<bool> used_;            // per buffer: an instruction names it
  std::vector<std::uint32_t> place_;  // per buffer: its first word in the arena
  std::uint64_t arena_words_ = 0;
  gpu::Buffer arena_, parameters_;
  std::vector<Parameter> parameters_read_;
  std::vector<Master> masters_;
  std::vector<gpu::Buffer> heaps_;  // of weight matrices
  std::vector<Launch> launches_;
  std::vector<std::size_t> in_order_, fused_, repacks_,
      pick_;  // of launches_: those of every instruction; of single rows; from masters; of
              // run_ahead
  bool draws_ = false;        // the kernels that draw are compiled
  bool single_rows_ = false;  // of the registers' values: fused_ runs
  bool update_reads_inputs_ = false;
  std::vector<std::uint32_t> slots_;
  std::vector<gpu::Dispatch> list_,
      submitted_;  // of the registers' values, one per launch; of this run
  std::vector<Mirror> mirrors_;
  std::uint32_t page_table_at_ = 0, scratch_at_ = 0, picked_at_ = 0, registers_at_ = 0;
  std::vector<std::uint32_t> uploaded_pages_;
  std::vector<std::uint32_t> seen_, wanted_seen_;  // a bit for each id: the device's; for a run
  std::vector<SequenceTable> sequence_tables_;
  std::vector<std::uint32_t> bound_u32_;
  std::vector<double> bound_reals_;
  std::int64_t state_bytes_ = 0, dispatched_ = 0;
  bool bound_ = false, poison_ = false, fuse_ = true;
  bool outputs_behind_ = false;  // the host's copies of outputs are older than the device's
  bool changed_ = true;          // formats or buffers of matrices, since recording
  bool device_ahead_ =
      false;  // masters were updated on the device, parameters not yet made from them
  bool host_behind_ = false;  // the stores' masters are older than the device's
  Status failure_;            // of a copy that a row was asked for
};

}  // namespace loom::webgpu
