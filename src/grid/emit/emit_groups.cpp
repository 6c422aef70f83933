// Emission by ticks where cells run in groups: a tick reads the row of all values of the tick
// before and writes another. Where cells are cut into parts, a part runs all ticks of the program
// before the next one begins, so that its weights are read from memory once; each tick has its own
// row then, because later parts read those of earlier ones tick by tick.
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
Status NetworkEmitter::tick_of_others(const GroupedCells& cells, std::size_t part,
                                      std::int64_t tick, View from, View to) {
  std::vector<std::pair<std::size_t, View>> now;
  for (std::size_t i = cells.parts[part]; i < cells.end(part); ++i) {
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
    else now.emplace_back(i, execution.y);
  }
  for (const auto& [i, y] : now) options_.values[i] = y;
  return {};
}

// Of the values before each tick, and after the last one.
std::vector<View> NetworkEmitter::rows_of_ticks(const GroupedCells& cells,
                                                const GroupedViews& views) {
  std::vector<View> rows{views.values};
  const bool apart = cells.parts.size() > 1;
  for (std::int64_t t = 0; t < network_.ticks(); ++t)
    if (t == 0 || (apart && t > 0))
      rows.push_back(emit_.temp(ValueType::f32, emit_.rows(views.values), cells.width));
    else rows.push_back(rows[rows.size() - 2]);
  return rows;
}

void NetworkEmitter::tick_of_groups(const GroupedCells& cells, std::size_t part,
                                    const GroupedViews& views, View from, View to) {
  for (std::size_t g = 0; g < cells.groups.size(); ++g) {
    const CellGroup& group = cells.groups[g];
    if (group.part != part) continue;
    const GroupedViews::Group& v = views.groups[g];
    emit_.cell_products(
        from, v.weight, v.at, v.bias,
        ProgramBuilder::slice(to, group.column,
                              static_cast<std::int64_t>(group.cells.size()) * group.outputs),
        {group.inputs, group.outputs, group.activation});
  }
}

Result<std::vector<View>> NetworkEmitter::forward_groups(View x, const GroupedCells& cells,
                                                         const GroupedViews& views, View y) {
  input_ = x;
  arrivals_ = network_.arrivals();
  const std::int64_t ticks = network_.ticks();
  const std::size_t answers = network_.size() - 1;
  const bool narrow = cells.columns[answers] >= 0;
  const std::int64_t width = network_.output(answers).width;
  const std::vector<View> rows = rows_of_ticks(cells, views);
  outside_.resize(network_.size() + 1);
  for (std::size_t part = 0; part < cells.parts.size(); ++part)
    for (std::int64_t t = 0; t < ticks; ++t) {
      const View from = rows[static_cast<std::size_t>(t)],
                 to = rows[static_cast<std::size_t>(t) + 1];
      outside_[0] = ticks == 1 ? x : ProgramBuilder::slice(x, t * (x.cols / ticks), x.cols / ticks);
      if (part == 0 && cells.input >= 0)
        emit_.copy_to(outside_[0], ProgramBuilder::slice(from, cells.input, outside_[0].cols));
      tick_of_groups(cells, part, views, from, to);
      LOOM_TRY(tick_of_others(cells, part, t, from, to));
      if (part + 1 == cells.parts.size())
        emit_.copy_to(narrow ? ProgramBuilder::slice(to, cells.columns[answers], width)
                             : options_.values[answers],
                      ProgramBuilder::slice(y, t * width, width));
    }
  if (rows.back() != views.values) emit_.copy_to(rows.back(), views.values);
  return options_.values;
}

}  // namespace loom
