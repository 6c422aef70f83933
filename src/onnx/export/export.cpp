#include "onnx/export/export.h"

#include <algorithm>

#include "base/fields/field_reader.h"
#include "grid/emit/emitter.h"
#include "onnx/export/graph.h"

namespace loom::onnx {
namespace {

constexpr LayerRow kRules[] = {{"activation", export_activation},
                               {"adaptive_softmax", export_adaptive_softmax},
                               {"attention", export_attention},
                               {"avg_pool1d", export_pool},
                               {"avg_pool2d", export_pool},
                               {"avg_pool3d", export_pool},
                               {"batch_norm", export_batch_norm},
                               {"batched_matmul", export_batched_matmul},
                               {"binary", export_binary},
                               {"conv1d", export_conv},
                               {"conv2d", export_conv},
                               {"conv3d", export_conv},
                               {"conv_transpose1d", export_conv_transpose},
                               {"conv_transpose2d", export_conv_transpose},
                               {"conv_transpose3d", export_conv_transpose},
                               {"cross_attention", export_cross_attention},
                               {"dense", export_dense},
                               {"dropout", export_same},
                               {"embedding", export_embedding},
                               {"flatten", export_same},
                               {"genome", export_genome},
                               {"group_norm", export_group_norm},
                               {"gru", export_recurrent},
                               {"index_select", export_index_select},
                               {"instance_norm", export_group_norm},
                               {"kmeans", export_kmeans},
                               {"layer_norm", export_last_norm},
                               {"log_softmax", export_log_softmax},
                               {"lstm", export_recurrent},
                               {"max_pool1d", export_pool},
                               {"max_pool2d", export_pool},
                               {"max_pool3d", export_pool},
                               {"metacognition", export_metacognition},
                               {"mixture_of_softmaxes", export_mixture_of_softmaxes},
                               {"parallel", export_parallel},
                               {"part", export_part},
                               {"permute", export_permute},
                               {"pool_steps", export_pool_steps},
                               {"positions", export_positions},
                               {"reduce", export_reduce},
                               {"reshape", export_same},
                               {"residual", export_residual},
                               {"rms_norm", export_last_norm},
                               {"rnn", export_recurrent},
                               {"select", export_select},
                               {"sequential", export_sequential},
                               {"softmax", export_softmax},
                               {"standardize", export_standardize},
                               {"swiglu", export_swiglu},
                               {"time_distributed", export_time_distributed},
                               {"unary", export_unary}};

Status unsupported(std::string what) { return Status(Code::unsupported, std::move(what)); }

// The operands of a row in their dimensions.
Edge arranged(GraphWriter& g, const Edge& x, const Shape& shape) {
  if (shape.parts.empty()) {
    const Edge row = x.parts.empty() ? x : g.flat(x);
    return row.type == Type::i64 ? row : g.shaped(row, dims_of(shape));
  }
  Edge out = x;
  if (x.parts.empty()) {  // one row of all
    std::int64_t column = 0;
    for (const Shape& part : shape.parts) {
      out.parts.push_back(g.slice(g.shaped(x, {elements(x.dims)}), 0, column, part.count()));
      column += part.count();
    }
  }
  for (std::size_t i = 0; i < out.parts.size(); ++i)
    out.parts[i] = arranged(g, out.parts[i], shape.parts[i]);
  return out;
}

Edge cast_values(GraphWriter& g, const Edge& x, Type type) {
  if (x.parts.empty()) return x.type == Type::i64 ? x : g.cast(x, type);
  Edge y = x;
  for (Edge& part : y.parts) part = cast_values(g, part, type);
  return y;
}

class Exporter {
 public:
  Exporter(const Network& network, const ExportOptions& options, int lead)
      : network_(network), g_(options, lead) {}

  Result<ExportedGraph> run() {
    LOOM_ASSIGN(const std::vector<std::size_t> order, network_.order());
    const std::vector<std::vector<std::int64_t>> arrivals = network_.arrivals();
    g_.real =
        input_type(network_) == ValueType::f64 && g_.options.as.empty() ? Type::f64 : Type::f32;
    const Edge input = add_inputs();
    given_.resize(network_.size());
    for (const std::size_t i : order) {
      LOOM_ASSIGN(given_[i], cell(i, arrivals[i], input));
    }
    add_outputs(given_.back());
    return finish();
  }

