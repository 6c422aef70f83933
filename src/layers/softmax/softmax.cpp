// Softmax and its relatives: distributions over the last dimension of a row, or over what the kind
// says.
#include "base/message.h"
#include "layers/softmax/output.h"

namespace loom {
namespace {

Status bad(const std::string& what) { return Status(Code::invalid_argument, what); }
std::int64_t last_dim(const Shape& in) { return in.dims.empty() ? in.width : in.dims.back(); }

struct SoftmaxConfig : LayerConfig {
  std::string kind = "standard";
  bool log = false, hard = false;
  double temperature = 1, alpha = 1.5;
  std::int64_t rows = 0, cols = 0;
  std::vector<std::int64_t> levels, mask;
  template <class V>
  void fields(V& v) {
    v.about("Distributions over the last dimension, or as the kind says.");
    v("kind", kind,
      {.doc = "`standard`; `temperature`: values are divided by it first; `grid`: `rows` x `cols`, "
              "a distribution for each row; `hierarchical`: a tree by `levels`. It takes logits of "
              "all nodes, level after level, and returns for each leaf the product along its path; "
              "`gumbel`: Gumbel noise while training; `masked`: over "
              "the places of `mask`; `sparsemax`; `entmax`",
       .one_of = "standard, grid, hierarchical, temperature, gumbel, masked, "
                 "sparsemax, entmax"});
    v("log", log,
      {.doc = "logarithms of the probabilities",
       .only = {"kind", kind, "standard, temperature, grid"}});
    v("temperature", temperature,
      {.doc = "values are divided by it first", .min = 1e-6, .max = 1e6});
    const When grid{"kind", kind, "grid"};
    v("rows", rows, {.doc = "distributions", .min = 1, .required = true, .only = grid});
    v("cols", cols, {.doc = "values of each", .min = 1, .required = true, .only = grid});
    v("levels", levels,
      {.doc = "children of a node, from the root on",
       .min = 1,
       .required = true,
       .only = {"kind", kind, "hierarchical"}});
    v("mask", mask,
      {.doc = "1 for each place that counts; the others get 0",
       .required = true,
       .only = {"kind", kind, "masked"}});
    v("alpha", alpha,
      {.doc = "1 is softmax, 2 is sparsemax; not between 1 and 1.01",
       .min = 1,
       .max = 8,
       .only = {"kind", kind, "entmax"}});
    v("hard", hard,
      {.doc = "1 at the largest and 0 elsewhere, with the gradient of the soft probabilities "
              "(straight-through estimator)",
       .only = {"kind", kind, "gumbel"}});
  }

  bool is(std::string_view k) const { return kind == k; }
  // What the op makes, and its alpha.
  SoftmaxKind simplex() const {
    if (log) return SoftmaxKind::log_softmax;
    const double a = is("sparsemax") ? 2 : is("entmax") ? alpha : 1;
    return a == 1     ? SoftmaxKind::softmax
           : a == 2   ? SoftmaxKind::sparsemax
           : a == 1.5 ? SoftmaxKind::entmax15
                      : SoftmaxKind::entmax;
  }
  double op_alpha() const {
    return simplex() == SoftmaxKind::entmax15 ? 1.5 : simplex() == SoftmaxKind::entmax ? alpha : 2;
  }
};

// Places that count, and the way back from them, as runs of first, step and count.
struct Mask {
  std::vector<double> unmasked, spread;
  std::int64_t count = 0;

  explicit Mask(const std::vector<std::int64_t>& list) {
    for (std::size_t i = 0; i < list.size(); ++i) {
      const double place = list[i] != 0 ? static_cast<double>(count) : -1;
      spread.insert(spread.end(), {place, 0, 1});
      if (list[i] == 0) continue;
      unmasked.insert(unmasked.end(), {static_cast<double>(i), 0, 1});
      ++count;
    }
  }
};

// A tree whose nodes of a level have as many children each: logits of all nodes, level after level.
// A leaf's probability is the product along its path (Morin and Bengio 2005, with any number of
// children).
struct Tree {
  std::vector<std::int64_t> children, nodes;  // of a level: of a node of the level above, in all
  std::int64_t logits = 0;

