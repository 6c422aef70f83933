// Outputs over many classes: adaptive (Grave et al., arXiv 1609.04309) and a mixture of softmaxes
// (Yang et al., arXiv 1711.03953).
#include "layers/softmax/output.h"

#include "base/message.h"

namespace loom {
namespace {

Status bad(const std::string& what) { return Status(Code::invalid_argument, what); }

struct AdaptiveConfig : LayerConfig {
  std::int64_t out = 0;
  std::vector<std::int64_t> cutoffs;
  double divide = 4;
  bool bias = false, log = false;
  template <class V>
  void fields(V& v) {
    v.about(
        "Many classes, rare ones through narrow projections (arXiv 1609.04309): "
        "`torch.nn.AdaptiveLogSoftmaxWithLoss`. Parameters: `head` [cutoffs[0] + clusters, in], "
        "`tail0_down` [in / divide, in], `tail0_up` [classes, in / divide], ...");
    v("out", out,
      {.doc = "classes, frequent ones first", .min = 1, .max = INT32_MAX / 2, .required = true});
    v("cutoffs", cutoffs,
      {.doc = "classes at which a cluster begins, ascending", .min = 1, .required = true});
    v("divide", divide,
      {.doc = "cluster i sees a projection of the input to width / divide^(i + 1) values",
       .min = 1,
       .max = 1e6});
    v("bias", bias, {.doc = "adds learned numbers in the head"});
    v("log", log, {.doc = "logarithms of the probabilities"});
  }
};

// The head tells the classes before the first cut-off and the clusters apart; each cluster has a
// narrow product of its own.
class Adaptive : public LayerWith<AdaptiveConfig> {
 public:
  std::string_view name() const override { return "adaptive_softmax"; }
  Works works() const override { return Works::on_last; }

  Result<LayerPlan> plan(const LayerConfig& config, const Shape& in, const Shape*,
                         ChildPlanner&) const override {
    const AdaptiveConfig& c = of(config);
    LOOM_TRY(expect_values(in));
    if (c.cutoffs.empty()) return bad("\"cutoffs\" must list at least one class");
    for (std::size_t i = 0; i < c.cutoffs.size(); ++i)
      if (c.cutoffs[i] <= (i == 0 ? 0 : c.cutoffs[i - 1]) || c.cutoffs[i] >= c.out)
        return bad(message("\"cutoffs\" must ascend between 0 and ", c.out));
    LayerPlan plan{{c.out}, {ParamSpec::product("head", head(c), in.width, initial_std(in.width))}};
    if (c.bias) plan.params.push_back({"head_bias", 1, head(c), Init::zeros, 0, false});
    double width = static_cast<double>(in.width);
    for (std::size_t i = 0; i < c.cutoffs.size(); ++i) {
      const auto narrow = static_cast<std::int64_t>(width /= c.divide);
      if (narrow < 1)
        return bad(message("\"divide\" leaves nothing of ", in.width, " values for cluster ", i));
      plan.params.push_back(
          ParamSpec::product(tail(i, "_down"), narrow, in.width, initial_std(in.width)));
      plan.params.push_back(
          ParamSpec::product(tail(i, "_up"), size(c, i), narrow, initial_std(narrow)));
    }
    return plan;
  }

  Result<View> forward(const LayerConfig& config, LayerContext& v, View x, View) const override {
    const AdaptiveConfig& c = of(config);
    const std::int64_t first = c.cutoffs[0];
    const View logits = v.linear("head", x, c.bias ? "head_bias" : "");
    const View shares = v.emit.softmax(logits, kind(c), head(c), 2);
    const View y = v.emit.temp(v.type, v.emit.rows(x), c.out);
    v.emit.copy_to(ProgramBuilder::slice(shares, 0, first), ProgramBuilder::slice(y, 0, first));
    for (std::size_t i = 0; i < c.cutoffs.size(); ++i) {
      const std::int64_t n = size(c, i);
      const View down = v.linear(tail(i, "_down"), x);
      const View own = v.emit.softmax(v.linear(tail(i, "_up"), down), kind(c), n, 2);
      const View both = v.emit.binary(own, cluster(c, shares, i), joined(c), {1, 1, 1, 1, n},
                                      {0, 0, 0, 0, 1}, {0, 0, 0, 0, 0}, v.emit.rows(x));
      v.emit.copy_to(both, ProgramBuilder::slice(y, c.cutoffs[i], n));
      v.save(tail(i, "_down"), down);
      v.save(tail(i, ""), own);
    }
    v.save("x", x);
    v.save("shares", shares);
    return y;
  }

