#include "grid/network.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <set>
#include <utility>

#include "base/files/bytes.h"
#include "base/files/sha256.h"
#include "base/math/exact_math.h"
#include "base/message.h"
#include "base/random.h"
#include "layers/metacognition/rules.h"

namespace loom {
namespace {

constexpr std::int64_t kMaxCells = 1 << 20;
constexpr std::size_t kMaxRunDepth = 32;  // of cells whose layers run other cells
constexpr std::int64_t kMaxRunLayers =
    1 << 16;  // of all cells that nested layers run: programs hold each of them

Status bad(std::string what) { return Status(Code::invalid_argument, std::move(what)); }

// The initial values of a parameter. The stream is named by its path, so adding a layer elsewhere
// changes nothing here.
Status draw(const std::string& path, Param& param, std::uint64_t seed) {
  const std::string where = path + ":" + param.spec.role;
  const auto digest = Sha256::of(as_bytes(where));
  const RandomStream random(seed, load_le<std::uint64_t>(digest.data()));
  if (!param.store->has_master()) return bad(message(where, ": has no master to initialize"));
  const float std = static_cast<float>(param.spec.std);
  const auto value = [&](std::size_t k) {
    if (param.spec.init != Init::normal) return param.spec.init == Init::ones ? 1.0f : 0.0f;
    return std * normal(random, k);
  };
  std::size_t k = 0;
  if (param.store->master_is_f64()) {
    for (double& x : param.store->mutable_master64()) x = static_cast<double>(value(k++));
  } else {
    for (float& x : param.store->mutable_master()) x = value(k++);
  }
  param.store->touch();
  return {};
}

}  // namespace

std::string Coordinate::to_string() const {
  return "(" + std::to_string(z) + "," + std::to_string(y) + "," + std::to_string(x) + "," +
         std::to_string(l) + ")";
}

const Param* Node::find(std::string_view role) const {
  for (const Param& p : params)
    if (p.spec.role == role) return &p;
  return nullptr;
}

bool Node::fixes(std::string_view role) const {
  return std::find(fixed.begin(), fixed.end(), role) != fixed.end();
}

// How a cell's parameter is held: its matrices in the cell's format, vectors in f64 with a cell
// that computes in f64, so that a mean of 1e9 + 1 is one.
static WeightFormat format_of(const Node& node, const Param& param) {
  if (param.spec.quantized) return node.format;
  return node.format.arith() == ArithClass::real ? WeightFormat{.dtype = DType::f64}
                                                 : WeightFormat{};
}

bool computes_in_f64(const Node& node) {
  for (const Param& p : node.params)
    if (p.spec.quantized && p.store && p.store->format().arith() == ArithClass::real) return true;
  if (!node.type) return false;
  for (const Node& child : node.children)
    if (computes_in_f64(child)) return true;
  // A layer without matrices, of itself or of layers in it, follows its declared format; a cell
  // that is run in it computes as it does in its place.
  const bool has_matrix = std::any_of(node.params.begin(), node.params.end(),
                                      [](const Param& p) { return p.spec.quantized; });
  const bool has_layers = std::any_of(node.children.begin(), node.children.end(),
                                      [](const Node& child) { return child.type != nullptr; });
  return !has_matrix && !has_layers && node.format.arith() == ArithClass::real;
}

Result<Network> Network::create(std::int64_t depth, std::int64_t rows, std::int64_t cols,
                                std::int64_t layers_per_cell, Shape input, int version) {
  std::int64_t cells = 1;
  for (std::int64_t n : {depth, rows, cols, layers_per_cell}) {
    if (n < 1 || n > kMaxCells || cells > kMaxCells / n)
      return bad(message(
          "grid: depth, rows, cols and layers_per_cell must be at least 1 and their product at "
          "most ",
          kMaxCells));
    cells *= n;
  }
  if (input.ids < 0 || input.width < 0 || (input.ids > 0) == (input.width > 0))
    return bad("grid: the input is either \"width\" values or one of \"ids\" ids");
  if (input.ids > INT32_MAX) return bad("grid: the input: \"ids\" is larger than 2^31-1");
  if (input.width > INT32_MAX) return bad("grid: the input: \"width\" is larger than 2^31-1");
  if (version >= 2 && input.ids > 0 && input.dims.empty()) input.axis = Axis::positions;
  Network n;
  n.version_ = version;
  n.depth_ = depth;
  n.rows_ = rows;
  n.cols_ = cols;
  n.layers_ = layers_per_cell;
  n.input_ = input;
  n.nodes_.resize(static_cast<std::size_t>(cells));
  n.outputs_.resize(n.nodes_.size());
  return n;
}

Coordinate Network::coordinate(std::size_t index) const {
  auto i = static_cast<std::int64_t>(index);
  Coordinate c;
  c.l = i % layers_;
  i /= layers_;
  c.x = i % cols_;
  i /= cols_;
  c.y = i % rows_;
  c.z = i / rows_;
  return c;
}

bool Network::contains(const Coordinate& c) const {
  return c.z >= 0 && c.z < depth_ && c.y >= 0 && c.y < rows_ && c.x >= 0 && c.x < cols_ &&
         c.l >= 0 && c.l < layers_;
}

std::string Network::path(std::size_t index) const {
  const Coordinate c = coordinate(index);
  return std::to_string(c.z) + "." + std::to_string(c.y) + "." + std::to_string(c.x) + "." +
         std::to_string(c.l);
}

std::size_t Network::executed(std::size_t cell) const {
  for (const Link& link : nodes_[cell].links)
    if (link.kind == LinkKind::run) return index(link.cell);
  return cell;
}

const Node* Network::executed(const Node& nested, std::string& path) const {
  if (nested.type || !nested.enabled) return &nested;
  const std::size_t target = index(nested.links[0].cell);
  path = this->path(target);
  return nodes_[target].type && nodes_[target].enabled ? &nodes_[target] : nullptr;
}

bool Network::passes(std::size_t cell) const {
  const Node& run = nodes_[executed(cell)];
  return !nodes_[cell].enabled || !run.enabled || !run.type;
}

// Lets a container plan its children.
class NodeChildren : public ChildPlanner {
 public:
  NodeChildren(Network& network, Node& node, const std::string& path)
      : network_(network), node_(node), path_(path) {}
  std::size_t count() const override { return node_.children.size(); }
  int version() const override { return network_.version(); }
  Result<Shape> plan(std::size_t i, const Shape& in, const Shape* skip) override {
    auto out = network_.plan_node(node_.children[i], in, skip, path_ + "/" + std::to_string(i));
    if (i == 0 && out.ok()) first = *out;
    return out;
  }
  Status rows_alone(std::size_t i) const override {
    return network_.rows_alone(node_.children[i], path_ + "/" + std::to_string(i));
  }

