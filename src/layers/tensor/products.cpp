// Reductions over any dimensions, and products of matrices that are both values.
#include <algorithm>

#include "base/message.h"
#include "layers/tensor/layers.h"

namespace loom {
namespace {

struct ReduceConfig : LayerConfig {
  Reduce op = Reduce::sum;
  std::vector<std::int64_t> dims, axes;
  bool keepdims = true;
  template <class V>
  void fields(V& v) {
    v.about("A sum, a mean, a maximum, ... over dimensions of the row.");
    v("op", op, {.doc = "the function ([kinds](../../src/ops/graph/kinds.h))", .required = true});
    v("dims", dims, {.doc = "dimensions of the row; none: those it comes with", .min = 1});
    v("axes", axes, {.doc = "which of them are reduced; none: all", .min = 0});
    v("keepdims", keepdims, {.doc = "they stay, with size 1"});
  }
};

class ReduceLayer : public LayerWith<ReduceConfig> {
 public:
  std::string_view name() const override { return "reduce"; }
  Result<LayerPlan> plan(const LayerConfig& config, const Shape& in, const Shape*,
                         ChildPlanner&) const override {
    LOOM_ASSIGN(const Cut cut, cut_of(of(config), in));
    LOOM_ASSIGN(Shape shape, shape_of(cut.out));
    return LayerPlan{std::move(shape), {}};
  }
  Result<View> forward(const LayerConfig& config, LayerContext& v, View x, View) const override {
    LOOM_ASSIGN(const Cut cut, cut_of(of(config), v.in()));
    const View transposed =
        cut.there.same ? x : v.emit.transpose(x, cut.there.sizes, cut.there.order, x.cols);
    const View y = v.emit.reduce(transposed, of(config).op, cut.n);
    v.save("x", transposed);
    v.save("y", y);
    return y;
  }
  Result<View> backward(const LayerConfig& config, LayerContext& v, View gy, View*) const override {
    const Reduce kind = of(config).op;
    if (!differentiable(kind)) return View{};
    LOOM_ASSIGN(const Cut cut, cut_of(of(config), v.in()));
    const View g = v.emit.reduce_back(v.saved("x"), v.saved("y"), gy, kind, cut.n);
    return cut.back.same ? g : v.emit.transpose(g, cut.back.sizes, cut.back.order, g.cols);
  }

 private:
  // The reduced dimensions go behind the others and come back.
  struct Cut {
    Dims out;
    std::int64_t n = 1;
    Transposed there, back;
  };
  static Result<Cut> cut_of(const ReduceConfig& c, const Shape& in) {
    auto bad = [](const std::string& what) { return Status(Code::invalid_argument, what); };
    LOOM_TRY(expect_values(in));
    Dims dims = !c.dims.empty() ? c.dims : !in.dims.empty() ? in.dims : Dims{in.width};
    std::int64_t left = in.width;
    for (const std::int64_t d : dims) {
      if (d < 1 || left % d != 0)
        return bad(message("\"dims\" ", text_of(dims), " do not arrange ", in.to_string()));
      left /= d;
    }
    if (left != 1)
      return bad(message("\"dims\" ", text_of(dims), " do not arrange ", in.to_string()));
    std::vector<bool> gone(dims.size(), c.axes.empty());
    for (const std::int64_t a : c.axes) {
      if (a < 0 || static_cast<std::size_t>(a) >= dims.size() || gone[static_cast<std::size_t>(a)])
        return bad(message("\"axes\": each is one of 0 to ", dims.size() - 1, ", once"));
      gone[static_cast<std::size_t>(a)] = true;
    }
    Cut cut;
    std::vector<std::size_t> order;
    for (std::size_t d = 0; d < dims.size(); ++d)
      if (!gone[d]) order.push_back(d);
    for (std::size_t d = 0; d < dims.size(); ++d) {
      if (gone[d]) {
        order.push_back(d);
        cut.n *= dims[d];
      }
      if (!gone[d]) cut.out.push_back(dims[d]);
      else if (c.keepdims) cut.out.push_back(1);
    }
    Dims sizes;
    std::vector<std::size_t> back(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
      sizes.push_back(dims[order[i]]);
      back[order[i]] = i;
    }
    LOOM_ASSIGN(cut.there, transposed(dims, order));
    LOOM_ASSIGN(cut.back, transposed(sizes, back));
    return cut;
  }
};

// a [..., M, K] times b [..., K, N], NumPy's matmul for two dimensions or more.
struct MatmulConfig : LayerConfig {
  OperandShapes shapes;
  template <class V>
  void fields(V& v) {
    v.about(
        "The product of two operands that arrive side by side, NumPy's matmul for two "
        "dimensions or more.");
    v("shapes", shapes.list,
      {.doc = "of both: [..., M, K] and [..., K, N]; none: two that come as "
              "`operands`",
       .min = 1,
       .written = !shapes.list.empty()});
  }
};

class ValueMatmul : public LayerWith<MatmulConfig> {
 public:
  std::string_view name() const override { return "batched_matmul"; }
  bool takes_operands() const override { return true; }

