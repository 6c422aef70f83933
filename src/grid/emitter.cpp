#include "grid/emitter.h"

#include <algorithm>

namespace loom {

// What a layer sees of the network while it emits.
class NodeVisit : public Visit {
 public:
  NodeVisit(NetworkEmitter& emitter, NetworkEmitter::Tape& tape) : Visit(emitter.emit_), e_(emitter), tape_(tape) {
    type = tape.type;
    training = emitter.options_.training;
    max_positions = emitter.options_.max_positions;
    sequences = emitter.options_.sequences;
  }

  View weight(std::string_view role) override {
    const Param* p = tape_.node->find(role);
    const NamedStore named = name_of(*p, role);
    return emit.weight(named.path, named.role, p->spec.rows, p->spec.cols, p->store->format(), type);
  }

  Gradient gradient(std::string_view role) override {
    const Param* p = tape_.node->find(role);
    const NamedStore named = name_of(*p, role);
    for (auto& sum : e_.sums_)
      if (sum.store == p->store.get()) return {sum.value, Accumulate::yes};
    const View to = emit.buffer({.type = type, .kind = BufferKind::grad, .rows = {p->spec.rows}, .cols = p->spec.cols, .path = named.path, .role = named.role});
    e_.sums_.push_back({p->store.get(), named.path, named.role, to, true, p->spec.rows, p->spec.cols, type});
    return {to, Accumulate::no};
  }

  View positions() override { return emit.input("positions", ValueType::u32, emit.rows(e_.input_), 1); }
  View sequence_ids() override { return emit.input("sequences", ValueType::u32, emit.rows(e_.input_), 1); }
  View state(std::string_view role, ValueType state_type, Rows rows, std::int64_t cols) override { return emit.state(tape_.path, role, state_type, rows, cols); }
  void keep(std::string_view name, View value) override { tape_.kept.insert_or_assign(std::string(name), value); }
  View kept(std::string_view name) const override { return tape_.kept.find(name)->second; }

  std::size_t child_count() const override { return tape_.node->children.size(); }
  Result<View> child_forward(std::size_t i, View x, View skip) override {
    if (tape_.children.empty()) tape_.children.resize(child_count());
    NetworkEmitter::Tape& child = tape_.children[i];
    child.node = &tape_.node->children[i];
    child.path = tape_.path + "/" + std::to_string(i);
    child.type = type;
    return e_.run_node(child, x, skip);
  }
  Result<View> child_backward(std::size_t i, View gy, View* gskip) override { return e_.run_node_back(tape_.children[i], gy, gskip); }

 private:
  struct NamedStore {
    std::string path, role;
  };
  // A tied parameter goes by its owner's name, so that it is prepared, and learned, once.
  NamedStore name_of(const Param& p, std::string_view role) const {
    if (!tape_.node->tie.empty() && &p == &tape_.node->params[0]) {
      const std::size_t colon = tape_.node->tie.find(':');
      return {tape_.node->tie.substr(0, colon), tape_.node->tie.substr(colon + 1)};
    }
    return {tape_.path, std::string(role)};
  }