  Shape first;  // what the first one gives

 private:
  Network& network_;
  Node& node_;
  std::string path_;
};

// What one call of plan() has seen.
struct Network::Planning {
  explicit Planning(Network& n) : network(n), first(n.size()) { network.planning_ = this; }
  ~Planning() { network.planning_ = nullptr; }
  struct First {
    Shape in;
    std::string where;  // empty: nowhere yet
  };
  Network& network;
  std::vector<First> first;          // of each cell: where its node was executed first
  std::vector<std::size_t> running;  // cells in each other's layers, outermost first
  std::int64_t layers = 0;           // planned inside of them again
};

Result<Shape> Network::plan_run(std::size_t target, const Shape& in, const std::string& where) {
  std::vector<std::size_t>& running = planning_->running;
  if (const auto at = std::find(running.begin(), running.end(), target); at != running.end()) {
    std::string text;
    for (auto it = at; it != running.end(); ++it) text += coordinate(*it).to_string() + " -> ";
    return bad(message(where, ": the cells run one another in a circle: ", text,
                       coordinate(target).to_string()));
  }
  if (running.size() > kMaxRunDepth)
    return bad(message(where, ": cells run one another more than ", kMaxRunDepth, " deep"));
  Planning::First& first = planning_->first[target];
  if (first.where.empty()) first = {in, where};
  if (first.in != in)
    return bad(message(coordinate(target).to_string(), " is executed on ", first.in.to_string(),
                       " at ", first.where, " and on ", in.to_string(), " at ", where,
                       ": a cell has weights for one input"));
  running.push_back(target);
  auto out = plan_node(nodes_[target], in, nullptr, path(target));
  running.pop_back();
  return out.ok() || where == coordinate(target).to_string() ? std::move(out)
                                                             : out.status().at(where + " runs");
}

Status Network::rows_alone(const Node& node, const std::string& path) const {
  std::string at = path;
  const Node* run = executed(node, at);
  if (!run || !run->enabled) return {};
  const std::string_view why = run->type->row_dependence(*run->config, run->in);
  if (!why.empty())
    return bad(message(run->type->name(), " at ", at, " ", why,
                       ", so that it cannot run on some of the rows alone"));
  for (std::size_t i = 0; i < run->children.size(); ++i)
    LOOM_TRY(rows_alone(run->children[i], at + "/" + std::to_string(i)));
  return {};
}

namespace {

// Whether a layer, or one in it, is so and switched on. What a nested layer runs stands in a cell.
template <class So>
bool any_layer(const Node& node, const So& so) {
  if (!node.enabled || !node.type) return false;
  return so(node) || std::any_of(node.children.begin(), node.children.end(),
                                 [&](const Node& child) { return any_layer(child, so); });
}

}  // namespace

bool Network::recurs_over_rows() const {
  const auto so = [](const Node& node) {
    return node.type->recurs_over_rows(*node.config, node.in);
  };
  return std::any_of(nodes_.begin(), nodes_.end(),
                     [&](const Node& node) { return any_layer(node, so); });
}

bool Network::on_cpu_alone() const {
  const auto so = [](const Node& node) { return node.type->on_cpu_alone(); };
  return std::any_of(nodes_.begin(), nodes_.end(),
                     [&](const Node& node) { return any_layer(node, so); });
}

Status Network::check_streams(const Node& node, const std::string& path, bool& carries) const {
  std::string at = path;
  const Node* run = executed(node, at);
  if (!run || !run->enabled || !run->type) return {};
  const std::string_view why = run->type->needs_all_rows(*run->config, run->in);
  if (!why.empty())
    return bad(
        message(run->type->name(), " at ", at, " ", why,
                ": \"streams\" are for networks that carry a state, without it sequences are "
                "learned one by one"));
  const bool goes_on = run->type->carries(*run->config, run->in);
  if (goes_on && input_.ids > 0 && !run->type->recurs_over_rows(*run->config, run->in))
    return bad(message(run->type->name(), " at ", at, " runs within a row, of one id here, ",
                       "and \"streams\" of ids go on over rows: leave out the reshape before it"));
  carries = carries || goes_on;
  for (std::size_t i = 0; i < run->children.size(); ++i)
    LOOM_TRY(check_streams(run->children[i], at + "/" + std::to_string(i), carries));
  return {};
}

Status Network::check_streams() const {
  if (input_.ids > 0 && !input_.dims.empty())
    return bad(
        message("rows of ", input_.to_string(),
                " do not go on in others: \"streams\" take one id "
                "per row, an input of \"ids\" without \"dims\" and data of tokens, or rows of "
                "values"));
  bool carries = false;
  for (std::size_t i = 0; i < nodes_.size(); ++i)
    LOOM_TRY(check_streams(nodes_[i], path(i), carries));
  if (carries) return {};
  return bad(
      "nothing is carried from one window of \"streams\" to the next: that takes an rnn, gru "
      "or lstm, over one id per row, or over rows of values with \"stateful\" (stateful)");
}

bool Network::takes_missing() const {
  const auto so = [](const Node& node) { return node.type->takes_missing(*node.config); };
  return std::any_of(nodes_.begin(), nodes_.end(),
                     [&](const Node& node) { return any_layer(node, so); });
}

// Whether a layer is planned and emitted for a row of the last dimension alone.
bool Network::works_on_last(const Node& node, const Shape& in) const {
  if (version_ == 1 || in.ids > 0 || in.dims.size() < 2) return false;
  return node.type->works() == Works::on_last ||
         (node.type->works() == Works::on_values && in.axis == Axis::steps);
}

// The layer's plan for rows of `in`, as the version of the topology has it.
Result<LayerPlan> Network::plan_layer(const Node& node, const Shape& in, const Shape* skip,
                                      ChildPlanner& children) const {
  const auto plan = [&](const Shape& row, const Shape* other) {
    return node.type->plan(*node.config, row, other, children);
  };
  if (!in.parts.empty() && !node.type->takes_operands())
    return bad(
        message("takes one operand, and ", in.to_string(),
                " arrive: put a \"part\" before it, or merge what it reads by concat or add"));
  if (version_ == 1) {
    // Widths that agree could be added, whatever their dimensions; a sequence was never in a row;
    // and nobody asked what a first dimension counts.
    if (skip && skip->ids == 0 && skip->width == in.width) skip = &in;
    const bool whole = node.type->works() == Works::on_steps && in.ids == 0;
    LOOM_ASSIGN(LayerPlan one, plan(whole ? Shape{in.width} : in, skip));
    if (whole) one.out = in;
    one.out.axis = Axis::none;
    return one;
  }
  if (!works_on_last(node, in)) {
    LOOM_ASSIGN(LayerPlan one, plan(in, skip));
    if (in.axis == Axis::positions && one.out.dims.empty()) one.out.axis = in.axis;
    return one;
  }
  if (in.axis == Axis::channels)
    return bad(message("works on the last dimension, which of ", in.to_string(),
                       " is of space: put a flatten before it, or a permute"));
  const Shape last{in.dims.back()};
  LOOM_ASSIGN(LayerPlan one, plan(last, skip && skip->dims == in.dims ? &last : skip));
  std::vector<std::int64_t> dims(in.dims.begin(), in.dims.end() - 1);
  if (one.out.dims.empty()) dims.push_back(one.out.width);
  dims.insert(dims.end(), one.out.dims.begin(), one.out.dims.end());
  LOOM_ASSIGN(one.out, Shape::of(std::move(dims), in.axis));
  return one;
}

// A node that is switched off has parameters where it fits, and hands on what it gets.
Result<Shape> Network::plan_node(Node& node, const Shape& in, const Shape* skip,
                                 const std::string& path) {
  constexpr std::int64_t kMax = INT32_MAX;
  node.arrives = node.out = in;
  if (!node.type) {
    const Coordinate& to = node.links[0].cell;
    if (!contains(to))
      return bad(message(path, ": runs ", to.to_string(), ", which is outside of the grid"));
    const std::size_t target = index(to);
    if (executed(target) != target)
      return bad(message(path, ": runs ", to.to_string(), ", which itself runs another"));
    if (!node.enabled || !nodes_[target].type || !nodes_[target].enabled) return in;
    LOOM_ASSIGN(node.out, plan_run(target, in, path));
    return node.out;
  }
  if (planning_->running.size() > 1 && ++planning_->layers > kMaxRunLayers)
    return bad(message(path, ": nested layers run other cells of more than ", kMaxRunLayers,
                       " layers together"));
  const auto where = [&] { return std::string(node.type->name()) + " at " + path; };
  if (target_steps_ > 0 && node.enabled && has_positions(in)) {
    auto config = node.type->by_step(node.config, in, target_steps_);
    if (!config.ok()) return config.status().at(where());
    node.config = std::move(*config);
  }
  NodeChildren children(*this, node, path);
  auto plan = plan_layer(node, in, skip, children);
  if (!plan.ok() && !node.enabled) return in;
  if (!plan.ok()) return plan.status().at(where());
  if (const MetacognitionConfig* own = node.type->metacognition(*node.config);
      own && !own->rules.empty())
    LOOM_TRY(check_rules(node, in, skip, children.first, path).at(where()));
  if (plan->out.width > kMax || plan->out.ids > kMax)
    return bad(
        message(where(), ": gives rows of ", plan->out.to_string(), ", the limit is 2^31-1"));
  std::vector<Param> params;
  for (const ParamSpec& spec : plan->params) {
    if (spec.rows < 1 || spec.cols < 1 || spec.rows > kMax || spec.cols > kMax ||
        spec.rows * spec.cols > (std::int64_t{1} << 40))
      return bad(message(where(), ": parameter ", spec.role, " of ", spec.rows, " x ", spec.cols,
                         ": each is 1 to 2^31-1, and all at most 2^40"));
    const Param* old = node.find(spec.role);
    Param p{spec,
            old && old->store && old->store->rows() == spec.rows && old->store->cols() == spec.cols
                ? old->store
                : nullptr};
    params.push_back(std::move(p));
  }
  node.params = std::move(params);
  for (const std::string& role : node.fixed)
    if (role != "all" && !node.find(role))
      return bad(message(where(), ": \"fixed\": there is no parameter ", role));
  const bool last = works_on_last(node, in),
             whole = version_ == 1 && node.type->works() == Works::on_steps;
  node.in = last ? Shape{in.dims.back()} : whole ? Shape{in.width, in.ids} : in;
  node.parts = last ? in.width / in.dims.back() : 1;
  if (node.enabled) node.out = std::move(plan->out);
  return node.out;
}

// "z.y.x.l/i/j", spelled as path() spells it.
Node* Network::find_node(std::string_view wanted) {
  std::size_t at = 0;
  // The next number, and the character behind it is skipped; nothing that path() would not write.
  const auto number = [&](char end) -> std::optional<std::int64_t> {
    std::int64_t value = 0;
    const std::size_t first = at;
    for (; at < wanted.size() && wanted[at] >= '0' && wanted[at] <= '9' && value <= kMaxCells; ++at)
      value = value * 10 + (wanted[at] - '0');
    if (at == first || (wanted[first] == '0' && at > first + 1) ||
        (at < wanted.size() && wanted[at] != end))
      return std::nullopt;
    if (at < wanted.size() && ++at == wanted.size()) return std::nullopt;
    return value;
  };
  Coordinate c;
  for (std::int64_t* part : {&c.z, &c.y, &c.x, &c.l}) {
    if (part != &c.z && at == wanted.size()) return nullptr;
    const auto value = number(part == &c.l ? '/' : '.');
    if (!value) return nullptr;
    *part = *value;
  }
  if (!contains(c)) return nullptr;
  Node* node = &nodes_[index(c)];
  while (at < wanted.size()) {
    const auto child = number('/');
    if (!child || static_cast<std::size_t>(*child) >= node->children.size()) return nullptr;
    node = &node->children[static_cast<std::size_t>(*child)];
  }
  return node;
}

Status Network::resolve_ties() {
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    Node& node = nodes_[i];
    if (node.tie.empty()) continue;
    const std::size_t colon = node.tie.find(':');
    const auto where = [&] { return coordinate(i).to_string() + ": tie \"" + node.tie + "\""; };
    if (colon == std::string::npos || node.params.empty())
      return bad(message(where(), ": expected \"path:role\" on a cell with a parameter"));
    Param& mine = node.params[0];
    Node* owner = find_node(std::string_view(node.tie).substr(0, colon));
    Param* target =
        owner ? const_cast<Param*>(owner->find(std::string_view(node.tie).substr(colon + 1)))
              : nullptr;
    if (!target || target == &mine) return bad(message(where(), ": no such parameter"));
    if (target->spec.rows != mine.spec.rows || target->spec.cols != mine.spec.cols)
      return bad(message(where(), ": that parameter is ", target->spec.rows, " x ",
                         target->spec.cols, ", this one ", mine.spec.rows, " x ", mine.spec.cols));
    if (!target->store)
      target->store = std::make_shared<WeightStore>(target->spec.rows, target->spec.cols);
    mine.store = target->store;
  }
  return {};
}