  explicit Tree(const std::vector<std::int64_t>& levels) : children(levels) {
    std::int64_t n = 1;
    for (const std::int64_t c : levels) {
      nodes.push_back(n *= c);
      logits += n;
    }
  }
  std::int64_t leaves() const { return nodes.back(); }
  // A level's nodes with what stands above them, once per child.
  Sizes sizes(std::size_t level) const { return {1, 1, 1, nodes[level - 1], children[level]}; }
  static Sizes above() { return {0, 0, 0, 1, 0}; }
  Sizes own(std::size_t level) const { return {0, 0, 0, children[level], 1}; }
};

class Softmax : public LayerWith<SoftmaxConfig> {
 public:
  std::string_view name() const override { return "softmax"; }
  std::string_view row_dependence(const LayerConfig& config, const Shape&) const override {
    return of(config).is("gumbel") ? "draws its noise by a row's place" : "";
  }

  Result<ConfigPtr> by_step(const ConfigPtr& config, const Shape& in,
                            std::int64_t steps) const override {
    const bool whole = of(*config).is("grid") || of(*config).is("hierarchical");
    return whole ? LayerType::by_step(config, in, steps) : config;
  }

  Result<LayerPlan> plan(const LayerConfig& config, const Shape& in, const Shape*,
                         ChildPlanner&) const override {
    const SoftmaxConfig& c = of(config);
    LOOM_TRY(expect_values(in));
    if (c.alpha > 1 && c.alpha < 1.01) return bad("\"alpha\" must be 1, or in 1.01..8");
    if (c.is("grid") && (c.rows > in.width || c.cols > in.width || c.rows * c.cols != in.width))
      return bad(message("\"rows\" x \"cols\" must be the ", in.width, " values that arrive, got ",
                         c.rows, " x ", c.cols));
    if (c.is("masked")) {
      if (static_cast<std::int64_t>(c.mask.size()) != last_dim(in))
        return bad(message("\"mask\" must have ", last_dim(in), " places, got ", c.mask.size()));
      if (Mask(c.mask).count == 0) return bad("\"mask\" leaves nothing");
    }
    if (!c.is("hierarchical")) return LayerPlan{in, {}};
    if (c.levels.empty())
      return bad("\"levels\" must list the children of a node, from the root on");
    std::int64_t nodes = 1;
    for (const std::int64_t n : c.levels) {
      if (n < 1 || n > INT32_MAX / 2 / nodes)
        return bad("\"levels\" must be at least 1, all nodes below 2^30");
      nodes *= n;
    }
    const Tree tree(c.levels);
    if (tree.logits != in.width)
      return bad(message("\"levels\" have ", tree.logits, " nodes, ", in.width, " values arrive"));
    return LayerPlan{{tree.leaves()}, {}};
  }

  Result<View> forward(const LayerConfig& config, LayerContext& v, View x, View) const override {
    const SoftmaxConfig& c = of(config);
    if (c.is("gumbel") && v.learning) x = v.emit.gumbel(x, v.noise("gumbel"));
    if (c.temperature != 1) x = v.emit.scale(x, 1 / c.temperature);
    if (c.is("hierarchical")) return down(c, v, x);
    const std::int64_t width = x.cols, group = group_of(c, v.in());
    const Mask mask(c.is("masked") ? c.mask : std::vector<std::int64_t>{});
    if (c.is("masked"))
      x = v.emit.index_select(v.emit.reshape(x, group), mask.unmasked, mask.count, 0);
    const View y =
        v.emit.softmax(x, c.simplex(), c.is("masked") ? mask.count : group, c.op_alpha());
    v.save("y", y);
    if (c.is("masked")) return v.emit.reshape(v.emit.index_select(y, mask.spread, group, 0), width);
    return c.is("gumbel") && c.hard ? v.emit.softmax(y, SoftmaxKind::hardmax, group, 2) : y;
  }

