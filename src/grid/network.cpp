#include "grid/network.h"

#include <algorithm>
#include <functional>
#include <set>

#include "base/bytes.h"
#include "base/exact_math.h"
#include "base/random.h"
#include "base/sha256.h"

namespace loom {
namespace {

constexpr std::int64_t kMaxCells = 1 << 20;

Status bad(std::string what) { return Status(Code::invalid_argument, std::move(what)); }

void visit_params(Node& node, const std::string& path, const std::function<void(const std::string&, Node&, Param&)>& f) {
  for (Param& p : node.params) f(path, node, p);
  for (std::size_t i = 0; i < node.children.size(); ++i) visit_params(node.children[i], path + "/" + std::to_string(i), f);
}

}  // namespace

std::string Coordinate::to_string() const {
  return "(" + std::to_string(z) + "," + std::to_string(y) + "," + std::to_string(x) + "," + std::to_string(l) + ")";
}

const Param* Node::find(std::string_view role) const {
  for (const Param& p : params)
    if (p.spec.role == role) return &p;
  return nullptr;
}

bool computes_in_f64(const Node& node) {
  for (const Param& p : node.params)
    if (p.spec.quantized && p.store && p.store->format().arith() == ArithClass::real) return true;
  if (!node.type) return false;
  for (const Node& child : node.children)
    if (computes_in_f64(child)) return true;
  // A layer without matrices follows its declared format.
  const bool has_matrix = std::any_of(node.params.begin(), node.params.end(), [](const Param& p) { return p.spec.quantized; });
  return !has_matrix && node.children.empty() && node.format.arith() == ArithClass::real;
}

Result<Network> Network::create(std::int64_t depth, std::int64_t rows, std::int64_t cols, std::int64_t layers_per_cell, Shape input) {
  std::int64_t cells = 1;
  for (std::int64_t n : {depth, rows, cols, layers_per_cell}) {
    if (n < 1 || n > kMaxCells || cells > kMaxCells / n) return bad("grid: depth, rows, cols and layers_per_cell must be at least 1 and their product at most " + std::to_string(kMaxCells));
    cells *= n;
  }
  if (input.ids < 0 || input.width < 0 || (input.ids > 0) == (input.width > 0)) return bad("grid: the input is either \"width\" values or one of \"ids\" ids");
  if (input.ids > INT32_MAX || input.width > INT32_MAX) return bad("grid: the input is larger than 2^31-1");
  Network n;
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
  return c.z >= 0 && c.z < depth_ && c.y >= 0 && c.y < rows_ && c.x >= 0 && c.x < cols_ && c.l >= 0 && c.l < layers_;
}

std::string Network::path(std::size_t index) const {
  const Coordinate c = coordinate(index);
  return std::to_string(c.z) + "." + std::to_string(c.y) + "." + std::to_string(c.x) + "." + std::to_string(c.l);
}

std::size_t Network::executed(std::size_t cell) const {
  for (const Link& link : nodes_[cell].links)
    if (link.kind == LinkKind::run) return index(link.cell);
  return cell;
}

std::vector<std::int64_t> Network::arrivals(std::size_t cell) const {
  const Node& node = nodes_[cell];
  const bool reads = std::any_of(node.links.begin(), node.links.end(), [](const Link& l) { return l.kind == LinkKind::read; });
  std::vector<std::int64_t> list;
  if (!reads || node.keep_previous) list.push_back(static_cast<std::int64_t>(cell) - 1);
  for (const Link& link : node.links)
    if (link.kind == LinkKind::read) list.push_back(static_cast<std::int64_t>(index(link.cell)));
  for (std::size_t source = 0; source < nodes_.size(); ++source)
    for (const Link& link : nodes_[source].links)
      if (link.kind == LinkKind::send && index(link.cell) == cell) list.push_back(static_cast<std::int64_t>(source));
  return list;
}

Result<std::vector<std::size_t>> Network::order() const {
  const std::size_t n = nodes_.size();
  std::vector<int> missing(n, 0);
  std::vector<std::vector<std::size_t>> readers(n);
  // One pass over the links instead of arrivals() per cell, which would be quadratic in large grids.
  auto arrive = [&](std::size_t from, std::size_t to) {
    readers[from].push_back(to);
    ++missing[to];
  };
  for (std::size_t i = 0; i < n; ++i) {
    bool reads = false;
    for (const Link& link : nodes_[i].links) {
      if (link.kind == LinkKind::read) { arrive(index(link.cell), i); reads = true; }
      if (link.kind == LinkKind::send) arrive(i, index(link.cell));
    }
    if (i > 0 && (!reads || nodes_[i].keep_previous)) arrive(i - 1, i);
  }
  std::set<std::size_t> ready;
  for (std::size_t i = 0; i < n; ++i)
    if (missing[i] == 0) ready.insert(i);
  std::vector<std::size_t> order;
  while (!ready.empty()) {
    const std::size_t i = *ready.begin();
    ready.erase(ready.begin());
    order.push_back(i);
    for (std::size_t r : readers[i])
      if (--missing[r] == 0) ready.insert(r);
  }
  if (order.size() == n) return order;
  // Follow unfinished arrivals backwards until a cell repeats: that is the cycle.
  std::size_t at = 0;
  while (missing[at] == 0) ++at;
  std::vector<std::size_t> trail;
  while (std::find(trail.begin(), trail.end(), at) == trail.end()) {
    trail.push_back(at);
    for (std::size_t i = 0; i < n; ++i)
      if (missing[i] > 0 && std::find(readers[i].begin(), readers[i].end(), at) != readers[i].end()) { at = i; break; }
  }
  std::string text = coordinate(at).to_string();
  for (std::size_t i = trail.size(); i-- > 0;) {
    text += " -> " + coordinate(trail[i]).to_string();
    if (trail[i] == at) break;
  }
  return bad("the links form a cycle, which a plain pass cannot run: " + text);
}

// Lets a container plan its children.
class NodeChildren : public ChildPlanner {
 public:
  NodeChildren(Network& network, Node& node, const std::string& path) : network_(network), node_(node), path_(path) {}
  std::size_t count() const override { return node_.children.size(); }
  Result<Shape> plan(std::size_t i, const Shape& in, const Shape* skip) override {
    return network_.plan_node(node_.children[i], in, skip, path_ + "/" + std::to_string(i));
  }