// Arrivals side by side, each with its shape.
Result<Shape> Network::operands(const std::vector<std::int64_t>& arriving) const {
  if (version_ == 1) return bad("\"merge\": operands need topology version 3");
  Shape all;
  for (const std::int64_t from : arriving) {
    const Shape& in = from < 0 ? input_ : outputs_[static_cast<std::size_t>(from)];
    // Those of a part of the input are values, one of them such as a length.
    if (in.ids > 0 && (input_.parts.empty() || in.count() > 1))
      return bad("ids are no operands: put an embedding before them");
    if (!in.parts.empty())
      return bad(message("operands in operands: ", in.to_string(), " arrive as one"));
    if (in.count() > INT32_MAX - all.width)
      return bad("operands of more than 2^31-1 values arrive");
    all.width += in.count();
    all.parts.push_back(in);
  }
  return all;
}

// What the merge of a cell makes of its arrivals.
Result<Shape> Network::merged(std::size_t cell, const std::vector<std::int64_t>& arriving) const {
  if (arriving.empty()) return bad("nothing arrives");
  const Node& node = nodes_[cell];
  const auto shape_of = [this](std::int64_t from) -> const Shape& {
    return from < 0 ? input_ : outputs_[static_cast<std::size_t>(from)];
  };
  Shape shape = shape_of(arriving[0]);
  if (node.merge == Merge::operands) return operands(arriving);
  for (std::size_t k = 1; k < arriving.size(); ++k) {
    const Shape& in = shape_of(arriving[k]);
    if (in.ids > 0 || shape.ids > 0) return bad("ids cannot be merged");
    if (!in.parts.empty() || !shape.parts.empty())
      return bad(message("rows of several operands are not merged, got ", shape.to_string(),
                         " and ", in.to_string()));
    const bool joins = node.merge == Merge::concat, flat = shape.dims.empty() && in.dims.empty();
    if (version_ >= 2 && !flat) {
      if (!(joins ? joinable(shape, in) : shape.dims == in.dims && axes_agree(shape, in)))
        return bad(
            message("cannot ",
                    (joins                      ? "join "
                     : node.merge == Merge::add ? "add "
                                                : "average "),
                    shape.to_string(), " and ", in.to_string(),
                    (joins ? ": all but one dimension must agree, the last of steps, else the "
                             "first; or flatten them first"
                           : ": they must have the same dimensions, of the same kind")));
      if (shape.axis == Axis::none) shape.axis = in.axis;
    }
    // Arrangements that agree but for one dimension are joined along it.
    const bool steps = version_ >= 2 && shape.axis == Axis::steps;
    const bool alike =
        !shape.dims.empty() && shape.dims.size() == in.dims.size() &&
        (steps || std::equal(shape.dims.begin() + 1, shape.dims.end(), in.dims.begin() + 1));
    if (joins && alike) (steps ? shape.dims.back() += in.dims.back() : shape.dims[0] += in.dims[0]);
    else if (shape.dims != in.dims) shape.dims.clear();
    if (node.merge == Merge::concat) shape.width += in.width;
    else if (in.width != shape.width)
      return bad(message("cannot ", (node.merge == Merge::add ? "add" : "average"), " widths ",
                         shape.width, " and ", in.width));
    if (shape.width > INT32_MAX)
      return bad(message(shape.width, " values arrive, the limit is 2^31-1"));
  }
  return shape;
}