  Result<View> backward(const LayerConfig& config, LayerContext& v, View gy, View*) const override {
    const AdaptiveConfig& c = of(config);
    const std::int64_t first = c.cutoffs[0];
    const View x = v.saved("x"), shares = v.saved("shares");
    const View gshares = v.emit.temp(v.type, v.emit.rows(gy), head(c));
    v.emit.copy_to(ProgramBuilder::slice(gy, 0, first), ProgramBuilder::slice(gshares, 0, first));
    View gx;
    for (std::size_t i = 0; i < c.cutoffs.size(); ++i) {
      const std::int64_t n = size(c, i);
      const View own = v.saved(tail(i, ""));
      const View part = ProgramBuilder::slice(gy, c.cutoffs[i], n);
      const auto [gown, gcluster] =
          v.emit.binary_back(own, cluster(c, shares, i), part, joined(c), {1, 1, 1, 1, n},
                             {0, 0, 0, 0, 1}, {0, 0, 0, 0, 0});
      v.emit.copy_to(v.emit.reduce(gcluster, Reduce::sum, n), cluster(c, gshares, i));
      const View gup = v.emit.softmax_back(own, gown, kind(c), n, 2);
      const View gdown = v.linear_back(tail(i, "_up"), v.saved(tail(i, "_down")), gup);
      const View g = v.linear_back(tail(i, "_down"), x, gdown);
      gx = gx.valid() ? v.emit.add(gx, g) : g;
    }
    const View ghead = v.emit.softmax_back(shares, gshares, kind(c), head(c), 2);
    return v.emit.add(gx, v.linear_back("head", x, ghead, c.bias ? "head_bias" : ""));
  }

 private:
  // A class of a cluster has the product of the cluster's share and its own in it; of logarithms
  // the sum.
  static SoftmaxKind kind(const AdaptiveConfig& c) {
    return c.log ? SoftmaxKind::log_softmax : SoftmaxKind::softmax;
  }
  static Binary joined(const AdaptiveConfig& c) { return c.log ? Binary::add : Binary::mul; }
  static View cluster(const AdaptiveConfig& c, View shares, std::size_t i) {
    return ProgramBuilder::slice(shares, c.cutoffs[0] + static_cast<std::int64_t>(i), 1);
  }
  static std::int64_t head(const AdaptiveConfig& c) {
    return c.cutoffs[0] + static_cast<std::int64_t>(c.cutoffs.size());
  }
  static std::int64_t size(const AdaptiveConfig& c, std::size_t i) {
    return (i + 1 < c.cutoffs.size() ? c.cutoffs[i + 1] : c.out) - c.cutoffs[i];
  }
  static std::string tail(std::size_t i, const char* part) {
    return "tail" + std::to_string(i) + part;
  }
};

struct MixtureConfig : LayerConfig {
  std::int64_t out = 0, mixtures = 0, hidden = 0;
  bool bias = true, log = false;
  template <class V>
  void fields(V& v) {
    v.about(
        "A weighted sum of softmaxes (arXiv 1711.03953): the sum over k of `prior`_k "
        "softmax(`weight` tanh(`latent`_k x)).");
    v("out", out, {.doc = "classes", .min = 1, .max = INT32_MAX, .required = true});
    v("mixtures", mixtures,
      {.doc = "softmaxes that are mixed", .min = 1, .max = INT32_MAX, .required = true});
    v("hidden", hidden, {.doc = "values that each sees; 0: as many as arrive", .min = 0});
    v("bias", bias, {.doc = "adds learned numbers to what each sees, and to the logits"});
    v("log", log, {.doc = "logarithms of the probabilities, of at least 2^-40"});
  }
};

// y = sum over k of prior_k softmax(W tanh(latent_k x)).
class Mixture : public LayerWith<MixtureConfig> {
 public:
  std::string_view name() const override { return "mixture_of_softmaxes"; }
  Works works() const override { return Works::on_last; }