  Result<LayerPlan> plan(const LayerConfig& config, const Shape& in, const Shape*,
                         ChildPlanner&) const override {
    LOOM_TRY(check_operands(of(config).shapes, in));
    const MatmulConfig c = with_shapes(of(config), in);
    LOOM_TRY(check_shapes(c.shapes, 2, in));
    LOOM_ASSIGN(const Plan p, plan_of(c));
    LOOM_ASSIGN(Shape shape, shape_of(p.out, in.parts));
    return LayerPlan{std::move(shape), {}};
  }
  Result<View> forward(const LayerConfig& config, LayerContext& v, View x, View) const override {
    const MatmulConfig c = with_shapes(of(config), v.in());
    LOOM_ASSIGN(const Plan p, plan_of(c));
    v.save("x", x);
    return v.emit.batched_matmul(part(x, c.shapes, 0), part(x, c.shapes, 1), p.shape);
  }
  // ga = gy b^T and gb = a^T gy for every matrix of the result, then summed over what was spread.
  Result<View> backward(const LayerConfig& config, LayerContext& v, View gy, View*) const override {
    const MatmulConfig c = with_shapes(of(config), v.in());
    LOOM_ASSIGN(const Plan p, plan_of(c));
    const MatmulShape& s = p.shape;
    const View a = part(v.saved("x"), c.shapes, 0), b = part(v.saved("x"), c.shapes, 1);
    const std::int64_t g_outer = s.inner * s.m * s.n, g_inner = s.m * s.n;
    const View ga = v.emit.batched_matmul(gy, b,
                                          {s.outer,
                                           s.inner,
                                           s.m,
                                           s.k,
                                           s.n,
                                           {g_outer, g_inner, s.n, 1},
                                           {s.b[0], s.b[1], s.b[3], s.b[2]}});
    const View gb = v.emit.batched_matmul(a, gy,
                                          {s.outer,
                                           s.inner,
                                           s.k,
                                           s.n,
                                           s.m,
                                           {s.a[0], s.a[1], s.a[3], s.a[2]},
                                           {g_outer, g_inner, s.n, 1}});
    Dims a_full = p.out, b_full = p.out;
    a_full.back() = s.k;
    b_full[b_full.size() - 2] = s.k;
    LOOM_ASSIGN(const View a_sum, sum_spread(v.emit, ga, a_full, c.shapes.list[0]));
    LOOM_ASSIGN(const View b_sum, sum_spread(v.emit, gb, b_full, c.shapes.list[1]));
    return joined(v.emit, {a_sum, b_sum});
  }

 private:
  struct Plan {
    Dims out;
    MatmulShape shape;
  };
  static Result<Plan> plan_of(const MatmulConfig& c) {
    const Dims &a = c.shapes.list[0], &b = c.shapes.list[1];
    if (a.size() < 2 || b.size() < 2 || a.back() != b[b.size() - 2])
      return Status(Code::invalid_argument,
                    message("cannot multiply ", text_of(a), " by ", text_of(b)));
    const Dims a_outer(a.begin(), a.end() - 2), b_outer(b.begin(), b.end() - 2);
    LOOM_ASSIGN(Dims outer, broadcast(a_outer, b_outer));
    LOOM_ASSIGN(const Spread s, spread(outer, {a_outer, b_outer}));
    if (s.sizes[0] * s.sizes[1] * s.sizes[2] != 1)
      return Status(Code::unsupported, message("multiplying ", text_of(a), " by ", text_of(b),
                                               " takes more than two loops over matrices"));
    Plan p;
    p.shape = {s.sizes[3], s.sizes[4], a[a.size() - 2], b.back(), a.back(), {}, {}};
    const std::int64_t a_size = p.shape.m * p.shape.k, b_size = p.shape.k * p.shape.n;
    p.shape.a = {s.steps[0][3] * a_size, s.steps[0][4] * a_size, p.shape.k, 1};
    p.shape.b = {s.steps[1][3] * b_size, s.steps[1][4] * b_size, p.shape.n, 1};
    p.out = std::move(outer);
    p.out.push_back(p.shape.m);
    p.out.push_back(p.shape.n);
    return p;
  }
};

}  // namespace

void register_products(LayerList& layers) {
  static const ReduceLayer reduce;
  static const ValueMatmul matmul;
  layers.insert(layers.end(), {&reduce, &matmul});
}

void register_tensor(LayerList& layers) {
  register_elementwise(layers);
  register_places(layers);
  register_products(layers);
}

}  // namespace loom