 private:
  std::vector<Dim> rows_of(const Dims& dims) const {
    std::vector<Dim> all{{-1, "batch"}};
    if (g_.lead == 2) all.push_back({-1, "sequence"});
    for (const std::int64_t d : dims) all.push_back({d, {}});
    return all;
  }
  ValueInfo info_of(const Edge& e) const {
    ValueInfo v;
    v.name = e.name;
    v.kind = Kind::tensor;
    v.type = e.type;
    v.has_shape = true;
    v.dims = rows_of(e.dims);
    return v;
  }
  Edge add_input(const Shape& shape, const std::string& name) {
    Edge e;
    e.name = g_.unique(name);
    e.type = shape.ids > 0 ? Type::i64 : g_.real;
    e.dims = dims_of(shape);
    g_.model.graph.inputs.push_back(info_of(e));
    return e;
  }
  Edge add_inputs() {
    const Shape& in = network_.input();
    if (g_.options.decoder) {
      const Edge ids = add_input(in, "input_ids");
      g_.add_decoder_inputs(ids);
      return ids;
    }
    if (in.parts.empty()) return add_input(in, in.name.empty() ? "input" : in.name);
    Edge all;
    for (const Shape& part : in.parts) all.parts.push_back(add_input(part, part.name));
    return all;
  }

  Type type_of(std::size_t cell, const Edges& from) const {
    if (!g_.options.as.empty()) return Type::f32;
    const auto wide = [](const Edge& e) {
      return e.type == Type::f64 || std::any_of(e.parts.begin(), e.parts.end(),
                                                [](const Edge& p) { return p.type == Type::f64; });
    };
    const bool f64 = network_.passes(cell)
                         ? network_.version() >= 2 && std::any_of(from.begin(), from.end(), wide)
                         : computes_in_f64(network_.node(network_.executed(cell)));
    return f64 ? Type::f64 : Type::f32;
  }

  Edge merged(std::size_t cell, const std::vector<std::int64_t>& arriving, const Edges& from) {
    const loom::Node& node = network_.node(cell);
    if (node.merge == Merge::operands) {
      Edge all;
      all.parts = from;
      return all;
    }
    if (!side_by_side(node.merge)) {
      Edge sum = from[0];
      for (std::size_t k = 1; k < from.size(); ++k)
        sum = g_.pair("Add", sum, g_.shaped(from[k], sum.dims));
      return node.merge == Merge::avg ? g_.scale(sum, 1.0 / static_cast<double>(from.size())) : sum;
    }
    const std::int64_t parts = network_.joined_parts(cell, arriving);
    Edges rows;
    for (const Edge& e : from) {
      const Edge row = e.parts.empty() ? g_.cast(e, g_.real) : g_.flat(e);
      const std::int64_t width = elements(row.dims) / parts;
      rows.push_back(g_.shaped(row, parts > 1 ? Dims{parts, width} : Dims{width}));
    }
    return g_.joined(rows, parts > 1 ? 1 : 0);
  }

  Result<Edge> cell(std::size_t i, const std::vector<std::int64_t>& arriving, const Edge& input) {
    Edges from;
    for (const std::int64_t a : arriving)
      from.push_back(a < 0 ? input : given_[static_cast<std::size_t>(a)]);
    const std::string path = network_.path(i);
    g_.real = type_of(i, from);
    g_.scope = path;
    const bool as_it_is = network_.passes(i) && from.size() == 1;
    if (as_it_is) return from[0];
    for (Edge& e : from) e = cast_values(g_, e, g_.real);
    const Edge x = from.size() == 1 ? from[0] : merged(i, arriving, from);
    if (network_.passes(i)) return arranged(g_, x, network_.output(i));
    const std::size_t executed = network_.executed(i);
    return export_node(g_, network_, network_.node(executed), network_.path(executed), x, nullptr);
  }

  // An output is named at the node that makes it, where that makes no other.
  void add_output(Edge e, const std::string& name) {
    Graph& graph = g_.model.graph;
    const std::string wanted = g_.unique(name), had = e.name;
    bool renamed = false;
    if (const auto before = outputs_.find(had); before != outputs_.end()) {
      e.name = before->second;
    } else {
      for (Node& n : graph.nodes)
        for (std::string& out : n.outputs)
          if (out == had) out = wanted, renamed = true;
      if (renamed)
        for (Node& n : graph.nodes) std::replace(n.inputs.begin(), n.inputs.end(), had, wanted);
      if (renamed) outputs_[had] = wanted;
    }
    if (!renamed) {
      g_.scope = "output";
      e = g_.add("Identity", {e}, e.dims);
      graph.nodes.back().outputs[0] = wanted;
    }
    e.name = wanted;
    graph.outputs.push_back(info_of(e));
  }
  void add_outputs(const Edge& y) {
    if (g_.decoder) {
      add_output(y, "logits");
      for (ValueInfo& v : g_.decoder->present) g_.model.graph.outputs.push_back(std::move(v));
      return;
    }
    if (y.parts.empty()) return add_output(y, "output");
    const std::vector<std::string>& names = network_.outputs_by_name;
    for (std::size_t i = 0; i < y.parts.size(); ++i)
      add_output(y.parts[i], i < names.size() ? names[i] : "output" + std::to_string(i));
  }

