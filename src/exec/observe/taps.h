// Taps read the output of every cell after a pass of a program that keeps them. All room is made
// when they are; reading allocates nothing.
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
  // `head`: the register of the rows from the head cell on, or kNone.
  Taps(const Executor& executor, const std::vector<View>& cells, RegisterId head);

  // The statistics of a pass begin anew.
  void clear();
  // Which rows of the pass an executor's run had; empty: all, in their order.
  struct Places {
    std::span<const std::size_t> rows;    // of each row of the run
    std::span<const std::uint32_t> head;  // of each row from the head cell on, its row of the run
    bool head_unwanted = false;           // those are of no row that was asked for
  };
  // Adds what the last run of the executor left.
  void read(Executor& executor, ThreadPool& pool, const Places& places);
  const CellStatistics& of(std::size_t cell) const { return cells_[cell].statistics; }
  std::size_t size() const { return cells_.size(); }

 private:
  struct Cell {
    View view;
    ValueType type = ValueType::f32;
    bool head = false;        // its rows are those from the head cell on
    std::int64_t of_row = 1;  // rows of the buffer for a row of the pass
    const std::byte* data = nullptr;
    std::int64_t stride = 0;  // bytes from row to row
    std::int64_t count = 0;   // values of the run
    std::size_t first = 0;    // its first block
    CellStatistics statistics;
    std::size_t blocks() const {
      return (static_cast<std::size_t>(count) + BlockSums::kBlock - 1) / BlockSums::kBlock;
    }
  };
  static void sum(void* context, int worker, int workers) noexcept;
  BlockSums block(const Cell& cell, std::size_t index) const;
  std::vector<Cell> cells_;
  std::vector<BlockSums> blocks_;
  std::size_t used_ = 0;  // of the blocks
};

}  // namespace loom
