// The executor's private plan of a run: which instructions may start before all workers have
// finished the ones before. A barrier stands only where a worker would touch what another one
// writes; a few rows that every product needs (norms, quantized activations) are computed by each
// worker for itself. The bits are those of a run with a barrier after every instruction: only who
// computes when changes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ops/lowering/lowered.h"
#include "ops/lowering/memory_planner.h"

namespace loom::cpu {

class Schedule {
 public:
  Schedule() = default;
  // fuse = false: a barrier before every instruction and nothing private. The program must outlive
  // the schedule.
  Schedule(const LoweredProgram& program, int workers, bool fuse);

  // Bytes of private copies per worker, and where a buffer's copy lies in them (-1: it has none).
  std::int64_t private_bytes() const { return private_.arena_bytes; }
  std::int64_t private_offset(BufferId id) const {
    return private_.offset.empty() ? -1 : private_.offset[static_cast<std::size_t>(id)];
  }

  // For these register values; `data` is where each buffer lies. Cheap where no row count has
  // changed its class.
  void update(std::span<const std::uint32_t> registers, std::span<std::byte* const> data);
  bool barrier_before(std::size_t instruction) const { return barrier_[instruction] != 0; }
  // Every worker computes all of it, into its private copy of the result.
  bool whole(std::size_t instruction) const {
    return (classes_[instruction] & kFew) != 0 && makes_private(instruction);
  }
  // Whether the readers of a buffer read their private copies in this run.
  bool is_private(BufferId id) const {
    return private_offset(id) >= 0 &&
           (classes_[static_cast<std::size_t>(writer_[static_cast<std::size_t>(id)])] & kFew) != 0;
  }

 private:
  // What of a row count decides how kernels cut their work: few enough for everybody to compute
  // them, fewer than workers, gemv.
  enum RowClass : std::uint8_t { kKnown = 1, kFew = 2, kFewerThanWorkers = 4, kGemv = 8 };
  bool makes_private(std::size_t instruction) const;
  bool conflicts(std::size_t before, std::size_t after, std::span<std::byte* const> data) const;

  const LoweredProgram* program_ = nullptr;
  int workers_ = 1;
  bool fuse_ = false;
  Placement private_;
  std::vector<int> writer_;  // per buffer: its only writer, -1 where there are several or none
  std::vector<std::uint8_t> classes_, barrier_,
      dynamic_rows_;  // per instruction; the last: it has rows that the run measures
};

}  // namespace loom::cpu