  ExportedGraph finish() {
    Model& m = g_.model;
    m.ir_version = 10;
    m.producer = "loom";
    m.opsets = {{"", g_.options.opset}};
    if (std::any_of(m.graph.nodes.begin(), m.graph.nodes.end(),
                    [](const Node& n) { return !n.domain.empty(); }))
      m.opsets.emplace_back("com.microsoft", 1);
    m.graph.name = "loom";
    Json report = Json::object(), inputs = Json::array(), outputs = Json::array(),
         dtypes = Json::object();
    for (const ValueInfo& v : m.graph.inputs) inputs.push(v.name + ": " + type_text(v));
    for (const ValueInfo& v : m.graph.outputs) outputs.push(v.name + ": " + type_text(v));
    for (const auto& [dtype, count] : g_.dtypes) dtypes.set(dtype, count);
    report.set("format", "onnx");
    report.set("opset", g_.options.opset);
    report.set("inputs", std::move(inputs));
    report.set("outputs", std::move(outputs));
    report.set("nodes", static_cast<std::int64_t>(m.graph.nodes.size()));
    report.set("dtypes", std::move(dtypes));
    return {std::move(m), std::move(report)};
  }

  const Network& network_;
  GraphWriter g_;
  Edges given_;
  std::map<std::string, std::string> outputs_;  // what nodes made, by the name that it had
};

// Whether a layer goes over rows, which are positions of a sequence.
bool goes_over_rows(const loom::Node& node) {
  const std::string_view type = node.type ? node.type->name() : "";
  const Shape& in = node.in.parts.empty() ? node.in : node.in.parts[0];
  const bool sequences = type == "attention" || type == "positions";
  if ((sequences && in.dims.size() != 2) || (type != "" && in.axis == Axis::positions)) return true;
  return std::any_of(node.children.begin(), node.children.end(), goes_over_rows);
}

// Why a network is no decoder; empty: it is one.
std::string why_no_decoder(const loom::Node& node, const std::string& path) {
  const std::string_view type = node.type ? node.type->name() : "";
  const std::string_view looks = type.empty() || type == "attention" || node.type->is_container()
                                     ? std::string_view()
                                     : node.type->row_dependence(*node.config, node.in);
  if (!looks.empty())
    return std::string(type) + " at " + path + " " + std::string(looks) +
           ", which only attention does with a cache";
  for (std::size_t i = 0; i < node.children.size(); ++i) {
    std::string why = why_no_decoder(node.children[i], path + "/" + std::to_string(i));
    if (!why.empty()) return why;
  }
  return {};
}

Status check_decoder(const Network& network, bool over_rows) {
  const Shape& in = network.input();
  if (!over_rows || in.ids == 0 || !in.dims.empty() || !in.parts.empty())
    return unsupported(
        "\"decoder\": a language model takes one id per position and has attention over positions");
  for (std::size_t i = 0; i < network.size(); ++i) {
    const std::string why = why_no_decoder(network.node(i), network.path(i));
    if (!why.empty()) return unsupported("\"decoder\": " + why);
  }
  return {};
}

}  // namespace

LayerRule find_layer_rule(std::string_view type) {
  for (const LayerRow& row : kRules)
    if (row.type == type) return row.rule;
  return nullptr;
}

std::string exported_types() {
  std::string all;
  for (const LayerRow& row : kRules) all += (all.empty() ? "" : ", ") + std::string(row.type);
  return all;
}

Result<Edge> export_node(GraphWriter& g, const Network& network, const loom::Node& node,
                         const std::string& path, const Edge& x, const Edge* skip) {
  if (!node.type || !node.enabled) return x;
  const std::string_view type = node.type->name();
  LayerVisit v{g, network, node, path, Json::object(), skip};
  const LayerRule rule = find_layer_rule(type);
  if (!rule) return v.refuse("ONNX has no such layer; those exported are " + exported_types());
  node.type->write(*node.config, v.config);
  const std::string before = g.scope;
  g.scope = path + (node.name.empty() ? "" : ":" + node.name) + "/" + std::string(type);
  // A layer that works on the last dimension has that alone: what is before it stays.
  const bool keeps = node.parts > 1 && x.parts.empty() && !x.dims.empty() &&
                     x.dims.back() == node.in.width && elements(x.dims) > node.in.width;
  Edge row = keeps            ? x
             : node.parts > 1 ? g.shaped(x, {node.parts, node.in.width})
                              : arranged(g, x, node.in);
  auto y = rule(v, row);
  if (!y.ok()) return y;
  Edge out = arranged(g, *y, node.out);
  g.scope = before;
  return out;
}

Result<ExportedGraph> export_network(const Network& network, const ExportOptions& options) {
  if (options.opset < kMinExportOpset || options.opset > kMaxExportOpset)
    return Status(Code::invalid_argument,
                  "\"opset\" must be in " + std::to_string(kMinExportOpset) + ".." +
                      std::to_string(kMaxExportOpset) + ", got " + std::to_string(options.opset));
  if (!options.as.empty()) {
    LOOM_ASSIGN(const WeightFormat f, parse_weight_format(options.as));
    if (f.arith() == ArithClass::real)
      return Status(Code::invalid_argument, "\"as\": cells of " + to_string(f) +
                                                " compute in double; \"as\" is f32 or less");
  }
  if (network.step_mesh || network.ticks() > 0)
    return unsupported("a step mesh runs by ticks, and an ONNX graph in a pass");
  bool over_rows = false;
  for (std::size_t i = 0; i < network.size(); ++i)
    over_rows = over_rows || goes_over_rows(network.node(i));
  if (options.decoder) LOOM_TRY(check_decoder(network, over_rows));
  return Exporter(network, options, over_rows ? 2 : 1).run();
}

// ---- what rules see of a layer

std::int64_t LayerVisit::integer(std::string_view key, std::int64_t fallback) const {
  const Json* j = config.find(key);
  return j && j->is_integer() ? j->as_integer() : fallback;
}
double LayerVisit::number(std::string_view key, double fallback) const {
  const Json* j = config.find(key);
  return j && j->is_number() ? j->as_number() : fallback;
}
bool LayerVisit::flag(std::string_view key, bool fallback) const {
  const Json* j = config.find(key);
  return j && j->is_bool() ? j->as_bool() : fallback;
}
std::string LayerVisit::text(std::string_view key, std::string_view fallback) const {
  const Json* j = config.find(key);
  return j && j->is_string() ? j->as_string() : std::string(fallback);
}
Dims LayerVisit::list(std::string_view key) const {
  const Json* j = config.find(key);
  Dims out;
  if (j && j->is_integer()) out.push_back(j->as_integer());
  if (j && j->is_array())
    for (const Json& i : j->as_array()) out.push_back(i.is_integer() ? i.as_integer() : 0);
  return out;
}
std::vector<std::string> LayerVisit::texts(std::string_view key) const {
  const Json* j = config.find(key);
  std::vector<std::string> out;
  if (j && j->is_array())
    for (const Json& i : j->as_array()) out.push_back(i.is_string() ? i.as_string() : "");
  return out;
}
const Edge* LayerVisit::taken(const Edge& x, std::string_view name, std::size_t first) const {
  const std::vector<std::string> takes = texts("takes");
  for (std::size_t i = 0; i < takes.size(); ++i)
    if (takes[i] == name) return &x.parts[first + i];
  return nullptr;
}

std::string LayerVisit::name_of(const Param& p, std::string_view role) const {
  const bool tied = !node.tie.empty() && &p == &node.params[0];
  return tied ? node.tie : path + ":" + std::string(role);
}

Result<Edge> LayerVisit::weight(std::string_view role, Dims dims) const {
  const Param* p = node.find(role);
  if (!p) return refuse("has no parameter " + std::string(role));
  const std::string name = name_of(*p, role);
  if (!p->spec.quantized && dims.empty()) dims = {p->store->cols()};
  return g.weight(name, *p, std::move(dims));
}

Result<Edge> LayerVisit::linear(std::string_view role, const Edge& x, std::string_view bias) const {
  const Param* p = node.find(role);
  if (g.options.matmul_nbits && p && p->spec.quantized) {
    LOOM_ASSIGN(const Edge y, g.nbits(name_of(*p, role), *p, x));
    if (!y.name.empty() && bias.empty()) return y;
    if (!y.name.empty()) {
      LOOM_ASSIGN(const Edge b, weight(bias));
      return g.pair("Add", y, b);
    }
  }
  LOOM_ASSIGN(const Edge w, weight(role));
  if (bias.empty()) return g.product(x, w, nullptr);
  LOOM_ASSIGN(const Edge b, weight(bias));
  return g.product(x, w, &b);
}

Result<Edge> LayerVisit::child(std::size_t i, const Edge& x, const Edge* before) const {
  std::string at = path + "/" + std::to_string(i);
  const loom::Node& nested = node.children[i];
  const loom::Node* runs = network.executed(nested, at);
  if (!runs) return x;
  const bool here = runs == &nested;
  const Type own = g.real;
  if (!here) g.real = computes_in_f64(*runs) && g.options.as.empty() ? Type::f64 : Type::f32;
  auto y = export_node(g, network, *runs, at, here ? x : cast_values(g, x, g.real),
                       here ? before : nullptr);
  if (!here && y.ok()) y = cast_values(g, *y, own);
  g.real = own;
  return y;
}

Status LayerVisit::refuse(const std::string& what) const {
  return Status(Code::unsupported, std::string(node.type->name()) + " at " + path + ": " + what);
}

}  // namespace loom::onnx