 private:
  Network& network_;
  Node& node_;
  std::string path_;
};

Result<Shape> Network::plan_node(Node& node, const Shape& in, const Shape* skip, const std::string& path) {
  NodeChildren children(*this, node, path);
  auto plan = node.type->plan(*node.config, in, skip, children);
  if (!plan.ok()) return plan.status().at(std::string(node.type->name()) + " at " + path);
  std::vector<Param> params;
  for (const ParamSpec& spec : plan->params) {
    if (spec.rows > INT32_MAX || spec.cols > INT32_MAX || spec.rows * spec.cols > (std::int64_t{1} << 40))
      return bad(std::string(node.type->name()) + " at " + path + ": parameter " + spec.role + " of " + std::to_string(spec.rows) + " x " + std::to_string(spec.cols) + " is too large");
    const Param* old = node.find(spec.role);
    Param p{spec, old && old->store && old->store->rows() == spec.rows && old->store->cols() == spec.cols ? old->store : nullptr};
    params.push_back(std::move(p));
  }
  node.params = std::move(params);
  return plan->out;
}

Status Network::resolve_ties() {
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    Node& node = nodes_[i];
    if (node.tie.empty()) continue;
    const std::size_t colon = node.tie.find(':');
    const std::string where = coordinate(i).to_string() + ": tie \"" + node.tie + "\"";
    if (colon == std::string::npos || node.params.empty()) return bad(where + ": expected \"path:role\" on a cell with a parameter");
    Param& mine = node.params[0];
    Param* target = nullptr;
    for (std::size_t j = 0; j < nodes_.size(); ++j)
      visit_params(nodes_[j], path(j), [&](const std::string& p, Node&, Param& q) {
        if (p == node.tie.substr(0, colon) && q.spec.role == node.tie.substr(colon + 1)) target = &q;
      });
    if (!target || target == &mine) return bad(where + ": no such parameter");
    if (target->spec.rows != mine.spec.rows || target->spec.cols != mine.spec.cols)
      return bad(where + ": that parameter is " + std::to_string(target->spec.rows) + " x " + std::to_string(target->spec.cols) + ", this one " + std::to_string(mine.spec.rows) + " x " + std::to_string(mine.spec.cols));
    if (!target->store) target->store = std::make_shared<WeightStore>(target->spec.rows, target->spec.cols);
    mine.store = target->store;
  }
  return {};
}

Status Network::plan(std::int64_t max_values) {
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    for (const Link& link : nodes_[i].links)
      if (!contains(link.cell)) return bad(coordinate(i).to_string() + ": links to " + link.cell.to_string() + ", which is outside of the grid");
    if (executed(i) != i && executed(executed(i)) != executed(i)) return bad(coordinate(i).to_string() + ": runs a cell that itself runs another");
  }
  LOOM_ASSIGN(const std::vector<std::size_t> sequence, order());
  for (std::size_t i : sequence) {
    std::vector<Shape> in;
    for (std::int64_t from : arrivals(i)) in.push_back(from < 0 ? input_ : outputs_[static_cast<std::size_t>(from)]);
    Node& node = nodes_[i];
    const std::string where = coordinate(i).to_string();
    if (in.empty()) return bad(where + ": nothing arrives");
    Shape shape = in[0];
    for (std::size_t k = 1; k < in.size(); ++k) {
      if (in[k].ids > 0 || shape.ids > 0) return bad(where + ": ids cannot be merged");
      if (node.merge == Merge::concat) shape.width += in[k].width;
      else if (in[k].width != shape.width) return bad(where + ": cannot " + (node.merge == Merge::add ? "add" : "average") + " widths " + std::to_string(shape.width) + " and " + std::to_string(in[k].width));
    }
    if (shape.width > INT32_MAX) return bad(where + ": " + std::to_string(shape.width) + " values arrive, the limit is 2^31-1");
    Node& run = nodes_[executed(i)];
    if (!node.enabled || !run.type) {
      outputs_[i] = shape;
      continue;
    }
    auto out = plan_node(run, shape, nullptr, path(executed(i)));
    if (!out.ok()) return executed(i) == i ? out.status() : out.status().at(where + " runs");
    outputs_[i] = *out;
  }
  if (head >= static_cast<std::int64_t>(nodes_.size())) return bad("head: cell " + std::to_string(head) + " is outside of the grid");
  std::int64_t values = 0;
  for (const NamedParam& p : params()) {
    if (!p.param->store) values += p.param->spec.rows * p.param->spec.cols;
    if (values > max_values) return bad(p.path + ":" + p.param->spec.role + ": the parameters up to this one hold " + std::to_string(values) + " values, the limit is " + std::to_string(max_values));
  }
  LOOM_TRY(resolve_ties());
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    Status status;
    visit_params(nodes_[i], path(i), [&](const std::string& p, Node& node, Param& param) {
      if (param.store || !status.ok()) return;
      param.store = std::make_shared<WeightStore>(param.spec.rows, param.spec.cols);
      if (param.spec.quantized && node.format != WeightFormat{}) status = param.store->morph(node.format).at(p + ":" + param.spec.role);
    });
    LOOM_TRY(status);
  }
  return {};
}

