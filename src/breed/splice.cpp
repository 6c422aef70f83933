#include "breed/splice.h"

#include <algorithm>
#include <set>

#include "base/fields/field_reader.h"
#include "base/math/exact_math.h"
#include "base/math/fp_env.h"
#include "base/random.h"
#include "breed/align.h"
#include "breed/weights.h"
#include "genome/dna.h"

namespace loom::breed {
namespace {

// Of each layer of a its partner in b, or -1.
using Partners = std::vector<std::int64_t>;

std::int64_t index_of(const std::vector<LayerValues>& layers, const std::string& path) {
  const auto at = std::ranges::find(layers, path, &LayerValues::path);
  return at == layers.end() ? -1 : at - layers.begin();
}

Result<Partners> partners(Network& a, Network& b, const std::vector<LayerValues>& of_a,
                          const std::vector<LayerValues>& of_b, const SpliceOptions& options) {
  Partners found(of_a.size(), -1);
  std::vector<char> taken(of_b.size(), 0);
  const auto pair = [&](const std::string& from, const std::string& to) {
    const std::int64_t i = index_of(of_a, from), j = index_of(of_b, to);
    if (i < 0 || j < 0 || found[static_cast<std::size_t>(i)] >= 0) return;
    if (taken[static_cast<std::size_t>(j)]) return;
    found[static_cast<std::size_t>(i)] = j;
    taken[static_cast<std::size_t>(j)] = 1;
  };
  if (options.match == "dna") {
    DnaOptions dna;
    dna.shift = options.min_score;
    dna.values = 1;
    dna.seed = static_cast<std::uint64_t>(options.seed);
    LOOM_ASSIGN(const DnaComparison compared, compare(a, b, dna));
    for (const DnaPair& one : compared.shifts) pair(one.from, one.to);
  }
  for (const LayerValues& layer : of_a) pair(layer.path, layer.path);
  return found;
}

std::string why_not(const LayerValues& a, const LayerValues& b) {
  if (a.type != b.type) return "b has " + b.type + " there";
  if (a.params.size() != b.params.size()) return "b has other parameters there";
  for (std::size_t p = 0; p < a.params.size(); ++p) {
    const ParamSpec &x = a.params[p]->spec, &y = b.params[p]->spec;
    if (x.role != y.role) return "b has other parameters there";
    if (x.rows != y.rows || x.cols != y.cols)
      return x.role + " of b is " + std::to_string(y.rows) + " x " + std::to_string(y.cols) +
             ", that of a " + std::to_string(x.rows) + " x " + std::to_string(x.cols);
  }
  return {};
}

double cosine(const LayerValues& a, const LayerValues& b) {
  double ab = 0, aa = 0, bb = 0;
  for (std::size_t p = 0; p < a.values.size(); ++p)
    for (std::size_t k = 0; k < a.values[p].size(); ++k) {
      ab += a.values[p][k] * b.values[p][k];
      aa += a.values[p][k] * a.values[p][k];
      bb += b.values[p][k] * b.values[p][k];
    }
  if (aa == 0 && bb == 0) return 1;
  return aa > 0 && bb > 0 ? ab / (exact::sqrt(aa) * exact::sqrt(bb)) : 0;
}

// Numbers of one layer, in order.
struct Numbers {
  RandomStream random;
  std::uint64_t at = 0;
  double uniform() { return static_cast<double>(random.uniform(at++)); }
  std::int64_t below(std::int64_t bound) {
    return random.below(at++, static_cast<std::uint32_t>(bound));
  }
};

// Units of a parameter, rows or the values of a vector.
std::int64_t units_of(const ParamSpec& spec) { return spec.rows > 1 ? spec.rows : spec.cols; }

// Units that all parameters of a layer have: a cut between two of them cuts none of the others.
std::int64_t units_of(const LayerValues& layer) {
  std::int64_t units = 0;
  for (const Param* param : layer.params)
    if (units == 0 || units_of(param->spec) < units) units = units_of(param->spec);
  const bool common = std::ranges::all_of(
      layer.params, [&](const Param* param) { return units_of(param->spec) % units == 0; });
  return common ? units : 1;
}

class Crossing {
 public:
  Crossing(const SpliceOptions& options, double alpha, std::uint64_t layer)
      : options_(options),
        alpha_(alpha),
        numbers_{RandomStream(static_cast<std::uint64_t>(options.seed), layer)} {}

  // Makes `a` the child's; returns the share of b.
  double cross(LayerValues& a, const LayerValues& b) {
    if (options_.method == "blend") return blend(a, b);
    if (options_.method == "layer_wise") {
      if (numbers_.uniform() >= alpha_) return 0;
      a.values = b.values;
      return 1;
    }
    const std::int64_t units = units_of(a);
    std::vector<char> from_b(static_cast<std::size_t>(units), 0);
    if (options_.method == "point") {
      const std::int64_t cut = numbers_.below(units + 1);
      std::fill(from_b.begin() + cut, from_b.end(), 1);
    } else if (options_.per == "weight") {
      return by_weight(a, b);
    } else {
      for (char& one : from_b) one = numbers_.uniform() < alpha_;
    }
    return take(a, b, from_b);
  }