  Result<View> backward(const LayerConfig& config, LayerContext& v, View gy, View*) const override {
    const SoftmaxConfig& c = of(config);
    View gx;
    if (c.is("hierarchical")) {
      gx = up(c, v, gy);
    } else {
      const std::int64_t width = gy.cols, group = group_of(c, v.in());
      const Mask mask(c.is("masked") ? c.mask : std::vector<std::int64_t>{});
      if (c.is("masked"))
        gy = v.emit.index_select_back(v.emit.reshape(gy, group), mask.spread, mask.count);
      gx = v.emit.softmax_back(v.saved("y"), gy, c.simplex(), c.is("masked") ? mask.count : group,
                               c.op_alpha());
      if (c.is("masked"))
        gx = v.emit.reshape(v.emit.index_select_back(gx, mask.unmasked, group), width);
    }
    return c.temperature != 1 ? v.emit.scale(gx, 1 / c.temperature) : gx;
  }

 private:
  static std::int64_t group_of(const SoftmaxConfig& c, const Shape& in) {
    return c.is("grid") ? c.cols : last_dim(in);
  }

  static std::string numbered(const char* name, std::size_t level) {
    return name + std::to_string(level);
  }
  static View down(const SoftmaxConfig& c, LayerContext& v, View x) {
    const Tree tree(c.levels);
    View path;
    std::int64_t at = 0;
    for (std::size_t l = 0; l < tree.nodes.size(); at += tree.nodes[l++]) {
      const View own = v.emit.softmax(ProgramBuilder::slice(x, at, tree.nodes[l]),
                                      SoftmaxKind::softmax, tree.children[l], 2);
      path = l == 0 ? own
                    : v.emit.binary(path, own, Binary::mul, tree.sizes(l), Tree::above(),
                                    tree.own(l), v.emit.rows(x));
      v.save(numbered("own", l), own);
      v.save(numbered("path", l), path);
    }
    return path;
  }
  static View up(const SoftmaxConfig& c, LayerContext& v, View gpath) {
    const Tree tree(c.levels);
    const View gx = v.emit.temp(v.type, v.emit.rows(gpath), tree.logits);
    std::int64_t end = tree.logits;
    for (std::size_t l = tree.nodes.size(); l-- > 0;) {
      const View own = v.saved(numbered("own", l));
      View gown = gpath;
      if (l > 0) {
        const auto [gabove, g] =
            v.emit.binary_back(v.saved(numbered("path", l - 1)), own, gpath, Binary::mul,
                               tree.sizes(l), Tree::above(), tree.own(l));
        gown = g;
        gpath = v.emit.reduce(gabove, Reduce::sum, tree.children[l]);
      }
      end -= tree.nodes[l];
      v.emit.copy_to(v.emit.softmax_back(own, gown, SoftmaxKind::softmax, tree.children[l], 2),
                     ProgramBuilder::slice(gx, end, tree.nodes[l]));
    }
    return gx;
  }
};

struct LogSoftmaxConfig : LayerConfig {
  template <class V>
  void fields(V& v) {
    v.about("Logarithms of a softmax.");
  }
};

class LogSoftmax : public LayerWith<LogSoftmaxConfig> {
 public:
  std::string_view name() const override { return "log_softmax"; }
  Result<ConfigPtr> by_step(const ConfigPtr& config, const Shape&, std::int64_t) const override {
    return config;
  }
  Result<LayerPlan> plan(const LayerConfig&, const Shape& in, const Shape*,
                         ChildPlanner&) const override {
    LOOM_TRY(expect_values(in));
    return LayerPlan{in, {}};
  }
  Result<View> forward(const LayerConfig&, LayerContext& v, View x, View) const override {
    const View y = v.emit.softmax(x, SoftmaxKind::log_softmax, last_dim(v.in()), 2);
    v.save("y", y);
    return y;
  }
  Result<View> backward(const LayerConfig&, LayerContext& v, View gy, View*) const override {
    return v.emit.softmax_back(v.saved("y"), gy, SoftmaxKind::log_softmax, last_dim(v.in()), 2);
  }
};

}  // namespace

void register_softmax(LayerList& layers) {
  static const Softmax softmax;
  static const LogSoftmax log_softmax;
  layers.push_back(&softmax);
  layers.push_back(&log_softmax);
  register_outputs(layers);
}

}  // namespace loom