ClassAxis Network::class_axis() const {
  return version_ == 1 ? ClassAxis{1, output().width, false} : loom::class_axis(output());
}

ClassAxis class_axis(const Shape& out) {
  if (out.dims.size() < 2) return {1, out.width, false};
  const bool first = out.axis == Axis::channels;
  const std::int64_t classes = first ? out.dims.front() : out.dims.back();
  return {out.width / classes, classes, first};
}

std::int64_t Network::joined_parts(std::size_t cell,
                                   const std::vector<std::int64_t>& arriving) const {
  if (nodes_[cell].merge != Merge::concat) return 1;
  for (const std::int64_t from : arriving) {
    const Shape& s = from < 0 ? input_ : outputs_[static_cast<std::size_t>(from)];
    if (version_ >= 2 && s.axis == Axis::steps && s.width > 0) return s.width / s.dims.back();
  }
  return 1;
}

// The names of the output's parts, one for each.
Status Network::name_outputs() {
  const std::vector<std::string>& names = outputs_by_name;
  Shape& out = outputs_.back();
  for (std::size_t i = 0; i < names.size(); ++i)
    if (names[i].empty() || std::find(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(i),
                                      names[i]) != names.begin() + static_cast<std::ptrdiff_t>(i))
      return bad(message("outputs: each has a name of its own, got \"", names[i], "\"",
                         (names[i].empty() ? "" : " twice")));
  if (names.empty() && !out.parts.empty())
    return bad(message("the network's output are several operands, ", out.to_string(),
                       ": name them by \"outputs\", or join them by concat"));
  if (names.size() != out.parts.size())
    return bad(message("outputs: ", names.size(), " names, and the last cell hands on ",
                       out.to_string(), ": give one for each operand of its \"merge\""));
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (out.parts[i].ids > 0)
      return bad(message("outputs: ", names[i], " is of ids, ", out.parts[i].to_string(),
                         ", which are no outputs"));
    out.parts[i].name = names[i];
  }
  return {};
}