  NetworkEmitter& e_;
  NetworkEmitter::Tape& tape_;
};

Result<View> NetworkEmitter::run_node(Tape& tape, View x, View skip) {
  if (!tape.node->enabled) return x;
  NodeVisit visit(*this, tape);
  auto y = tape.node->type->forward(*tape.node->config, visit, x, skip);
  if (!y.ok()) return y.status().at(std::string(tape.node->type->name()) + " at " + tape.path);
  return y;
}

Result<View> NetworkEmitter::run_node_back(Tape& tape, View gy, View* gskip) {
  if (!tape.node->enabled) return gy;
  NodeVisit visit(*this, tape);
  auto gx = tape.node->type->backward(*tape.node->config, visit, gy, gskip);
  if (!gx.ok()) return gx.status().at(std::string(tape.node->type->name()) + " at " + tape.path);
  return gx;
}

Result<View> NetworkEmitter::forward(View x) {
  input_ = x;
  LOOM_ASSIGN(order_, network_.order());
  arrivals_ = network_.arrivals();
  cells_.clear();
  cells_.resize(network_.size());
  for (std::size_t i : order_) {
    Cell& cell = cells_[i];
    const Node& node = network_.node(i);
    const Node& run = network_.node(network_.executed(i));
    const bool passes = network_.passes(i);
    const ValueType type = !passes && computes_in_f64(run) ? ValueType::f64 : ValueType::f32;
    for (std::int64_t from : arrivals_[i]) {
      const View v = from < 0 ? x : cells_[static_cast<std::size_t>(from)].y;
      const ValueType t = emit_.type(v);
      cell.arrival_types.push_back(t);
      // Ids stay ids. An empty cell passes its single arrival as it is.
      const bool real = t == ValueType::f32 || t == ValueType::f64;
      cell.arrivals.push_back(real && !(passes && arrivals_[i].size() == 1) ? emit_.convert(v, type) : v);
    }
    cell.x = cell.arrivals[0];
    if (cell.arrivals.size() > 1) {
      if (node.merge == Merge::concat) {
        std::int64_t width = 0;
        for (const View& v : cell.arrivals) width += v.cols;
        cell.x = emit_.temp(type, emit_.rows(cell.arrivals[0]), width);
        std::int64_t col = 0;
        for (const View& v : cell.arrivals) {
          emit_.copy_to(v, Emit::slice(cell.x, col, v.cols));
          col += v.cols;
        }
      } else {
        for (std::size_t k = 1; k < cell.arrivals.size(); ++k) cell.x = emit_.add(cell.x, cell.arrivals[k]);
        if (node.merge == Merge::avg) cell.x = emit_.scale(cell.x, 1.0 / static_cast<double>(cell.arrivals.size()));
      }
    }
    if (network_.head == static_cast<std::int64_t>(i) && options_.head_rows.valid()) {
      cell.selected_from = cell.x;
      cell.x = emit_.gather_rows(cell.x, options_.head_rows);
    }
    if (passes) {
      cell.y = cell.x;
      continue;
    }
    cell.tape.node = &run;
    cell.tape.path = network_.path(network_.executed(i));
    cell.tape.type = type;
    LOOM_ASSIGN(cell.y, run_node(cell.tape, cell.x, View{}));
  }
  return cells_.back().y;
}

// Readers' gradients are added in the order in which they were emitted.
View NetworkEmitter::total(Cell& cell) {
  View g;
  for (const View& part : cell.gradients) g = g.valid() ? emit_.add(g, part) : part;
  return g;
}

Status NetworkEmitter::backward(View gy) {
  cells_.back().gradients.push_back(gy);
  for (std::size_t n = order_.size(); n-- > 0;) {
    const std::size_t i = order_[n];
    Cell& cell = cells_[i];
    View g = total(cell);
    if (!g.valid()) continue;  // nothing downstream learns from this cell
    if (cell.tape.node) {
      View gskip;
      LOOM_ASSIGN(g, run_node_back(cell.tape, g, &gskip));
    }
    if (cell.selected_from.valid() && g.valid()) g = emit_.scatter_rows(g, options_.head_rows, emit_.rows(cell.selected_from));
    if (!g.valid()) continue;  // ids have no gradient
    const std::vector<std::int64_t>& arrivals = arrivals_[i];
    std::int64_t col = 0;
    const Merge merge = network_.node(i).merge;
    if (arrivals.size() > 1 && merge == Merge::avg) g = emit_.scale(g, 1.0 / static_cast<double>(arrivals.size()));
    for (std::size_t k = 0; k < arrivals.size(); ++k) {
      View part = g;
      if (arrivals.size() > 1 && merge == Merge::concat) {
        part = Emit::slice(g, col, cell.arrivals[k].cols);
        col += cell.arrivals[k].cols;
      }
      if (arrivals[k] < 0) continue;
      cells_[static_cast<std::size_t>(arrivals[k])].gradients.push_back(emit_.convert(part, cell.arrival_types[k]));
    }
  }
  return {};
}

std::vector<NetworkEmitter::Gradient> NetworkEmitter::gradients() const {
  std::vector<Gradient> list;
  for (const Network::NamedParam& p : network_.params()) {
    if (p.tied) continue;
    for (const Sum& s : sums_)
      if (s.store == p.param->store.get()) list.push_back({s.path, s.role, s.store, s.rows, s.cols, s.type, s.value});
  }
  return list;
}

}  // namespace loom
