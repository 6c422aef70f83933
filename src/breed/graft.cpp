// Whole networks as the branches of one.
#include <algorithm>

#include "base/fields/field_reader.h"
#include "breed/splice.h"
#include "breed/weights.h"

namespace loom::breed {
namespace {

Status invalid(std::string text) { return {Code::invalid_argument, std::move(text)}; }

Json at_json(std::int64_t z, std::int64_t y = 0, std::int64_t x = 0, std::int64_t l = 0) {
  return Json(Json::Array{Json(z), Json(y), Json(x), Json(l)});
}

Json read_link(Json at) {
  Json link = Json::object();
  link.set("read", std::move(at));
  return link;
}

// Coordinates of a parent's cell as they are in the graft: planes further back.
void move_planes(Json& coordinate, std::int64_t planes) {
  Json& z = coordinate.as_array()[0];
  z = Json(z.as_integer() + planes);
}

void move_links(Json& layer, std::int64_t planes) {
  for (auto& [key, value] : layer.as_object()) {
    if (key == "links")
      for (Json& link : value.as_array()) move_planes(link.as_object()[0].second, planes);
    if (key == "layers")
      for (Json& child : value.as_array()) move_links(child, planes);
  }
}

// "0.0.0.1:weight" likewise.
std::string moved_name(const std::string& name, std::int64_t planes) {
  const std::size_t dot = std::min(name.find('.'), name.size());
  std::int64_t z = 0;
  for (const char c : name.substr(0, dot)) z = z * 10 + (c - '0');
  return std::to_string(z + planes) + name.substr(dot);
}

Status check_parent(const Network& first, const Network& n, std::size_t k) {
  const std::string where = "network " + std::to_string(k);
  const auto refused = [&](const char* what) {
    return Status(Code::unsupported, where + ": " + what);
  };
  if (n.step_mesh) return refused("a step mesh runs in ticks, and a graft in one pass");
  if (n.head >= 0) return refused("it has a head, from which on only some rows run");
  if (!n.output().parts.empty()) return refused("it has several outputs");
  if (n.version() != first.version())
    return invalid(where + ": has topology version " + std::to_string(n.version()) +
                   ", and network 0 version " + std::to_string(first.version()));
  if (n.input() != first.input())
    return invalid(where + ": takes " + n.input().to_string() + ", and network 0 takes " +
                   first.input().to_string());
  return {};
}

Status check_outputs(const std::vector<Network*>& networks, const GraftOptions& o) {
  if (o.combine == "concat" || o.stitch) return {};
  const Shape& first = networks[0]->output();
  for (std::size_t k = 1; k < networks.size(); ++k) {
    const Shape& out = networks[k]->output();
    if (out.width != first.width || out.dims != first.dims)
      return invalid("network " + std::to_string(k) + ": its output is " + out.to_string() +
                     ", and that of network 0 " + first.to_string() + ": for " + o.combine +
                     " they must agree, or set \"stitch\"");
  }
  return {};
}

class Grafting {
 public:
  Grafting(const std::vector<Network*>& networks, const GraftOptions& options)
      : networks_(networks), options_(options) {}

  Result<Network> run() {
    for (const Network* n : networks_) {
      rows_ = std::max(rows_, n->rows());
      cols_ = std::max(cols_, n->cols());
      layers_ = std::max(layers_, n->layers_per_cell());
    }
    std::int64_t plane = 1;
    for (Network* n : networks_) {
      first_.push_back(plane);
      add_parent(*n, plane);
      plane += n->depth();
      if (options_.softmax) add_softmax(plane++);
    }
    add_combination(plane++);
    if (options_.residual) add_residual(plane++);
    LOOM_ASSIGN(Network made, Network::from_json(topology(plane)));
    LOOM_TRY(carry(made));
    return made;
  }

 private:
  void add_parent(Network& n, std::int64_t plane) {
    for (std::size_t i = 0; i < n.size(); ++i) {
      const Node& node = n.node(i);
      const bool empty = !node.type && node.links.empty() && node.enabled;
      if (empty && i > 0) continue;
      Json cell = n.cell_json(i);
      move_planes(cell.as_object()[0].second, plane);  // "at" stands first
      move_links(cell, plane);
      if (const Json* tie = cell.find("tie"))
        cell.set("tie", Json(moved_name(tie->as_string(), plane)));
      if (i == 0) read_input(cell);
      cells_.push(std::move(cell));
    }
    // The last cell of its planes, behind which lie empty ones that pass its values on.
    outputs_.push_back(plane + n.depth() - 1);
  }

  // Behind the parent that was added last.
  void add_softmax(std::int64_t plane) {
    Json cell = Json::object();
    cell.set("at", at_json(plane));
    cell.set("type", "softmax");
    cells_.push(std::move(cell));
    outputs_.back() = plane;
  }