// Where cells read each other in a cycle, some are planned from what others say that they give,
// which must then be so. What a first dimension counts shows only when they are planned.
Status Network::plan_cells() {
  const auto arriving = arrivals();
  std::vector<Shape> given(nodes_.size());
  if (step_mesh)
    for (std::size_t i = 0; i < nodes_.size(); ++i) given[i] = declared(i);
  LOOM_ASSIGN(const std::vector<std::size_t> sequence, order(given));
  constexpr int kMaxPasses = 8;  // an axis goes around a cycle in one, or in as many as it has
  for (int pass = 0; pass < kMaxPasses; ++pass) {
    Planning planning(*this);
    outputs_ = given;
    for (const std::size_t i : sequence) {
      const auto where = [&] { return coordinate(i).to_string(); };
      auto shape = merged(i, arriving[i]);
      if (!shape.ok()) return shape.status().at(where());
      outputs_[i] = *shape;
      const std::size_t target = executed(i);
      if (!nodes_[target].type || (target != i && passes(i))) continue;
      LOOM_ASSIGN(outputs_[i], plan_run(target, *shape, where()));
    }
    bool settled = true;
    for (std::size_t i = 0; i < given.size(); ++i) {
      if (given[i] == Shape{} || given[i] == outputs_[i]) continue;
      LOOM_TRY(as_declared(i, given[i]));
      given[i] = outputs_[i];
      settled = false;
    }
    if (settled) return {};
  }
  return bad("the cells of a cycle do not agree on what their first dimensions count");
}

