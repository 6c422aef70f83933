// What rules of layers write a graph with: each call appends a node. Internal to this folder.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "grid/network.h"
#include "onnx/export/export.h"
#include "onnx/graph.h"

namespace loom::onnx {

// A value of the graph: an input, the output of a node, or an initializer. Rules copy many: not
// inlined, or the library would grow by a fifth of the exporter.
struct Edge {
  Edge();
  Edge(const Edge&);
  Edge(Edge&&) noexcept;
  Edge& operator=(const Edge&);
  Edge& operator=(Edge&&) noexcept;
  ~Edge();

  std::string name;
  Type type = Type::f32;
  Dims dims;                // of a row; of a fixed value all
  bool fixed = false;       // known: without the dimensions of the rows
  std::vector<Edge> parts;  // of several operands; then it has no name
};
using Edges = std::vector<Edge>;

// Inputs of a node: borrowed until it is written.
struct Inputs {
  Inputs(const Edge& a) : few{&a}, count(1) {}                                        // NOLINT
  Inputs(const Edge& a, const Edge& b) : few{&a, &b}, count(2) {}                     // NOLINT
  Inputs(const Edge& a, const Edge& b, const Edge& c) : few{&a, &b, &c}, count(3) {}  // NOLINT
  Inputs(const Edge& a, const Edge& b, const Edge& c, const Edge& d)
      : few{&a, &b, &c, &d}, count(4) {}
  Inputs(const Edges& list) : all(list.data()), count(list.size()) {}  // NOLINT
  const Edge& operator[](std::size_t i) const { return all ? all[i] : *few[i]; }
  const Edge* few[4] = {};
  const Edge* all = nullptr;
  std::size_t count;
};

// An attribute before it is one of a node.
struct Attr {
  std::string_view name;
  AttributeType type;
  double f = 0;
  std::int64_t i = 0;
  std::string_view s{};        // outlives the node's writing
  std::int64_t list[20] = {};  // of 16 dimensions and those of rows
  std::size_t count = 0;       // of ints, or how often strings have s
};
Attr attr(std::string_view name, std::int64_t value);
Attr attr(std::string_view name, double value);
Attr attr(std::string_view name, std::string_view value);
Attr attr(std::string_view name, const Dims& values);
Attr attr(std::string_view name, std::string_view value, std::int64_t times);
using Attributes = std::vector<Attr>;

// The dimensions of a row as a layer gives it: of one without any its width alone.
Dims dims_of(const Shape& shape);

// What a decoder's layers share: dimensions are [batch, sequence] and [sequence, total].
struct DecoderInputs {
  Edge positions, mask;              // int64
  Edge behind;                       // by how many positions a key stands behind a query
  std::map<std::string, Edge> made;  // scores and angles, by what they depend on
  std::vector<ValueInfo> present;
  std::int64_t layers = 0;
};

class GraphWriter {
 public:
  GraphWriter(const ExportOptions& options, int lead);

  Model model;
  const int lead;         // dimensions before those of a row: 1, or 2 where rows are positions
  Type real = Type::f32;  // what the cell computes in
  std::string scope;      // names of nodes begin with it
  const ExportOptions& options;
  std::optional<DecoderInputs> decoder;
  std::map<std::string, std::int64_t> dtypes;  // parameters by the dtype that they have in the file

  // A node with one output, of the first input's type. Its dimensions are those of a row.
  Edge add(std::string_view op, const Inputs& in, Dims out, const Attributes& attributes = {});
  // The same of another type, and those dimensions, which are `out`'s.
  Edge make(std::string_view op, const Inputs& in, Edge out, const Attributes& attributes = {});
  // The same with several, as `out` has their types and dimensions; one without dimensions and a
  // name "-" is left out.
  Edges add_all(std::string_view op, const Inputs& in, Edges out,
                const Attributes& attributes = {});

  // Initializers. The same numbers stand once.
  Edge constant(Type type, Dims dims, const std::vector<double>& values);
  Edge number(double value) { return constant(real, {}, {value}); }
  Edge index(const Dims& values);  // int64, a list
  // Values of `real` that were computed here.
  Edge numbers(Dims dims, const std::vector<double>& values) {
    return constant(real, std::move(dims), values);
  }

  Edge shaped(const Edge& x, const Dims& dims);
  Edge cast(const Edge& x, Type type);
  // Operands side by side, as values of `real`.
  Edge flat(const Edge& x);
  Edge joined(const Edges& list, std::int64_t axis);  // along a dimension of the row
  // Values [first, first + count) of a dimension of the row.
  Edge slice(const Edge& x, std::int64_t axis, std::int64_t first, std::int64_t count);
  Edge transposed(const Edge& x, const Dims& order);             // of the dimensions of the row
  Edge pair(std::string_view op, const Edge& a, const Edge& b);  // broadcasting
  Edge scale(const Edge& x, double factor);
  Edge reduced(std::string_view op, const Edge& x, const Dims& axes, bool keep);  // of the row
  Edge softmax(const Edge& x, bool log = false);  // along the last dimension
  // x [..., in] times a weight [out, in], plus a bias.
  Edge product(const Edge& x, const Edge& weight, const Edge* bias);
  Edge activation(const Edge& x, std::string_view kind);
  // Normal by the mean square along the last dimension, times a gain.
  Edge rms_norm(const Edge& x, const Edge& gain, double eps);
  // 1.0 where a row's step is below its length: [steps].
  Edge seen_steps(const Edge& lengths, std::int64_t steps);

