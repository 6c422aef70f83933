// Emission by ticks where cells run in groups: a tick reads the row of all values of the tick
// before and writes another, and the two change places.
#include <utility>

#include "grid/emit/cell_groups.h"
#include "grid/emit/emitter.h"

namespace loom {

Result<View> NetworkEmitter::forward_cell(std::size_t cell, View x) {
  input_ = x;
  const std::size_t executed = network_.executed(cell);
  Tape tape;
  tape.node = &network_.node(executed);
  tape.path = network_.path(executed);
  return run_node(tape, x, View{});
}

// The cells that run by themselves, and what a tick begins with.
Status NetworkEmitter::tick_of_others(const GroupedCells& cells, std::int64_t tick, View from,
                                      View to) {
  std::vector<View> now = options_.values;
  for (std::size_t i = 0; i < network_.size(); ++i) {
    if (cells.grouped[i]) continue;
    Execution execution;
    execution.cell = i;
    execution.tape.tick = tick;
    for (const std::int64_t a : arrivals_[i]) {
      execution.from.push_back(a < 0 ? -1 : -2 - a);
      const auto source = static_cast<std::size_t>(a);
      if (a >= 0 && cells.columns[source] >= 0)
        outside_[source + 1] =
            ProgramBuilder::slice(from, cells.columns[source], network_.output(source).width);
      else if (a >= 0) outside_[source + 1] = options_.values[source];
    }
    LOOM_TRY(run(execution));
    if (cells.columns[i] >= 0)
      emit_.copy_to(execution.y, ProgramBuilder::slice(to, cells.columns[i], execution.y.cols));
    else now[i] = execution.y;
  }
  options_.values = std::move(now);
  return {};
}

Result<std::vector<View>> NetworkEmitter::forward_groups(View x, const GroupedCells& cells,
                                                         const GroupedViews& views, View y) {
  input_ = x;
  arrivals_ = network_.arrivals();
  const std::int64_t ticks = network_.ticks();
  const std::size_t answers = network_.size() - 1;
  const bool narrow = cells.columns[answers] >= 0;
  const std::int64_t width = network_.output(answers).width;
  View from = views.values, to = views.next;
  outside_.resize(network_.size() + 1);
  for (std::int64_t t = 0; t < ticks; ++t) {
    outside_[0] = ticks == 1 ? x : ProgramBuilder::slice(x, t * (x.cols / ticks), x.cols / ticks);
    if (cells.input >= 0)
      emit_.copy_to(outside_[0], ProgramBuilder::slice(from, cells.input, outside_[0].cols));
    for (std::size_t g = 0; g < cells.groups.size(); ++g) {
      const CellGroup& group = cells.groups[g];
      const GroupedViews::Group& v = views.groups[g];
      emit_.cell_products(
          from, v.weight, v.at, v.bias,
          ProgramBuilder::slice(to, group.column,
                                static_cast<std::int64_t>(group.cells.size()) * group.outputs),
          {group.inputs, group.outputs, group.activation});
    }
    LOOM_TRY(tick_of_others(cells, t, from, to));
    emit_.copy_to(narrow ? ProgramBuilder::slice(to, cells.columns[answers], width)
                         : options_.values[answers],
                  ProgramBuilder::slice(y, t * width, width));
    std::swap(from, to);
  }
  if (from != views.values) emit_.copy_to(from, views.values);
  return options_.values;
}

}  // namespace loom