  // What arrived at the parent from outside comes from plane 0, before all it reads.
  static void read_input(Json& cell) {
    Json links = Json::array();
    links.push(read_link(at_json(0)));
    const Json* keep = cell.find("keep_previous");
    bool reads = false;
    if (const Json* own = cell.find("links"))
      for (const Json& link : own->as_array()) {
        reads = reads || link.find("read");
        links.push(link);
      }
    if (reads && !(keep && keep->as_bool())) return;  // what arrived was not taken
    cell.set("links", std::move(links));
    cell.set("keep_previous", false);
  }

  Json output_links(bool with_input) const {
    Json links = Json::array();
    if (with_input) links.push(read_link(at_json(0)));
    for (const std::int64_t plane : outputs_)
      links.push(read_link(at_json(plane, rows_ - 1, cols_ - 1, layers_ - 1)));
    return links;
  }

  void add_combination(std::int64_t plane) {
    Json cell = Json::object();
    cell.set("at", at_json(plane));
    const std::string& how = options_.combine;
    const bool gated = how == "gated";
    if (!gated && !options_.stitch) {
      cell.set("links", output_links(false));
      cell.set("merge", how);
      cells_.push(std::move(cell));
      return;
    }
    const bool with_input =
        gated && networks_[0]->input().ids == 0 && networks_[0]->input().parts.empty();
    Json parts = Json::array();
    for (std::size_t k = 0; k < networks_.size(); ++k) {
      Json part = Json::object();
      part.set("type", "part");
      part.set("index", static_cast<std::int64_t>(k) + with_input);
      parts.push(std::move(part));
    }
    cell.set("links", output_links(with_input));
    cell.set("merge", "operands");
    cell.set("type", "parallel");
    cell.set("combine", how);
    if (options_.stitch) cell.set("stitch", true);
    cell.set("layers", std::move(parts));
    cells_.push(std::move(cell));
  }

  void add_residual(std::int64_t plane) {
    Json cell = Json::object(), links = Json::array();
    links.push(read_link(at_json(0)));
    cell.set("at", at_json(plane));
    cell.set("links", std::move(links));
    cell.set("keep_previous", true);
    cell.set("merge", "add");
    cells_.push(std::move(cell));
  }

  Json topology(std::int64_t depth) {
    Json t = Json::object();
    const Json first = networks_[0]->to_json();
    t.set("format", "loom-topology");
    t.set("version", networks_[0]->version());
    t.set("depth", depth);
    t.set("rows", rows_);
    t.set("cols", cols_);
    t.set("layers_per_cell", layers_);
    t.set("input", *first.find("input"));
    t.set("cells", std::move(cells_));
    return t;
  }

  // The values, to the bit; the gate keeps its zeros, which are equal shares, and stitches are
  // drawn.
  Status carry(Network& made) const {
    std::vector<Origin> none;
    const std::string combination = made.path(made.index({outputs_.back() + 1, 0, 0, 0}));
    for (const Network::NamedParam& p : made.params())
      if (p.path == combination && p.param->spec.role.starts_with("stitch"))
        draw_param(*p.param, p.path, 1);
    for (std::size_t k = 0; k < networks_.size(); ++k) {
      LOOM_ASSIGN(Network copy, copy_of(*networks_[k]));
      for (const Network::NamedParam& p : copy.params()) {
        if (p.tied) continue;
        WeightStore* to = made.find(moved_name(p.path, first_[k]), p.param->spec.role);
        if (!to) return Status(Code::internal, "graft: " + p.path + " has no place");
        *to = std::move(*p.param->store);
      }
    }
    return {};
  }

  const std::vector<Network*>& networks_;
  const GraftOptions& options_;
  std::int64_t rows_ = 1, cols_ = 1, layers_ = 1;
  std::vector<std::int64_t> first_, outputs_;  // planes
  Json cells_ = Json::array();
};

}  // namespace

Result<GraftOptions> graft_options(const Json& json) {
  GraftOptions options;
  FieldReader reader(json);
  fields(reader, options);
  LOOM_TRY(reader.finish("a graft has"));
  if (options.combine == "mean") options.combine = "avg";
  if (options.combine == "filter") options.combine = "gated";
  return options;
}

Result<Network> graft(const std::vector<Network*>& networks, const GraftOptions& options) {
  if (networks.empty()) return invalid("networks: a graft needs at least one");
  for (std::size_t k = 0; k < networks.size(); ++k)
    LOOM_TRY(check_parent(*networks[0], *networks[k], k));
  LOOM_TRY(check_outputs(networks, options));
  return Grafting(networks, options).run();
}

}  // namespace loom::breed
