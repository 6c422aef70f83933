#include "exec/observe/tap_plan.h"

#include <algorithm>
#include <numeric>

namespace loom {
namespace {

// Whether an instruction from `begin` on writes columns of a view.
bool written(const Program& program, const View& v, std::size_t begin) {
  for (std::size_t n = begin; n < program.code.size(); ++n) {
    const Instruction& ins = program.code[n];
    const OpInfo& op = info(ins.op);
    for (std::size_t i = 0; i < op.operands.size(); ++i) {
      const View& to = ins.operands[i];
      if (op.operands[i].role != Role::read && to.buffer == v.buffer && to.col < v.col + v.cols &&
          v.col < to.col + to.cols)
        return true;
    }
  }
  return false;
}

bool dynamic(const Program& program, RegisterId r) {
  return r != kNone &&
         program.registers[static_cast<std::size_t>(r)].type == RegisterType::dynamic_rows;
}

void add_nested(std::vector<ObservedCell>& cells, const Node& node, std::size_t parent) {
  for (std::size_t i = 0; i < node.children.size(); ++i) {
    const Node& child = node.children[i];
    if (!child.links.empty()) continue;
    ObservedCell cell = cells[parent];
    cell.path += "/" + std::to_string(i);
    cell.type = child.type ? child.type->name() : "empty";
    cell.enabled = cell.enabled && child.enabled;
    cells.push_back(std::move(cell));
    add_nested(cells, child, cells.size() - 1);
  }
}

}  // namespace

std::vector<ObservedCell> observed_cells(const Network& network, bool nested) {
  std::vector<ObservedCell> cells;
  for (std::size_t i = 0; i < network.size(); ++i) {
    const std::size_t executed = network.executed(i);
    const Node& node = network.node(executed);
    cells.push_back({network.path(i), std::string(node.type ? node.type->name() : "empty"),
                     network.coordinate(i), network.node(i).enabled && node.enabled});
    if (nested && executed == i) add_nested(cells, node, cells.size() - 1);
  }
  return cells;
}

bool Keeper::ask(View value, std::size_t end) {
  const Program& program = emit_.program();
  const Rows& rows = emit_.rows(value);
  if (dynamic(program, rows.a) || dynamic(program, rows.b)) return false;
  asked_.push_back({value, end});
  return true;
}

View Keeper::keep(View value, std::size_t end, std::size_t number) {
  Program& program = emit_.program();
  Buffer& b = program.buffers[static_cast<std::size_t>(value.buffer)];
  const std::string name = "observed" + std::to_string(number);
  const bool overwritten = written(program, value, end);
  if (b.kind == BufferKind::temp && !overwritten) {
    b.kind = BufferKind::output;
    b.role = name;
  } else if (overwritten || (b.kind != BufferKind::output && b.kind != BufferKind::input)) {
    const View copy = emit_.output(name, b.type, b.rows, value.cols);
    emit_.copy_to(value, copy);
    std::vector<Instruction>& code = program.code;
    const auto at = code.begin() + static_cast<std::ptrdiff_t>(end);
    code.back().segment = end > 0 ? code[end - 1].segment : Segment::forward;
    std::rotate(at, code.end() - 1, code.end());
    value = copy;
  }
  return value;
}

std::vector<View> Keeper::keep() {
  std::vector<View> views;
  const std::vector<Instruction>& code = emit_.program().code;
  for (std::size_t i = 0; i < asked_.size(); ++i) {
    const std::size_t before = code.size(), end = asked_[i].end;
    views.push_back(keep(asked_[i].value, end, i));
    if (code.size() == before) continue;
    // A copy moves the instructions behind it.
    for (std::size_t k = i + 1; k < asked_.size(); ++k) asked_[k].end += asked_[k].end > end;
  }
  return views;
}

std::vector<std::size_t> ask_recorded(Keeper& keeper, const NetworkEmitter& emitter,
                                      const std::vector<ObservedCell>& cells) {
  std::vector<std::size_t> order(cells.size()), of;
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) -> const std::string& { return cells[i].path; });
  const auto path = [&](std::size_t i) -> const std::string& { return cells[i].path; };
  for (const NetworkEmitter::Recorded& r : emitter.recorded())
    for (auto at = std::ranges::lower_bound(order, r.path, {}, path);
         at != order.end() && cells[*at].path == r.path; ++at)
      if (cells[*at].direction == (r.gradient ? "backward" : "forward") &&
          keeper.ask(r.value, r.end))
        of.push_back(*at);
  return of;
}

}  // namespace loom
