// Topology JSON: docs/reference/topology.md. Unknown keys, types and sizes that do not agree are
// errors that name the cell.
#include <algorithm>

#include "base/fields/old_names.h"
#include "base/message.h"
#include "grid/builder.h"
#include "grid/network.h"
#include "grid/topology_config.h"
#include "layers/cell.h"

namespace loom {
namespace {

constexpr int kMaxNesting = 32;

Status bad(std::string what) { return Status(Code::invalid_argument, std::move(what)); }

Result<Coordinate> parse_coordinate(const Json& json, std::string_view what) {
  if (!json.is_array() || json.as_array().size() != 4 ||
      !std::all_of(json.as_array().begin(), json.as_array().end(),
                   [](const Json& v) { return v.is_integer(); }))
    return bad(message(what, ": expected four integers [z, y, x, l]"));
  const Json::Array& a = json.as_array();
  return Coordinate{a[0].as_integer(), a[1].as_integer(), a[2].as_integer(), a[3].as_integer()};
}

Json to_json(const Coordinate& c) {
  return Json(Json::Array{Json(c.z), Json(c.y), Json(c.x), Json(c.l)});
}

constexpr std::string_view kLinkNames[] = {"read", "send", "run"};
constexpr std::string_view kMergeNames[] = {"concat", "add", "avg", "operands"};

std::string unknown_type(const std::string& type) {
  std::string list;
  std::vector<std::string_view> names;
  for (const LayerType* t : layer_types()) {
    list += (list.empty() ? "" : ", ") + std::string(t->name());
    names.push_back(t->name());
  }
  return "unknown type \"" + type + "\": known are " + list + nearest(type, names);
}

std::ptrdiff_t count_runs(const std::vector<Link>& links) {
  return std::count_if(links.begin(), links.end(),
                       [](const Link& l) { return l.kind == LinkKind::run; });
}

constexpr std::string_view kRunsAlone = "a cell that runs another has no type of its own";

Result<std::vector<Link>> parse_links(const Json& links) {
  if (!links.is_array()) return bad("\"links\": expected a list");
  std::vector<Link> out;
  for (const Json& link : links.as_array()) {
    if (!link.is_object() || link.as_object().size() != 1)
      return bad(
          "\"links\": each is one of {\"read\": [z,y,x,l]}, {\"send\": ...}, {\"run\": ...}");
    const auto& [kind, target] = link.as_object()[0];
    const auto k = std::find(std::begin(kLinkNames), std::end(kLinkNames), kind);
    if (k == std::end(kLinkNames))
      return bad(message("link \"", kind, "\": one of read, send, run"));
    LOOM_ASSIGN(const Coordinate at, parse_coordinate(target, kind));
    out.push_back({static_cast<LinkKind>(k - std::begin(kLinkNames)), at});
  }
  if (count_runs(out) > 1) return bad("a cell runs at most one other");
  return out;
}

// Weights that were there and are not any more, since what arrives has another size.
Status weights_stay(const Node& before, const Node& after, const std::string& where,
                    std::string_view with) {
  for (const Param& p : before.params) {
    const Param* now = after.find(p.spec.role);
    if (!p.store || (now && now->store == p.store)) continue;
    const auto size = [](const ParamSpec& s) {
      return "[" + std::to_string(s.rows) + ", " + std::to_string(s.cols) + "]";
    };
    return bad(message("with ", with, " the ", p.spec.role, " of cell ", where, " would be ",
                       (now ? size(now->spec) : "none"), ", and it is ", size(p.spec),
                       ": weights stay"));
  }
  for (std::size_t i = 0; i < std::min(before.children.size(), after.children.size()); ++i)
    LOOM_TRY(
        weights_stay(before.children[i], after.children[i], where + "/" + std::to_string(i), with));
  return {};
}

// What only cells of the grid have.
Status check_nested(const CellConfig& c) {
  if (!c.tie.empty())
    return bad(
        "\"tie\": a nested layer has weights of its own: tie a cell of the grid, or have the "
        "layer run one: {\"links\": [{\"run\": [z,y,x,l]}]}");
  if (c.merge != CellConfig().merge)
    return bad("\"merge\": a nested layer has one input, and no others to merge it with");
  if (c.keep_previous) return bad("\"keep_previous\": of cells of the grid, not of a nested layer");
  if (!c.shape.empty()) return bad("\"shape\": of cells of the grid, not of a nested layer");
  return {};
}

// Empty cells cost nothing in a file, so their number is bounded by this and by the others.
Status check_grid(const TopologyConfig& c, const Json* cells) {
  constexpr std::uint64_t kFreeCells = 4096;
  const std::uint64_t listed = cells && cells->is_array() ? cells->as_array().size() : 0,
                      max = std::max(kFreeCells, 16 * listed);
  std::uint64_t grid = 1;
  for (const std::int64_t n : {c.depth, c.rows, c.cols, c.layers_per_cell}) {
    if (n < 1 || static_cast<std::uint64_t>(n) > max / grid)
      return bad(message("topology: depth x rows x cols x layers_per_cell is less than 1, or over ",
                         kFreeCells, " and 16 times the ", listed, " cells listed"));
    grid *= static_cast<std::uint64_t>(n);
  }
  return {};
}

}  // namespace

Result<Node> Network::parse_node(Json cell, int depth) const {
  if (!cell.is_object()) return bad("expected an object");
  if (depth > kMaxNesting) return bad(message("layers nest deeper than ", kMaxNesting));
  use_present_names(cell, version_ < 3);
  Node node;
  CellConfig c;
  FieldReader reader(cell);
  c.fields(reader);
  LOOM_TRY(reader.status());
  node.enabled = c.enabled;
  node.keep_previous = c.keep_previous;
  node.tie = c.tie;
  node.name = c.name;
  node.shape = c.shape;
  node.fixed = std::move(c.fixed);
  LOOM_ASSIGN(node.format, parse_weight_format(c.dtype));
  node.merge = static_cast<Merge>(
      std::find(std::begin(kMergeNames), std::end(kMergeNames), c.merge) - std::begin(kMergeNames));
  if (const Json* links = cell.find("links")) {
    LOOM_ASSIGN(node.links, parse_links(*links));
  }
  const auto runs = count_runs(node.links);
  if (depth > 0 && !node.links.empty() && (runs != 1 || node.links.size() != 1))
    return bad(
        "a nested layer has no links but one {\"run\": [z,y,x,l]}: others belong to cells of the "
        "grid");
  // Files of version 1 keep what they passed over.
  if (depth > 0 && version_ >= 2) LOOM_TRY(check_nested(c));
  if (c.type.empty()) {
    if (const Json* layers = cell.find("layers"); layers)
      return bad("\"layers\" without a \"type\"");
    LOOM_TRY(reader.finish("a cell without a \"type\" has"));
    if (!node.fixed.empty()) return bad("\"fixed\": the cell has no parameters");
    if (depth > 0) node.format = {};
    return node;  // an empty cell, or one that runs another
  }
  if (runs > 0) return bad(std::string(kRunsAlone));
  node.type = find_layer_type(c.type);
  if (!node.type) return bad(unknown_type(c.type));
  auto config = node.type->parse(cell);
  if (!config.ok()) return config.status().at(c.type);
  node.config = std::move(*config);
  if (const Json* layers = cell.find("layers")) {
    if (!node.type->is_container()) return bad(message(c.type, " holds no layers"));
    if (!layers->is_array()) return bad("\"layers\": expected a list");
    for (std::size_t i = 0; i < layers->as_array().size(); ++i) {
      Json child = layers->as_array()[i];
      // A nested layer takes its container's dtype where it names none.
      if (child.is_object() && !child.find("dtype")) child.set("dtype", c.dtype);
      auto parsed = parse_node(std::move(child), depth + 1);
      if (!parsed.ok()) return parsed.status().at("layer " + std::to_string(i));
      if (!parsed->type && parsed->links.empty())
        return bad(message("layer ", i, ": \"type\" is missing"));
      node.children.push_back(std::move(*parsed));
    }
  }
  return node;
}

Result<Node> Network::parse_layer(const Json& layer) const { return parse_node(layer, 1); }

Status Network::set_cell(const Coordinate& at, const Json& cell) {
  if (!contains(at)) return bad(message("cell ", at.to_string(), " is outside of the grid"));
  auto node = parse_node(cell, 0);
  if (!node.ok()) return node.status().at("cell " + at.to_string());
  nodes_[index(at)] = std::move(*node);
  return {};
}

Status Network::change(const std::function<Status()>& edit, std::string_view with) {
  const std::vector<Node> before = nodes_;  // shares the stores
  Status status = edit();
  if (status.ok()) status = plan();
  for (std::size_t i = 0; i < before.size() && status.ok() && !with.empty(); ++i)
    status = weights_stay(before[i], nodes_[i], path(i), with);
  if (status.ok()) return status;
  nodes_ = before;
  const Status restored = plan();
  return restored.ok() ? status : restored;
}

Status Network::set_links(const Coordinate& at, const Json& links) {
  if (!contains(at)) return bad(message("cell ", at.to_string(), " is outside of the grid"));
  auto parsed = parse_links(links);
  if (!parsed.ok()) return parsed.status().at("cell " + at.to_string());
  if (count_runs(*parsed) > 0 && nodes_[index(at)].type)
    return bad(std::string(kRunsAlone)).at("cell " + at.to_string());
  return change(
      [&]() -> Status {
        nodes_[index(at)].links = std::move(*parsed);
        return {};
      },
      "these links");
}

Status Network::enable(std::size_t cell, bool enabled) {
  return change(
      [&]() -> Status {
        nodes_[cell].enabled = enabled;
        return {};
      },
      enabled ? "the cell on" : "the cell off");
}

namespace {

Result<Shape> parse_input(const InputConfig& c, int version) {
  const bool steps = c.ids > 0 && !c.dims.empty() && version >= 2;
  if ((c.width > 0) + (c.ids > 0) + (!c.dims.empty() && !steps) != 1 ||
      (!c.axis.empty() && c.dims.empty()))
    return bad(version == 1 ? "one of {\"width\": N}, {\"dims\": [N, ...]} and {\"ids\": N}"
                            : "one of {\"width\": N}, {\"dims\": [N, ...], \"axis\": \"steps\" or "
                              "\"channels\"}, {\"ids\": N}, {\"ids\": N, \"dims\": [T]} and "
                              "{\"parts\": [...]}");
  if (version == 1 && !c.axis.empty()) return bad("\"axis\" needs topology version 3");
  if (c.dims.empty()) return Shape{c.width, c.ids};
  LOOM_ASSIGN(Shape shape, Shape::of(c.dims, c.axis == "channels" ? Axis::channels
                                             : c.axis == "steps"  ? Axis::steps
                                                                  : Axis::none));
  if (!steps) return shape;
  if (shape.dims.size() != 1 || c.axis == "channels")
    return bad("ids are of one dimension, their steps");
  return Shape{0, c.ids, std::move(shape.dims), Axis::steps};
}

Result<InputConfig> read_input(const Json& json) {
  InputConfig c;
  FieldReader reader(json);
  c.fields(reader);
  LOOM_TRY(reader.finish("an input has"));
  return c;
}

// Inputs by name, side by side in a row.
Result<Shape> parse_parts(const Json& list, int version) {
  if (version == 1) return bad("\"parts\" need topology version 3");
  if (!list.is_array() || list.as_array().empty())
    return bad("\"parts\": expected a list of inputs, each with a \"name\"");
  Shape all;
  for (const Json& json : list.as_array()) {
    LOOM_ASSIGN(const InputConfig c, read_input(json));
    if (c.name.empty() || json.find("parts"))
      return bad("parts: each has a \"name\", and no parts");
    for (const Shape& other : all.parts)
      if (other.name == c.name) return bad(message("parts: two are named \"", c.name, "\""));
    auto parsed = parse_input(c, version);
    if (!parsed.ok()) return parsed.status().at("part " + c.name);
    Shape part = std::move(*parsed);
    if (part.ids > std::int64_t{1} << 24)
      return bad(message("part ", c.name, ": ids beside values are below 2^24, as f32 has them"));
    if (part.count() > INT32_MAX - all.width) return bad("parts of more than 2^31-1 values");
    all.width += part.count();
    part.name = c.name;
    all.parts.push_back(std::move(part));
  }
  return all;
}

Result<Shape> parse_input(const Json& json, int version) {
  LOOM_ASSIGN(const InputConfig c, read_input(json));
  if (!c.name.empty()) return bad("\"name\" is of an input's parts");
  const Json* parts = json.find("parts");
  if (!parts) return parse_input(c, version);
  if (json.as_object().size() > 1)
    return bad("\"parts\" say what arrives, and nothing beside them");
  return parse_parts(*parts, version);
}

Json input_json(const Shape& input) {
  Json in = Json::object();
  if (!input.parts.empty()) {
    Json parts = Json::array();
    for (const Shape& part : input.parts) {
      Json one = input_json(part);
      one.set("name", part.name);
      parts.push(std::move(one));
    }
    in.set("parts", std::move(parts));
    return in;
  }
  if (input.ids > 0) in.set("ids", input.ids);
  else if (input.dims.empty()) in.set("width", input.width);
  if (!input.dims.empty()) in.set("dims", Json(Json::Array(input.dims.begin(), input.dims.end())));
  if (input.ids == 0 && input.axis != Axis::none)
    in.set("axis", input.axis == Axis::steps ? "steps" : "channels");
  return in;
}

}  // namespace

Result<Network> Network::from_json(const Json& t, std::int64_t max_values) {
  if (!t.is_object()) return bad("topology: expected a JSON object");
  if (is_builder_json(t)) {
    LOOM_ASSIGN(const Json ours, topology_of_builder(t));
    return from_json(ours, max_values);
  }
  LOOM_ASSIGN(const std::string format, t.get_string("format", ""));
  if (format != "loom-topology") return bad("topology: \"format\" must be \"loom-topology\"");
  LOOM_ASSIGN(const std::int64_t version, t.get_integer("version", 0));
  if (version < 1 || version > kVersion)
    return Status(Code::unsupported,
                  message("topology: version ", version, ", this library reads versions 1 to 3"));
  TopologyConfig c;
  FieldReader reader(t);
  c.fields(reader);
  LOOM_TRY(reader.finish("a topology has").at("topology"));
  const Json* in = t.find("input");
  auto input = parse_input(*in, static_cast<int>(version));
  if (!input.ok()) return input.status().at("topology: input");
  LOOM_TRY(check_grid(c, t.find("cells")));
  LOOM_ASSIGN(Network n, create(c.depth, c.rows, c.cols, c.layers_per_cell, std::move(*input),
                                static_cast<int>(version)));
  const Json* cells = t.find("cells");
  if (!cells->is_array()) return bad("topology: \"cells\" must be a list");
  std::vector<bool> set(n.size(), false);
  for (std::size_t i = 0; i < cells->as_array().size(); ++i) {
    const Json& cell = cells->as_array()[i];
    const std::string what = "topology: cells[" + std::to_string(i) + "]";
    if (!cell.is_object() || !cell.find("at"))
      return bad(message(what, ": expected an object with \"at\""));
    auto at = parse_coordinate(*cell.find("at"), what + ": at");
    if (!at.ok()) return at.status();
    LOOM_TRY(n.set_cell(*at, cell).at("topology"));
    if (set[n.index(*at)]) return bad(message(what, ": cell ", at->to_string(), " stands twice"));
    set[n.index(*at)] = true;
  }
  if (const Json* head = t.find("head")) {
    LOOM_ASSIGN(const Coordinate at, parse_coordinate(*head, "topology: head"));
    if (!n.contains(at))
      return bad(message("topology: head ", at.to_string(), " is outside of the grid"));
    n.head = static_cast<std::int64_t>(n.index(at));
  }
  if (!c.outputs.empty() && version == 1)
    return bad("topology: \"outputs\" need topology version 3");
  n.outputs_by_name = c.outputs;
  n.step_mesh = c.step_mesh;
  if (n.step_mesh && version == 1) return bad("topology: \"step_mesh\" needs topology version 3");
  if (n.step_mesh && n.head >= 0)
    return bad("topology: \"head\": a step mesh has no cells that run on some rows alone");
  LOOM_TRY(n.plan(max_values));
  if (version == 2) n.version_ = kVersion;  // they differ by names alone
  return n;
}

Result<Network> Network::from_json(std::string_view text, std::int64_t max_values) {
  LOOM_ASSIGN(const Json json, Json::parse(text));
  return from_json(json, max_values);
}

Json Network::node_json(const Node& node) const {
  Json j = Json::object();
  if (node.type) {
    j.set("type", node.type->name());
    node.type->write(*node.config, j);
  }
  // The dtype is that of the first matrix: a morph shows in the file.
  WeightFormat format = node.format;
  for (const Param& p : node.params)
    if (p.spec.quantized && p.store) {
      format = p.store->format();
      break;
    }
  if (format != WeightFormat{}) j.set("dtype", to_string(format));
  if (!node.name.empty()) j.set("name", node.name);
  if (!node.tie.empty()) j.set("tie", node.tie);
  if (!node.fixed.empty()) j.set("fixed", Json(Json::Array(node.fixed.begin(), node.fixed.end())));
  if (!node.shape.empty()) j.set("shape", Json(Json::Array(node.shape.begin(), node.shape.end())));
  if (!node.enabled) j.set("enabled", false);
  if (node.keep_previous) j.set("keep_previous", true);
  if (node.merge != Merge::concat)
    j.set("merge", kMergeNames[static_cast<std::size_t>(node.merge)]);
  if (!node.links.empty()) {
    Json links = Json::array();
    for (const Link& link : node.links) {
      Json l = Json::object();
      l.set(std::string(kLinkNames[static_cast<std::size_t>(link.kind)]), loom::to_json(link.cell));
      links.push(std::move(l));
    }
    j.set("links", std::move(links));
  }
  if (!node.children.empty()) {
    Json layers = Json::array();
    for (const Node& child : node.children) {
      Json c = node_json(child);
      // A child inherits its container's dtype when it names none, so f32 inside another must be
      // said.
      if (child.type && format != WeightFormat{} && !c.find("dtype")) c.set("dtype", "f32");
      layers.push(std::move(c));
    }
    j.set("layers", std::move(layers));
  }
  return j;
}

Json Network::cell_json(std::size_t index) const {
  Json cell = Json::object();
  cell.set("at", loom::to_json(coordinate(index)));
  const Json written = node_json(nodes_[index]);
  for (const auto& [key, value] : written.as_object()) cell.set(key, value);
  return cell;
}

Json Network::to_json() const {
  Json t = Json::object();
  t.set("format", "loom-topology");
  t.set("version", version_);
  t.set("depth", depth_);
  t.set("rows", rows_);
  t.set("cols", cols_);
  t.set("layers_per_cell", layers_);
  t.set("input", input_json(input_));
  if (head >= 0) t.set("head", loom::to_json(coordinate(static_cast<std::size_t>(head))));
  if (step_mesh) t.set("step_mesh", true);
  if (!outputs_by_name.empty())
    t.set("outputs", Json(Json::Array(outputs_by_name.begin(), outputs_by_name.end())));
  Json cells = Json::array();
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const Node& node = nodes_[i];
    if (!node.type && node.links.empty() && node.enabled) continue;
    cells.push(cell_json(i));
  }
  t.set("cells", std::move(cells));
  return t;
}

}  // namespace loom