Status Network::plan(std::int64_t max_values) {
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    for (const Link& link : nodes_[i].links)
      if (!contains(link.cell))
        return bad(message(coordinate(i).to_string(), ": links to ", link.cell.to_string(),
                           ", which is outside of the grid"));
    if (executed(i) != i && executed(executed(i)) != executed(i))
      return bad(message(coordinate(i).to_string(), ": runs a cell that itself runs another"));
  }
  LOOM_TRY(plan_cells());
  LOOM_TRY(name_outputs());
  if (head >= static_cast<std::int64_t>(nodes_.size()))
    return bad(message("head: cell ", head, " is outside of the grid"));
  std::int64_t left = max_values;
  for (const NamedParam& p : params()) {
    if (p.param->store) continue;
    if (target_steps_ > 0)
      return Status(
          Code::unsupported,
          message(p.path, ":", p.param->spec.role,
                  ": one weight for all steps of a row, and a decoder has one at a time"));
    const std::int64_t values = p.param->spec.rows * p.param->spec.cols;
    if (values > left)
      return bad(message(p.path, ":", p.param->spec.role, ": with its ", values,
                         " values the parameters hold more than the limit of ", max_values));
    left -= values;
  }
  LOOM_TRY(resolve_ties());
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    Status status;
    visit_params(nodes_[i], path(i), [&](const std::string& p, Node& node, Param& param) {
      if (param.store || !status.ok()) return;
      param.store = std::make_shared<WeightStore>(param.spec.rows, param.spec.cols);
      status = param.store->morph(format_of(node, param)).at(p + ":" + param.spec.role);
    });
    LOOM_TRY(status);
  }
  return {};
}

