// Taps read the output of every cell in a pass of a program that keeps them: on the CPU as soon as
// it is written, while it is warm, and else after the pass. All room is made when they are; reading
// allocates nothing.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/threads/thread_pool.h"
#include "exec/observe/statistics.h"
#include "ops/executor.h"

namespace loom {

class Taps {
 public:
  // `cells`: the view of each cell's output in the executor's program, in host memory after a run.
  // `head`: the register of the rows from the head cell on, or kNone. The executor calls these taps
  // from now on, so they must outlive its runs; `after`: it does not, and all is read after a run.
  enum class Watch : bool { during, after };
  Taps(Executor& executor, const std::vector<View>& cells, RegisterId head,
       Watch watch = Watch::during);

  // The statistics of a pass begin anew.
  void clear();
  // Whether runs are read.
  void enable(bool on) { enabled_ = on; }
  // Values of one view count as active above `limit` from the next run on; 0: it is not read.
  void set_active(std::size_t cell, double limit) { cells_[cell].active = limit; }
  // Which rows of the pass an executor's run had; empty: all, in their order.
  struct Places {
    std::span<const std::size_t> rows;    // of each row of the run
    std::span<const std::uint32_t> head;  // of each row from the head cell on, its row of the run
    bool head_unwanted = false;           // those are of no row that was asked for
    std::int64_t first = 0;               // added to rows of the run: of other runs before it
  };
  // Before a run of the executor, whose registers are set, and after it; read adds what it left.
  void begin(Executor& executor, const Places& places);
  void read(Executor& executor, ThreadPool& pool, const Places& places);
  const CellStatistics& of(std::size_t cell) const { return cells_[cell].statistics; }
  // The statistics of each cell, where view i is of cell of[i]: of all of its views together.
  void join(const std::vector<std::size_t>& of, std::vector<CellStatistics>& cells) const;
  std::size_t size() const { return cells_.size(); }

 private:
  struct Cell {
    View view;
    ValueType type = ValueType::f32;
    bool of_run = false;      // its rows are those of the run, or a number of each
    bool head = false;        // its rows are those from the head cell on
    std::int64_t of_row = 1;  // rows of the buffer for a row of the pass
    const std::byte* data = nullptr;
    std::int64_t stride = 0;  // bytes from row to row
    std::int64_t count = 0;   // values of the run
    std::size_t first = 0;    // its first block
    bool summed = false;      // in this run
    double active = CellStatistics::kActive;
    CellStatistics statistics;
    std::size_t blocks() const {
      return (static_cast<std::size_t>(count) + BlockSums::kBlock - 1) / BlockSums::kBlock;
    }
  };
  static void written(void* context, std::size_t index, int worker, int workers) noexcept;
  static void sum_rest(void* context, int worker, int workers) noexcept;
  static void place(Cell& cell, Executor& executor, const Places& places);
  void sum(const Cell& cell, int worker, int workers);
  BlockSums block(const Cell& cell, std::size_t index) const;
  bool enabled_ = true;
  std::vector<Cell> cells_;
  // Cells in the order of the executor's watcher; none where the executor does not call it.
  std::vector<std::size_t> watched_;
  std::vector<BlockSums> blocks_;
};

}  // namespace loom
