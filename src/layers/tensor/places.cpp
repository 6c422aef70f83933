// Values in other places: dimensions in another order, and any selection, repetition or padding of
// a row.
#include <algorithm>

#include "base/message.h"
#include "layers/tensor/layers.h"

namespace loom {
namespace {

struct PermuteConfig : LayerConfig {
  std::vector<std::int64_t> dims, order;
  template <class V>
  void fields(V& v) {
    v.about("Dimensions in another order: `numpy.transpose`.");
    v("dims", dims, {.doc = "dimensions of the row; none: those it comes with", .min = 1});
    v("order", order,
      {.doc = "which of them becomes the first, the second, ...", .min = 0, .required = true});
  }
};

class Permute : public LayerWith<PermuteConfig> {
 public:
  std::string_view name() const override { return "permute"; }
  Result<LayerPlan> plan(const LayerConfig& config, const Shape& in, const Shape*,
                         ChildPlanner&) const override {
    LOOM_ASSIGN(const Dims dims, own_dims(of(config), in));
    LOOM_ASSIGN(const auto order, order_of(of(config), dims.size()));
    LOOM_TRY(transposed(dims, order).status());
    Dims out;
    for (const std::size_t d : order) out.push_back(dims[d]);
    LOOM_ASSIGN(Shape shape, shape_of(out));
    return LayerPlan{std::move(shape), {}};
  }
  Result<View> forward(const LayerConfig& config, LayerContext& v, View x, View) const override {
    LOOM_ASSIGN(const Dims dims, own_dims(of(config), v.in()));
    LOOM_ASSIGN(const auto order, order_of(of(config), dims.size()));
    LOOM_ASSIGN(const Transposed t, transposed(dims, order));
    return t.same ? x : v.emit.transpose(x, t.sizes, t.order, x.cols);
  }
  Result<View> backward(const LayerConfig& config, LayerContext& v, View gy, View*) const override {
    LOOM_ASSIGN(const Dims dims, own_dims(of(config), v.in()));
    LOOM_ASSIGN(const auto order, order_of(of(config), dims.size()));
    Dims sizes;
    std::vector<std::size_t> back(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
      sizes.push_back(dims[order[i]]);
      back[order[i]] = i;
    }
    LOOM_ASSIGN(const Transposed t, transposed(sizes, back));
    return t.same ? gy : v.emit.transpose(gy, t.sizes, t.order, gy.cols);
  }

 private:
  static Result<Dims> own_dims(const PermuteConfig& c, const Shape& in) {
    LOOM_TRY(expect_values(in));
    const Dims& dims = c.dims.empty() ? in.dims : c.dims;
    std::int64_t left = in.width;
    for (const std::int64_t d : dims) {
      if (d < 1 || left % d != 0)
        return Status(Code::invalid_argument,
                      message("\"dims\" ", text_of(dims), " do not arrange ", in.to_string()));
      left /= d;
    }
    if (left != 1)
      return Status(Code::invalid_argument,
                    message("\"dims\" ", text_of(dims), " do not arrange ", in.to_string()));
    return dims;
  }
  static Result<std::vector<std::size_t>> order_of(const PermuteConfig& c, std::size_t rank) {
    std::vector<std::size_t> order;
    std::vector<bool> seen(rank, false);
    for (const std::int64_t d : c.order) {
      if (d < 0 || static_cast<std::size_t>(d) >= rank || seen[static_cast<std::size_t>(d)]) break;
      seen[static_cast<std::size_t>(d)] = true;
      order.push_back(static_cast<std::size_t>(d));
    }
    if (order.size() != rank || c.order.size() != rank)
      return Status(Code::invalid_argument, message("\"order\" must name each of the ", rank,
                                                    " dimensions once, counted from 0"));
    return order;
  }
};

// Value j of the result is value places[j] of the row, or `fill`.
struct IndexSelectConfig : LayerConfig {
  std::vector<std::int64_t> dims, runs;
  double fill = 0;
  template <class V>
  void fields(V& v) {
    v.about("Values by their places in the row.");
    v("dims", dims, {.doc = "dimensions of the result; none: one", .min = 1});
    v("runs", runs,
      {.doc = "places, as runs of first, step, count; first -1 with step 0: `fill`",
       .required = true});
    v("fill", fill, {.doc = "what stands where no place is"});
  }
};

class IndexSelect : public LayerWith<IndexSelectConfig> {
 public:
  std::string_view name() const override { return "index_select"; }
  Result<LayerPlan> plan(const LayerConfig& config, const Shape& in, const Shape*,
                         ChildPlanner&) const override {
    const IndexSelectConfig& c = of(config);
    LOOM_TRY(expect_values(in));
    const auto list = GatherIndices::list(runs(c), in.width);
    if (!list.ok())
      return Status(Code::invalid_argument, message("\"runs\": ", list.status().message()));
    Dims dims = c.dims;
    if (dims.empty()) dims.push_back(static_cast<std::int64_t>(list->size()));
    std::int64_t count = 1;
    for (const std::int64_t d : dims) {
      if (d < 1 || d > INT32_MAX / count)
        return Status(Code::invalid_argument,
                      "\"dims\": each must be at least 1, their product at most 2^31-1");
      count *= d;
    }
    if (count != static_cast<std::int64_t>(list->size()))
      return Status(Code::invalid_argument, message("\"dims\" ", text_of(dims), " do not arrange ",
                                                    list->size(), " places"));
    LOOM_ASSIGN(Shape shape, shape_of(dims));
    return LayerPlan{std::move(shape), {}};
  }
  Result<View> forward(const LayerConfig& config, LayerContext& v, View x, View) const override {
    const IndexSelectConfig& c = of(config);
    if (one_slice(c)) return ProgramBuilder::slice(x, c.runs[0], c.runs[2]);
    LOOM_ASSIGN(const auto list, GatherIndices::list(runs(c), x.cols));
    return v.emit.index_select(x, runs(c), static_cast<std::int64_t>(list.size()), c.fill);
  }
  Result<View> backward(const LayerConfig& config, LayerContext& v, View gy, View*) const override {
    return v.emit.index_select_back(gy, runs(of(config)), v.in().width);
  }

 private:
  static std::vector<double> runs(const IndexSelectConfig& c) {
    return {c.runs.begin(), c.runs.end()};
  }
  // Neighbors in their order are a view of the row.
  static bool one_slice(const IndexSelectConfig& c) {
    return c.runs.size() == 3 && c.runs[0] >= 0 && (c.runs[1] == 1 || c.runs[2] == 1);
  }
};

}  // namespace

void register_places(LayerList& layers) {
  static const Permute permute;
  static const IndexSelect index_select;
  layers.insert(layers.end(), {&permute, &index_select});
}

}  // namespace loom