float normal(const RandomStream& random, std::uint64_t k) {
  // 1 - u is in (0, 1].
  const float radius = exact::sqrt(-2.0f * exact::log(1.0f - random.uniform(2 * k)));
  return radius * exact::cos(6.28318530717958647692f * random.uniform(2 * k + 1));
}

Status Network::initialize(std::uint64_t seed) {
  Status status;
  std::set<const WeightStore*> done;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    visit_params(nodes_[i], path(i), [&](const std::string& p, Node&, Param& param) {
      if (status.ok() && done.insert(param.store.get()).second) status = draw(p, param, seed);
    });
  }
  return status;
}

Status Network::initialize(Node& node, const std::string& path, std::uint64_t seed) {
  Status status;
  visit_params(node, path, [&](const std::string& p, Node&, Param& param) {
    if (status.ok()) status = draw(p, param, seed);
  });
  return status;
}

WeightStore* Network::find(std::string_view path, std::string_view role) {
  const Node* node = find_node(path);
  const Param* p = node ? node->find(role) : nullptr;
  return p ? p->store.get() : nullptr;
}

std::vector<Network::NamedParam> Network::params() {
  std::vector<NamedParam> list;
  std::set<const WeightStore*> seen;
  for (std::size_t i = 0; i < nodes_.size(); ++i)
    visit_params(nodes_[i], path(i), [&](const std::string& p, Node& node, Param& param) {
      list.push_back({p, &param, &node, !seen.insert(param.store.get()).second});
    });
  return list;
}