 private:
  double blend(LayerValues& a, const LayerValues& b) const {
    for (std::size_t p = 0; p < a.values.size(); ++p)
      for (std::size_t k = 0; k < a.values[p].size(); ++k) {
        double& to = a.values[p][k];
        const double other = b.values[p][k];
        if (to != other) to = (1 - alpha_) * to + alpha_ * other;
      }
    return alpha_;
  }
  double by_weight(LayerValues& a, const LayerValues& b) {
    std::int64_t taken = 0, all = 0;
    for (std::size_t p = 0; p < a.values.size(); ++p)
      for (std::size_t k = 0; k < a.values[p].size(); ++k, ++all)
        if (numbers_.uniform() < alpha_) {
          a.values[p][k] = b.values[p][k];
          ++taken;
        }
    return static_cast<double>(taken) / static_cast<double>(all);
  }
  static double take(LayerValues& a, const LayerValues& b, const std::vector<char>& from_b) {
    std::size_t taken = 0, all = 0;
    for (std::size_t p = 0; p < a.values.size(); ++p) {
      const std::size_t block = a.values[p].size() / from_b.size();
      all += a.values[p].size();
      for (std::size_t u = 0; u < from_b.size(); ++u) {
        if (!from_b[u]) continue;
        std::copy_n(b.values[p].begin() + static_cast<std::ptrdiff_t>(u * block), block,
                    a.values[p].begin() + static_cast<std::ptrdiff_t>(u * block));
        taken += block;
      }
    }
    return static_cast<double>(taken) / static_cast<double>(all);
  }

  const SpliceOptions& options_;
  const double alpha_;
  Numbers numbers_;
};

double alpha_of(const SpliceOptions& options) {
  if (options.alpha) return *options.alpha;
  if (!options.fitness_a) return 0.5;
  const double a = *options.fitness_a / 2, b = *options.fitness_b / 2;  // no sum overflows
  return b / (a + b);
}

Status write(const LayerValues& layer) {
  for (std::size_t p = 0; p < layer.params.size(); ++p)
    set_master(*layer.params[p]->store, layer.values[p]);
  return {};
}

}  // namespace

Result<SpliceOptions> splice_options(const Json& json) {
  SpliceOptions options;
  FieldReader reader(json);
  fields(reader, options);
  LOOM_TRY(reader.finish("a splice has"));
  const auto invalid = [](const char* text) { return Status(Code::invalid_argument, text); };
  if (options.fitness_a.has_value() != options.fitness_b.has_value())
    return invalid("fitness_a and fitness_b come together");
  if (options.alpha && options.fitness_a)
    return invalid("alpha: fitness_a and fitness_b say what it is");
  if (options.fitness_a && !(*options.fitness_a + *options.fitness_b > 0))
    return invalid("fitness_a and fitness_b: one of them must be above 0, or give alpha");
  return options;
}

Result<Network> splice(Network& a, Network& b, const SpliceOptions& options, SpliceReport* report) {
  const FpEnvGuard guard;
  LOOM_ASSIGN(Network child, copy_of(a));
  LOOM_ASSIGN(std::vector<LayerValues> of_a, layers_of(child));
  LOOM_ASSIGN(std::vector<LayerValues> of_b, layers_of(b));
  LOOM_ASSIGN(const Partners partner, partners(a, b, of_a, of_b, options));
  SpliceReport done;
  done.alpha = alpha_of(options);
  std::vector<std::int64_t> moved(of_b.size(), 0), back(of_b.size(), -1);
  for (std::size_t i = 0; i < partner.size(); ++i)
    if (partner[i] >= 0) back[static_cast<std::size_t>(partner[i])] = static_cast<std::int64_t>(i);
  if (options.align) done.alignment = align(b, of_a, of_b, back, moved);
  for (std::size_t i = 0; i < of_a.size(); ++i) {
    SplicedLayer layer{of_a[i].path, {}, "kept", "b has no such layer", {}, 0, 0};
    if (partner[i] >= 0) {
      const auto j = static_cast<std::size_t>(partner[i]);
      layer.b = of_b[j].path;
      layer.reason = why_not(of_a[i], of_b[j]);
      if (layer.reason.empty()) {
        layer.action = options.method;
        layer.similarity = cosine(of_a[i], of_b[j]);
        layer.moved = moved[j];
        layer.share = Crossing(options, done.alpha, i).cross(of_a[i], of_b[j]);
        LOOM_TRY(write(of_a[i]));
        ++done.crossed;
      }
    }
    done.layers.push_back(std::move(layer));
  }
  if (report) *report = std::move(done);
  return child;
}

Json to_json(const SpliceReport& report) {
  Json json = Json::object(), layers = Json::array();
  json.set("alpha", report.alpha);
  json.set("crossed", report.crossed);
  if (!report.alignment.empty()) json.set("not_aligned", report.alignment);
  for (const SplicedLayer& layer : report.layers) {
    Json one = Json::object();
    one.set("a", layer.a);
    one.set("b", layer.b.empty() ? Json() : Json(layer.b));
    one.set("action", layer.action);
    if (!layer.reason.empty()) one.set("reason", layer.reason);
    one.set("similarity", layer.similarity ? Json(*layer.similarity) : Json());
    one.set("share", layer.share);
    one.set("moved_units", layer.moved);
    layers.push(std::move(one));
  }
  json.set("layers", std::move(layers));
  return json;
}

}  // namespace loom::breed
