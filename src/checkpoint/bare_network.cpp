#include "checkpoint/bare_network.h"

#include <algorithm>
#include <limits>

namespace loom {
namespace {

constexpr std::int64_t kMaxSize = std::numeric_limits<std::int32_t>::max();
constexpr std::size_t kFreeCells = 4096;  // empty cells cost nothing in the file, so their number is bounded by this and the others

Status bad(std::string what) { return Status(Code::invalid_argument, std::move(what)); }

Result<Coordinate> cell_coordinate(const Json& cell) {
  const Json* at = cell.find("at");
  if (!at || !at->is_array() || at->as_array().size() != 4 || !std::all_of(at->as_array().begin(), at->as_array().end(), [](const Json& v) { return v.is_integer(); }))
    return bad("\"at\": expected four integers [z, y, x, l]");
  const Json::Array& a = at->as_array();
  return Coordinate{a[0].as_integer(), a[1].as_integer(), a[2].as_integer(), a[3].as_integer()};
}

Status check_width(const Shape& shape) {
  if (shape.width >= 0 && shape.width <= kMaxSize && shape.ids >= 0 && shape.ids <= kMaxSize) return {};
  return bad("rows of " + shape.to_string() + ": the limit is 2^31-1");
}

Result<Shape> plan_node(Node& node, const Shape& in, const Shape* skip, const std::string& path);

class Children : public ChildPlanner {
 public:
  Children(Node& node, const std::string& path) : node_(node), path_(path) {}
  std::size_t count() const override { return node_.children.size(); }
  Result<Shape> plan(std::size_t i, const Shape& in, const Shape* skip) override { return plan_node(node_.children[i], in, skip, path_ + "/" + std::to_string(i)); }

 private:
  Node& node_;
  const std::string& path_;
};

Result<Shape> plan_node(Node& node, const Shape& in, const Shape* skip, const std::string& path) {
  Children children(node, path);
  const std::string where = std::string(node.type->name()) + " at " + path;
  auto plan = node.type->plan(*node.config, in, skip, children);
  if (!plan.ok()) return plan.status().at(where);
  LOOM_TRY(check_width(plan->out).at(where));
  node.params.clear();
  for (ParamSpec& spec : plan->params) {
    if (spec.rows < 1 || spec.cols < 1 || spec.rows > kMaxSize || spec.cols > kMaxSize)
      return bad(where + ": parameter " + spec.role + " of " + std::to_string(spec.rows) + " x " + std::to_string(spec.cols) + ": each is 1 to 2^31-1");
    node.params.push_back({std::move(spec), nullptr});
  }
  return plan->out;
}

void drop_params(Node& node) {
  node.params.clear();
  for (Node& child : node.children) drop_params(child);
}

bool any_in_file(const Node& node, const std::string& path, const InFile& in_file) {
  for (const Param& p : node.params)
    if (in_file(path + ":" + p.spec.role)) return true;
  for (std::size_t i = 0; i < node.children.size(); ++i)
    if (any_in_file(node.children[i], path + "/" + std::to_string(i), in_file)) return true;
  return false;
}

// What the merge of a cell makes of its arrivals.
Result<Shape> merged(const Node& node, const std::vector<Shape>& in) {
  if (in.empty()) return bad("nothing arrives");
  Shape shape = in[0];
  for (std::size_t k = 1; k < in.size(); ++k) {
    if (shape.ids > 0 || in[k].ids > 0) return bad("ids cannot be merged");
    if (node.merge == Merge::concat) shape.width += in[k].width;
    else if (in[k].width != shape.width) return bad("cannot merge widths " + std::to_string(shape.width) + " and " + std::to_string(in[k].width));
    LOOM_TRY(check_width(shape));
  }
  return shape;
}

}  // namespace

Result<Network> bare_network(const Json& topology, const InFile& in_file) {
  const Json* cells = topology.find("cells");
  if (!cells || !cells->is_array()) return bad("topology: \"cells\" must be a list");
  std::size_t grid = 1;
  for (const char* key : {"depth", "rows", "cols", "layers_per_cell"}) {
    LOOM_ASSIGN(const std::int64_t n, topology.get_integer(key, 1));
    if (n < 1 || static_cast<std::uint64_t>(n) > std::max(kFreeCells, 16 * cells->as_array().size()) / grid)
      return bad("topology: depth x rows x cols x layers_per_cell is less than 1, or over " + std::to_string(kFreeCells) + " and 16 times the " +
                 std::to_string(cells->as_array().size()) + " cells listed");
    grid *= static_cast<std::size_t>(n);
  }
  // The grid reads everything but the cells; they follow one by one, which makes no parameters.
  Json::Object frame;
  for (const auto& [key, value] : topology.as_object()) frame.emplace_back(key, key == "cells" ? Json::array() : value);
  LOOM_ASSIGN(Network network, Network::from_json(Json(std::move(frame))));
  std::vector<bool> set(network.size(), false);
  for (std::size_t i = 0; i < cells->as_array().size(); ++i) {
    const Json& cell = cells->as_array()[i];
    auto at = cell_coordinate(cell);
    if (!at.ok()) return at.status().at("topology: cells[" + std::to_string(i) + "]");
    LOOM_TRY(network.set_cell(*at, cell).at("topology"));
    if (set[network.index(*at)]) return bad("topology: cell " + at->to_string() + " stands twice");
    set[network.index(*at)] = true;
  }

  for (std::size_t i = 0; i < network.size(); ++i)
    for (const Link& link : network.node(i).links)
      if (!network.contains(link.cell)) return bad("topology: " + network.coordinate(i).to_string() + ": links to " + link.cell.to_string() + ", which is outside of the grid");
  LOOM_ASSIGN(const std::vector<std::size_t> order, network.order());
  std::vector<Shape> outputs(network.size());
  std::vector<bool> planned(network.size(), false);
  for (const std::size_t i : order) {
    std::vector<Shape> in;
    for (const std::int64_t from : network.arrivals(i)) in.push_back(from < 0 ? network.input() : outputs[static_cast<std::size_t>(from)]);
    auto shape = merged(network.node(i), in);
    if (!shape.ok()) return shape.status().at("topology: " + network.coordinate(i).to_string());
    outputs[i] = *shape;
    const std::size_t executed = network.executed(i);
    Node& node = network.node(executed);
    if (!node.type) continue;
    if (network.node(i).enabled) {
      auto out = plan_node(node, *shape, nullptr, network.path(executed));
      if (!out.ok()) return out.status().at("topology");
      outputs[i] = *out;
      planned[executed] = true;
    } else if (executed == i && !planned[i]) {
      // A cell that is switched off need not fit; where it does, it may have weights.
      if (!plan_node(node, *shape, nullptr, network.path(i)).ok()) drop_params(node);
    }
  }
  for (std::size_t i = 0; i < network.size(); ++i)
    if (!planned[i] && !any_in_file(network.node(i), network.path(i), in_file)) drop_params(network.node(i));
  return network;
}

bool is_tied(const Network::NamedParam& p) { return !p.node->tie.empty() && p.param == &p.node->params[0] && p.path.find('/') == std::string::npos; }

}  // namespace loom
