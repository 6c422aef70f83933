// Emission of a chain of cells part by part, so that something may stand between them and gradients
// end where a part does.
#include <utility>

#include "grid/emit/emitter.h"

namespace loom {
namespace {

bool has_matrices(const Node& node) {
  for (const Param& p : node.params)
    if (p.spec.quantized || p.spec.rows > 1) return true;
  for (const Node& child : node.children)
    if (has_matrices(child)) return true;
  return false;
}

// Where a nested layer runs a cell's; empty: nowhere.
std::string running(const Node& node, const std::string& path) {
  for (std::size_t i = 0; i < node.children.size(); ++i) {
    std::string child = path;
    child += '/';
    child += std::to_string(i);
    if (!node.children[i].links.empty()) return child;
    if (std::string found = running(node.children[i], child); !found.empty()) return found;
  }
  return {};
}

Status no_chain(const std::string& where, const std::string& why) {
  return Status(Code::unsupported, where + ' ' + why +
                                       ": parts that learn by themselves are a chain of cells, " +
                                       "each with a layer of its own that takes what the cell " +
                                       "before it hands on");
}

Status check_chain(Network& network) {
  if (network.step_mesh || network.ticks() > 0) return no_chain("the network", "is a step mesh");
  for (std::size_t i = 0; i < network.size(); ++i) {
    const Node& node = network.node(i);
    if (!node.links.empty()) return no_chain("cell " + network.path(i), "has links");
    if (std::string at = running(node, network.path(i)); !at.empty())
      return no_chain("the layer at " + at, "runs another cell's");
  }
  for (const Network::NamedParam& p : network.params())
    if (p.tied)
      return no_chain("parameter " + p.path + ":" + p.param->spec.role, "is tied to another");
  return {};
}

}  // namespace

Result<std::vector<ChainPart>> chain_parts(Network& network) {
  LOOM_TRY(check_chain(network));
  std::vector<ChainPart> parts;
  for (std::size_t i = 0; i < network.size(); ++i) {
    const Node& node = network.node(i);
    const bool passes = network.passes(i);
    if (!passes && has_matrices(node)) {
      const std::size_t first = parts.empty() ? 0 : i;
      parts.push_back({first, i, network.path(i), 0, ValueType::f32});
    }
    if (parts.empty()) continue;
    ChainPart& part = parts.back();
    part.end = i + 1;
    part.width = network.output(i).width;
    if (!passes) part.type = computes_in_f64(node) ? ValueType::f64 : ValueType::f32;
  }
  return parts;
}

Status NetworkEmitter::begin_parts(View x) {
  LOOM_ASSIGN(parts_, chain_parts(network_));
  return begin(x);
}

Result<View> NetworkEmitter::forward_part(std::size_t part) {
  const auto [first, end] = std::pair(parts_[part].first, parts_[part].end);
  for (std::size_t i = first; i < end; ++i) LOOM_TRY(run(executions_[i]));
  return executions_[end - 1].y;
}

Result<View> NetworkEmitter::part_of(std::size_t part, View x) {
  for (std::size_t i = parts_[part].first; i < parts_[part].end; ++i) {
    if (network_.passes(i)) continue;
    const Tape& ran = executions_[i].tape;
    Tape tape{.node = ran.node, .path = ran.path, .type = ran.type, .again = true};
    LOOM_ASSIGN(x, run_node(tape, emit_.convert(x, tape.type), View{}));
  }
  return x;
}

Result<View> NetworkEmitter::backward_part(std::size_t part, View gy) {
  const auto [first, end] = std::pair(parts_[part].first, parts_[part].end);
  executions_[end - 1].gradients = {gy};
  for (std::size_t i = end; i-- > first;) LOOM_TRY(run_back(executions_[i]));
  if (first == 0) return input_gradient_;
  Execution& before = executions_[first - 1];
  const View gx = total(before);
  before.gradients.clear();
  return gx;
}

}  // namespace loom