Status Network::initialize(std::uint64_t seed) {
  Status status;
  std::set<const WeightStore*> done;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    visit_params(nodes_[i], path(i), [&](const std::string& p, Node&, Param& param) {
      if (!status.ok() || !done.insert(param.store.get()).second) return;
      // The stream is named by the parameter's path, so adding a layer elsewhere changes nothing here.
      const auto digest = Sha256::of(as_bytes(p + ":" + param.spec.role));
      const RandomStream random(seed, load_le<std::uint64_t>(digest.data()));
      const std::size_t n = static_cast<std::size_t>(param.spec.rows * param.spec.cols);
      std::vector<float> values(n, param.spec.init == Init::ones ? 1.0f : 0.0f);
      if (param.spec.init == Init::normal) {
        const float std = static_cast<float>(param.spec.std);
        for (std::size_t k = 0; k < n; ++k) {
          // Box and Muller; 1 - u is in (0, 1].
          const float radius = exact::sqrt(-2.0f * exact::log(1.0f - random.uniform(2 * k)));
          values[k] = std * (radius * exact::cos(6.28318530717958647692f * random.uniform(2 * k + 1)));
        }
      }
      if (param.store->master_is_f64()) {
        std::span<double> m = param.store->mutable_master64();
        for (std::size_t k = 0; k < n; ++k) m[k] = values[k];
      } else {
        std::span<float> m = param.store->mutable_master();
        if (m.size() != n) { status = bad(p + ":" + param.spec.role + ": has no master to initialize"); return; }
        std::copy(values.begin(), values.end(), m.begin());
      }
      param.store->touch();
    });
  }
  return status;
}

WeightStore* Network::find(std::string_view wanted, std::string_view role) {
  // "z.y.x.l/i/j": the cell, then children.
  const std::size_t slash = wanted.find('/');
  const std::string_view cell = wanted.substr(0, slash);
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (path(i) != cell) continue;
    Node* node = &nodes_[i];
    std::string_view rest = slash == std::string_view::npos ? std::string_view() : wanted.substr(slash + 1);
    while (!rest.empty()) {
      std::size_t child = 0, k = 0;
      for (; k < rest.size() && rest[k] >= '0' && rest[k] <= '9' && child < 1000000; ++k) child = child * 10 + static_cast<std::size_t>(rest[k] - '0');
      if (k == 0 || child >= node->children.size() || (k < rest.size() && rest[k] != '/')) return nullptr;
      node = &node->children[child];
      rest = k < rest.size() ? rest.substr(k + 1) : std::string_view();
    }
    const Param* p = node->find(role);
    return p ? p->store.get() : nullptr;
  }
  return nullptr;
}

std::vector<Network::NamedParam> Network::params() {
  std::vector<NamedParam> list;
  std::set<const WeightStore*> seen;
  for (std::size_t i = 0; i < nodes_.size(); ++i)
    visit_params(nodes_[i], path(i), [&](const std::string& p, Node& node, Param& param) { list.push_back({p, &param, &node, !seen.insert(param.store.get()).second}); });
  return list;
}

Status Network::morph(std::size_t cell, const WeightFormat& format) {
  Status status;
  visit_params(nodes_[cell], path(cell), [&](const std::string& p, Node& node, Param& param) {
    node.format = format;
    if (param.spec.quantized && status.ok()) status = param.store->morph(format).at(p + ":" + param.spec.role);
  });
  return status;
}

Status Network::morph(const WeightFormat& format) {
  for (std::size_t i = 0; i < nodes_.size(); ++i) LOOM_TRY(morph(i, format));
  return {};
}

std::int64_t Network::parameter_count() {
  std::int64_t n = 0;
  for (const NamedParam& p : params())
    if (!p.tied) n += p.param->spec.rows * p.param->spec.cols;
  return n;
}

}  // namespace loom