  Result<LayerPlan> plan(const LayerConfig& config, const Shape& in, const Shape*,
                         ChildPlanner&) const override {
    const MixtureConfig& c = of(config);
    LOOM_TRY(expect_values(in));
    const std::int64_t hidden = hidden_of(c, in);
    if (c.mixtures > INT32_MAX / hidden || c.out > INT32_MAX / c.mixtures)
      return bad("the product of \"out\" and \"mixtures\" must be below 2^31");
    LayerPlan plan{
        {c.out},
        {ParamSpec::product("weight", c.out, hidden, initial_std(hidden)),
         ParamSpec::product("latent", c.mixtures * hidden, in.width, initial_std(in.width)),
         ParamSpec::product("prior", c.mixtures, in.width, initial_std(in.width))}};
    if (c.bias) plan.params.push_back({"bias", 1, c.out, Init::zeros, 0, false});
    if (c.bias)
      plan.params.push_back({"latent_bias", 1, c.mixtures * hidden, Init::zeros, 0, false});
    return plan;
  }

  Result<View> forward(const LayerConfig& config, LayerContext& v, View x, View) const override {
    const MixtureConfig& c = of(config);
    const std::int64_t k = c.mixtures, n = c.out;
    const View prior = v.emit.softmax(v.linear("prior", x), SoftmaxKind::softmax, k, 2);
    const View latent = v.linear("latent", x, c.bias ? "latent_bias" : "");
    const View seen =
        v.emit.reshape(v.emit.activation(latent, Activation::tanh), hidden_of(c, v.in()));
    const View each =
        v.emit.softmax(v.linear("weight", seen, c.bias ? "bias" : ""), SoftmaxKind::softmax, n, 2);
    const View all = v.emit.reshape(each, k * n);
    const View weighted = v.emit.binary(all, prior, Binary::mul, {1, 1, 1, k, n}, {0, 0, 0, n, 1},
                                        {0, 0, 0, 1, 0}, v.emit.rows(x));
    const View by_class = v.emit.transpose(weighted, {1, 1, 1, k, n}, {0, 1, 2, 4, 3}, k * n),
               y = v.emit.reduce(by_class, Reduce::sum, k);
    const std::pair<const char*, View> values[] = {
        {"x", x},       {"prior", prior}, {"latent", latent},     {"seen", seen},
        {"each", each}, {"all", all},     {"by_class", by_class}, {"y", y}};
    for (const auto& [name, value] : values) v.save(name, value);
    if (!c.log) return y;
    const View min = v.emit.unary(y, Unary::clip, kMin, 2);
    v.save("least", min);
    return v.emit.unary(min, Unary::log);
  }

  Result<View> backward(const LayerConfig& config, LayerContext& v, View gy, View*) const override {
    const MixtureConfig& c = of(config);
    const std::int64_t k = c.mixtures, n = c.out;
    const View x = v.saved("x"), prior = v.saved("prior");
    if (c.log)
      gy =
          v.emit.unary_back(v.saved("y"), v.emit.unary_back(v.saved("least"), gy, Unary::log, 0, 0),
                            Unary::clip, kMin, 2);
    const View gclass = v.emit.reduce_back(v.saved("by_class"), v.saved("y"), gy, Reduce::sum, k);
    const View gweighted = v.emit.transpose(gclass, {1, 1, 1, n, k}, {0, 1, 2, 4, 3}, k * n);
    const auto [gall, gspread] =
        v.emit.binary_back(v.saved("all"), prior, gweighted, Binary::mul, {1, 1, 1, k, n},
                           {0, 0, 0, n, 1}, {0, 0, 0, 1, 0});
    const View gprior = v.emit.softmax_back(prior, v.emit.reduce(gspread, Reduce::sum, n),
                                            SoftmaxKind::softmax, k, 2);
    const View glogits =
        v.emit.softmax_back(v.saved("each"), v.emit.reshape(gall, n), SoftmaxKind::softmax, n, 2);
    const View gseen =
        v.emit.reshape(v.linear_back("weight", v.saved("seen"), glogits, c.bias ? "bias" : ""),
                       k * hidden_of(c, v.in()));
    const View glatent = v.emit.activation_back(v.saved("latent"), gseen, Activation::tanh);
    const View through = v.linear_back("latent", x, glatent, c.bias ? "latent_bias" : "");
    return v.emit.add(through, v.linear_back("prior", x, gprior));
  }

 private:
  static constexpr double kMin = 0x1p-40;  // what is stored of smaller ones is 0
  static std::int64_t hidden_of(const MixtureConfig& c, const Shape& in) {
    return c.hidden > 0 ? c.hidden : in.width;
  }
};

}  // namespace

void register_outputs(LayerList& layers) {
  static const Adaptive adaptive;
  static const Mixture mixture;
  layers.push_back(&adaptive);
  layers.push_back(&mixture);
}

}  // namespace loom
