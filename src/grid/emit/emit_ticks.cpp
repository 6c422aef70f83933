// Emission of a network that runs by ticks: every cell in each of them, from the values of the tick
// before.
#include <map>
#include <utility>

#include "base/message.h"
#include "grid/emit/emitter.h"

namespace loom {

// What a cell hands on has the type of what arrives; the types of cycles of such cells are those
// that reach them from elsewhere.
std::vector<ValueType> NetworkEmitter::value_types() const {
  const std::size_t n = network_.size();
  const auto arrivals = network_.arrivals();
  std::vector<ValueType> types(n, ValueType::f32);
  std::vector<std::vector<std::size_t>> readers(n);
  std::vector<std::size_t> changed;
  const ValueType input = network_.input().ids > 0 ? ValueType::u32 : input_type(network_);
  const auto of = [&](std::int64_t from) {
    return from < 0 ? input : types[static_cast<std::size_t>(from)];
  };
  for (std::size_t i = 0; i < n; ++i) {
    if (!network_.passes(i) && computes_in_f64(network_.node(network_.executed(i))))
      types[i] = ValueType::f64;
    changed.push_back(i);
    for (const std::int64_t from : arrivals[i])
      if (from >= 0) readers[static_cast<std::size_t>(from)].push_back(i);
  }
  while (!changed.empty()) {
    const std::size_t i = changed.back();
    changed.pop_back();
    ValueType type = types[i];
    if (network_.passes(i)) {
      if (arrivals[i].size() == 1) type = of(arrivals[i][0]);
      else
        for (const std::int64_t from : arrivals[i])
          if (of(from) == ValueType::f64) type = ValueType::f64;
    }
    if (type == types[i]) continue;
    types[i] = type;
    changed.insert(changed.end(), readers[i].begin(), readers[i].end());
  }
  return types;
}

Status NetworkEmitter::list_by_ticks(View x) {
  const std::int64_t ticks = network_.ticks();
  const auto cells = static_cast<std::int64_t>(network_.size());
  const std::vector<ValueType> types = value_types();
  for (std::size_t i = 0; i < types.size(); ++i)
    if (types[i] == ValueType::u32)
      return Status(Code::unsupported,
                    message("step mesh: cell ", network_.coordinate(i).to_string(),
                            " hands ids on: put an embedding there"));
  outside_.clear();
  for (std::int64_t t = 0; t < ticks; ++t)
    outside_.push_back(ticks == 1 ? x
                                  : ProgramBuilder::slice(x, t * (x.cols / ticks), x.cols / ticks));
  std::vector<View> before = options_.values;
  if (before.empty()) {
    std::map<std::pair<ValueType, std::int64_t>, View> zeros;
    Rows rows = emit_.rows(x);
    if (network_.input().ids > 0) rows.constant /= network_.input().count();
    for (std::size_t i = 0; i < types.size(); ++i) {
      const std::int64_t width = network_.output(i).width;
      View& zero = zeros[{types[i], width}];
      if (!zero.valid()) {
        zero = emit_.temp(types[i], rows, width);
        emit_.fill(zero, 0);
      }
      before.push_back(zero);
    }
  }
  outside_.insert(outside_.end(), before.begin(), before.end());
  for (std::int64_t t = 0; t < ticks; ++t) {
    for (std::int64_t i = 0; i < cells; ++i) {
      Execution execution;
      execution.cell = static_cast<std::size_t>(i);
      execution.tape.tick = t;
      for (const std::int64_t from : arrivals_[execution.cell])
        execution.from.push_back(from < 0 ? -1 - t
                                 : t == 0 ? -1 - ticks - from
                                          : (t - 1) * cells + from);
      executions_.push_back(std::move(execution));
    }
    if (network_.answers() == Network::Answers::every_tick || t + 1 == ticks)
      answering_.push_back(executions_.size() - 1);
  }
  return {};
}

std::vector<View> NetworkEmitter::values() const {
  std::vector<View> last;
  for (std::size_t i = executions_.size() - network_.size(); i < executions_.size(); ++i)
    last.push_back(executions_[i].y);
  return last;
}

}  // namespace loom
