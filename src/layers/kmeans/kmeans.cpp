// Differentiable k-means: rows belong to learned centers with softmax(-|x - c|^2 / (2
// temperature^2)), the posterior of a mixture of equal Gaussians.
#include "layers/layer.h"

namespace loom {
namespace {

struct KMeansConfig : LayerConfig {
  std::int64_t clusters = 0;
  double temperature = 1;
  std::string give = "probabilities";
  template <class V>
  void fields(V& v) {
    v.about(
        "Soft membership of learned centers: softmax(-distance^2 / (2 temperature^2)). A row "
        "too far from all centers for squares in its type belongs to all alike. Parameter: "
        "`centers` [clusters, in].");
    v("clusters", clusters,
      {.doc = "number of centers", .min = 1, .max = INT32_MAX, .required = true});
    v("temperature", temperature,
      {.doc = "standard deviation of a cluster", .min = 1e-4, .max = 1e4});
    v("return", give,
      {.doc = "`probabilities` of the clusters, or `features`: the centers' mean "
              "under them",
       .one_of = "probabilities, features"});
  }
  double factor() const { return -1 / (2 * temperature * temperature); }
};

class KMeans : public LayerWith<KMeansConfig> {
 public:
  std::string_view name() const override { return "kmeans"; }

  Works works() const override { return Works::on_last; }
  Result<LayerPlan> plan(const LayerConfig& config, const Shape& in, const Shape*,
                         ChildPlanner&) const override {
    const KMeansConfig& c = of(config);
    LOOM_TRY(expect_values(in));
    return LayerPlan{c.give == "features" ? in : Shape{c.clusters},
                     {{"centers", c.clusters, in.width, Init::normal, 1}}};
  }

  Result<View> forward(const LayerConfig& config, LayerContext& v, View x, View) const override {
    const KMeansConfig& c = of(config);
    const View p =
        v.emit.softmax(v.emit.scale(v.emit.distances(v.weight("centers"), x), c.factor()),
                       SoftmaxKind::softmax, c.clusters, 2);
    v.save("x", x);
    v.save("p", p);
    return c.give == "features" ? v.emit.matmul_t(v.weight("centers"), p) : p;
  }

  Result<View> backward(const LayerConfig& config, LayerContext& v, View gy, View*) const override {
    const KMeansConfig& c = of(config);
    const View x = v.saved("x"), p = v.saved("p"), centers = v.weight("centers");
    View gp = gy;
    if (c.give == "features") {
      const auto gw = v.gradient("centers");
      v.emit.weight_grad(p, gy, gw.to, gw.accumulate);
      gp = v.emit.group_matmul(centers, gy, {}, 1);
    }
    const View g =
        v.emit.scale(v.emit.softmax_back(p, gp, SoftmaxKind::softmax, c.clusters, 2), c.factor());
    const auto gw = v.gradient("centers");
    v.emit.distances_weight(centers, x, g, gw.to, gw.accumulate);
    return v.emit.distances_back(centers, x, g);
  }
};

}  // namespace

void register_kmeans(LayerList& layers) {
  static const KMeans type;
  layers.push_back(&type);
}

}  // namespace loom
