// Cells of a step mesh that run as one instruction: those that compute the same of other weights,
// as a product in f32 and an activation, from one value each. Their weights lie side by side, lane
// by lane (ops/cells), and the f32 values of all cells in one row.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "grid/network.h"
#include "ops/program_builder.h"

namespace loom {

struct CellGroup {
  struct Cell {
    std::size_t cell = 0;
    WeightStore *weight = nullptr, *bias = nullptr;
    std::uint64_t weight_epoch = ~std::uint64_t{0}, bias_epoch = ~std::uint64_t{0};  // as packed
  };
  std::int64_t inputs = 0, outputs = 0, activation = 0;
  bool bias = false;
  std::vector<Cell> cells;
  std::size_t part = 0;     // GroupedCells::parts
  std::int64_t column = 0;  // of the first cell's values; those of the others follow

  std::int64_t blocks() const { return (static_cast<std::int64_t>(cells.size()) + 15) / 16; }
  std::size_t weight_values() const {
    return static_cast<std::size_t>(blocks() * outputs * inputs * 16);
  }
  std::size_t bias_values() const { return static_cast<std::size_t>(blocks() * outputs * 16); }
  // The weights of those cells whose stores changed, where ops/cells has them.
  Status pack(std::span<float> weight, std::span<float> bias);
};

struct GroupedCells {
  std::vector<CellGroup> groups;      // none: all cells run by themselves
  std::vector<bool> grouped;          // of each cell
  std::vector<std::int64_t> columns;  // where a cell's values begin in the row; -1: not in f32
  std::vector<std::vector<std::int64_t>> arrivals;  // Network::arrivals
  std::int64_t input = -1;  // where what arrives from outside does; -1: no group reads it
  std::int64_t width = 0;   // of the row
  // The first cells of ranges of cells, whose weights fit a core's cache. A range reads from itself
  // and from those before it, so that it can run several ticks before the next one begins.
  std::vector<std::size_t> parts;

  std::size_t end(std::size_t part) const {
    return part + 1 < parts.size() ? parts[part + 1] : grouped.size();
  }
  // The columns that the cells of a group read from on.
  std::vector<std::int32_t> sources(const CellGroup& group) const;
};

struct GroupOptions {
  std::size_t min_cells = 16;           // of one kind
  std::size_t part_bytes = 512 * 1024;  // of the weights of a part, about
};
GroupedCells group_cells(Network& network, const GroupOptions& options = {});

// Where they lie in a program.
struct GroupedViews {
  View values;  // the row before the first tick, and after the last one
  struct Group {
    View weight, at, bias;
  };
  std::vector<Group> groups;
};

}  // namespace loom