Status Network::morph(Node& node, const std::string& path, const WeightFormat& format,
                      ThreadPool* pool) {
  Status status;
  visit_params(node, path, [&](const std::string& p, Node& n, Param& param) {
    n.format = format;
    if (status.ok())
      status = param.store->morph(format_of(n, param), pool).at(p + ":" + param.spec.role);
  });
  return status;
}

Status Network::morph(std::size_t cell, const WeightFormat& format, ThreadPool* pool) {
  return morph(nodes_[cell], path(cell), format, pool);
}

Status Network::morph(const WeightFormat& format, ThreadPool* pool) {
  for (std::size_t i = 0; i < nodes_.size(); ++i) LOOM_TRY(morph(i, format, pool));
  return {};
}

Status Network::pack(const WeightFormat& format, ThreadPool* pool) {
  const bool packs = format.dtype != DType::f32 && format.dtype != DType::f64;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    Status status;
    visit_params(nodes_[i], path(i), [&](const std::string& p, Node&, Param& param) {
      if (!param.spec.quantized || !status.ok()) return;
      status = param.store->morph(format, pool);
      if (packs && status.ok()) status = param.store->drop_master(pool);
      status = status.at(p + ":" + param.spec.role);
    });
    LOOM_TRY(status);
    LOOM_TRY(morph(i, format, pool));  // the formats of the cells; their matrices have it
  }
  return {};
}

std::int64_t Network::parameter_count() {
  std::int64_t n = 0;
  for (const NamedParam& p : params())
    if (!p.tied) n += p.param->spec.rows * p.param->spec.cols;
  return n;
}

std::uint64_t Network::weight_bytes() {
  std::uint64_t bytes = 0;
  for (const NamedParam& p : params()) {
    if (p.tied) continue;
    const WeightStore& store = *p.param->store;
    // f32 and f64 are their masters; a packed matrix has one only where it learns.
    bytes += store.master_bytes();
    if (store.format().dtype != DType::f32 && store.format().dtype != DType::f64)
      bytes += store.packed_bytes();
  }
  return bytes;
}

}  // namespace loom