  // Inputs of a decoder, next to its ids.
  void add_decoder_inputs(const Edge& ids);
  // [batch, heads, sequence, dim] behind those of the past; `kind`: "key" or "value", which comes
  // last.
  Edge cached(const Edge& x, std::string_view kind);
  // What is added to scores [batch, heads, sequence, total].
  Edge cached_scores(std::int64_t window, const std::vector<double>& slopes);
  // Cosines and sines of positions [batch, 1, sequence, half].
  Edges position_angles(const std::vector<double>& frequencies);
  // A node whose result has no dimensions of the row's: those are as said.
  Edge fixed(std::string_view op, const Inputs& in, Type type, Dims dims,
             const Attributes& attributes = {});

  // x times a parameter, as MatMulNBits; without a name: it holds other dtypes.
  Result<Edge> nbits(const std::string& name, const Param& param, const Edge& x);
  // A parameter. Its dimensions are [rows, cols], or those given.
  Result<Edge> weight(const std::string& name, const Param& param, Dims dims);
  void initializer(Tensor tensor) { model.graph.initializers.push_back(std::move(tensor)); }
  std::string unique(const std::string& name);
  std::int64_t axis(std::int64_t of_row, bool fixed) const {
    return fixed ? of_row : of_row + lead;
  }

 private:
  Result<std::shared_ptr<WeightStore>> stored(const Param& param) const;
  Result<Edge> nbits_weight(const std::string& name, const Param& param);
  Result<Edge> dequantized(const std::string& name, const WeightStore& store);
  Result<Edge> plain(const std::string& name, const std::shared_ptr<WeightStore>& store, Type type,
                     const Dims& dims);

  std::map<std::string, int> names_;
  std::map<std::string, Edge> constants_;
  std::map<std::pair<const WeightStore*, Type>, Edge> weights_;
};

// A layer as its rule sees it.
struct LayerVisit {
  GraphWriter& g;
  const Network& network;
  const loom::Node& node;
  std::string path;
  Json config;
  const Edge* skip;  // of a residual

  std::int64_t integer(std::string_view key, std::int64_t fallback = 0) const;
  double number(std::string_view key, double fallback = 0) const;
  bool flag(std::string_view key, bool fallback = false) const;
  std::string text(std::string_view key, std::string_view fallback = "") const;
  Dims list(std::string_view key) const;
  std::vector<std::string> texts(std::string_view key) const;
  // The operand that "takes" names; null: there is none.
  const Edge* taken(const Edge& x, std::string_view name, std::size_t first = 1) const;

  Result<Edge> weight(std::string_view role, Dims dims = {}) const;
  // x times the weight of a role, plus the parameter `bias` where one is named.
  Result<Edge> linear(std::string_view role, const Edge& x, std::string_view bias = {}) const;
  // The name of a parameter: a tied one has its owner's.
  std::string name_of(const Param& p, std::string_view role) const;
  Result<Edge> child(std::size_t i, const Edge& x, const Edge* before = nullptr) const;
  Status refuse(const std::string& what) const;
  // Refused where rows are positions, of a layer whose operator has one dimension before the row's.
  Status one_row() const {
    return g.lead == 1 ? Status()
                       : refuse("rows are positions of sequences here: give it the steps of a row");
  }
  // The row of a layer that works on its last dimension.
  Edge last(const Edge& x) const {
    return x.dims.back() == node.in.width ? x : g.shaped(x, {node.in.width});
  }
};

using LayerRule = Result<Edge> (*)(LayerVisit& v, const Edge& x);
struct LayerRow {
  std::string_view type;
  LayerRule rule;
};
// By type; null: ONNX cannot express it.
LayerRule find_layer_rule(std::string_view type);
// The types that there are rules for, for messages.
std::string exported_types();
// A cell, or a layer in one, on what arrives.
Result<Edge> export_node(GraphWriter& g, const Network& network, const loom::Node& node,
                         const std::string& path, const Edge& x, const Edge* skip);

// Of rules/: a row for each type.
// clang-format off
#define LOOM_EXPORT_RULES(X) \
  X(dense) X(embedding) X(swiglu) X(positions) X(attention) X(cross_attention) X(conv) \
  X(conv_transpose) X(pool) X(recurrent) X(last_norm) X(batch_norm) X(group_norm) \
  X(standardize) X(same) X(sequential) X(residual) X(parallel) X(part) \
  X(time_distributed) X(metacognition) X(softmax) X(log_softmax) X(adaptive_softmax) \
  X(mixture_of_softmaxes) X(kmeans) X(activation) X(unary) X(binary) X(select) X(reduce) \
  X(permute) X(index_select) X(batched_matmul) X(genome) X(pool_steps)
// clang-format on
#define LOOM_EXPORT_RULE(name) Result<Edge> export_##name(LayerVisit& v, const Edge& x);
LOOM_EXPORT_RULES(LOOM_EXPORT_RULE)
#undef LOOM_EXPORT_RULE

}  // namespace loom::onnx
