// An ensemble of decision trees: random forests, boosted trees, or a tree alone. Where trees split
// is part of the layer's settings, and what leaves hold is a parameter: neither is learned.
#include "ops/trees/trees.h"

#include "base/files/base64.h"
#include "base/files/bytes.h"
#include "base/message.h"
#include "layers/layer.h"

namespace loom {
namespace {

struct TreesConfig : LayerConfig {
  std::int64_t features = 0, outputs = 1;
  std::vector<std::int64_t> sizes;
  std::string nodes, thresholds;
  bool single = false, average = false;
  TreeTable table;
  template <class V>
  void fields(V& v) {
    v.about(
        "Decision trees: `base` and what the leaves hold that a row reaches, summed in f64 in the "
        "order of the trees. A feature, rounded to f32, that is at most the threshold goes to the "
        "left child, others to the right one. Trees are not trained, and have no gradient. Only "
        "on the CPU. Parameters: `values` [leaves, outputs], `base` [1, outputs].");
    v("features", features, {.doc = "values of a row", .min = 1, .max = 1 << 28, .required = true});
    v("outputs", outputs, {.doc = "columns of the result", .min = 1, .max = INT32_MAX});
    v("sizes", sizes,
      {.doc = "nodes of each tree, the root first", .min = 1, .max = INT32_MAX, .required = true});
    v("nodes", nodes,
      {.doc = "base64 of u32 (little-endian), one for each node: 0 of a leaf, else the distance to "
              "its left child * 2^(B+1) + (2^B if NaN goes left) + the feature, with B bits "
              "for a feature. The right child is next to the left one",
       .required = true});
    v("thresholds", thresholds,
      {.doc = "base64 of f32, one for each node that is no leaf", .required = true});
    v("single", single,
      {.doc = "a leaf has one value ([leaves, 1]), which tree t adds to column t mod outputs"});
    v("average", average, {.doc = "the sum is divided by the number of trees of a column"});
  }
};

template <class T>
Result<std::vector<T>> numbers_of(std::string_view text, std::string_view key) {
  LOOM_ASSIGN(const std::vector<std::byte> bytes, from_base64(text, key));
  if (bytes.size() % sizeof(T) != 0)
    return Status(Code::invalid_argument,
                  message("\"", key, "\" has ", bytes.size(), " bytes, a number has 4"));
  std::vector<T> numbers(bytes.size() / sizeof(T));
  for (std::size_t i = 0; i < numbers.size(); ++i)
    numbers[i] = load_le<T>(bytes.data() + i * sizeof(T));
  return numbers;
}

Status read_trees(TreesConfig& c) {
  LOOM_ASSIGN(const std::vector<std::uint32_t> nodes, numbers_of<std::uint32_t>(c.nodes, "nodes"));
  LOOM_ASSIGN(const std::vector<float> thresholds, numbers_of<float>(c.thresholds, "thresholds"));
  LOOM_ASSIGN(c.table, make_tree_table(c.sizes, nodes, thresholds, c.features));
  if (c.single && c.table.trees % c.outputs != 0)
    return Status(Code::invalid_argument,
                  message("single: ", c.table.trees, " trees are not as many for each of ",
                          c.outputs, " outputs"));
  if (c.table.leaves > INT32_MAX / (c.single ? 1 : c.outputs))
    return Status(Code::invalid_argument, message("trees: ", c.table.leaves, " leaves of ",
                                                  c.outputs, " outputs are too many"));
  return {};
}

class Trees : public LayerWith<TreesConfig> {
 public:
  std::string_view name() const override { return "trees"; }
  bool takes_missing(const LayerConfig&) const override { return true; }
  bool on_cpu_alone() const override { return true; }
  std::int64_t width(const LayerConfig& config) const override { return of(config).outputs; }

  Result<ConfigPtr> parse(const Json& cell) const override {
    LOOM_ASSIGN(const ConfigPtr read, LayerWith::parse(cell));
    auto config = std::make_shared<TreesConfig>(of(*read));
    LOOM_TRY(read_trees(*config));
    return ConfigPtr(std::move(config));
  }

  Result<LayerPlan> plan(const LayerConfig& config, const Shape& in, const Shape*,
                         ChildPlanner&) const override {
    const TreesConfig& c = of(config);
    LOOM_TRY(expect_values(in));
    if (in.width != c.features)
      return Status(Code::invalid_argument,
                    message("trees of ", c.features, " features, a row has ", in.width, " values"));
    return LayerPlan{Shape{c.outputs},
                     {{"values", c.table.leaves, c.single ? 1 : c.outputs, Init::normal, 1, false},
                      {"base", 1, c.outputs, Init::zeros, 0, false}}};
  }

  Result<View> forward(const LayerConfig& config, LayerContext& v, View x, View) const override {
    const TreesConfig& c = of(config);
    v.save("x", x);
    return v.emit.trees(x, v.emit.tree_table(c.table), v.weight("values"), v.weight("base"),
                        {.outputs = c.outputs,
                         .single = c.single,
                         .average = c.average,
                         .trees = c.table.trees,
                         .missing = c.table.missing,
                         .bits = feature_bits(c.features)});
  }

  // Steps have no slope.
  Result<View> backward(const LayerConfig&, LayerContext& v, View, View*) const override {
    const View x = v.saved("x"), gx = v.emit.like(x, x.cols);
    v.emit.fill(gx, 0);
    return gx;
  }
};

}  // namespace

void register_trees(LayerList& layers) {
  static const Trees trees;
  layers.push_back(&trees);
}

}  // namespace loom
