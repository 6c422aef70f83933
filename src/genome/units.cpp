#include "genome/units.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace loom::genome {
namespace {

// Layers without an order of their own: unit u of what they give is made of unit u of what they
// get, in blocks of equal size.
bool keeps_units(std::string_view type) {
  constexpr std::string_view kTypes[] = {"activation", "dropout",       "unary",      "flatten",
                                         "layer_norm", "rms_norm",      "batch_norm", "softmax",
                                         "max_pool",   "instance_norm", "standardize"};
  return std::find(std::begin(kTypes), std::end(kTypes), type) != std::end(kTypes);
}

// Matrix first, then at most a bias; of convolutions, without groups.
bool has_units(const Layer& layer) {
  const std::string_view type = layer.node->type->name();
  const Param& first = *layer.params[0];
  if (type == "embedding") return layer.params.size() == 1;
  if (type != "dense" && !(type.starts_with("conv") && first.spec.adapts)) return false;
  return layer.params.size() == 1 ||
         (layer.params.size() == 2 && layer.params[1]->spec.cols == first.spec.rows);
}

// Walks the grid for the layer whose units arrive at a layer.
class Sources {
 public:
  Sources(const Network& network, std::vector<Layer>& layers)
      : network_(network),
        arrivals_(network.arrivals()),
        given_(network.size(), -1),
        list_(layers) {
    for (std::size_t i = 0; i < layers.size(); ++i) layers_[layers[i].path] = i;
  }

  void find() {
    const auto order = network_.order();
    if (order.ok()) {
      for (const std::size_t cell : *order) visit(cell);
    } else {  // a step mesh: what comes later in the grid has not been seen
      for (std::size_t cell = 0; cell < network_.size(); ++cell) visit(cell);
    }
  }

 private:
  void visit(std::size_t cell) {
    const auto& arriving = arrivals_[cell];
    const bool one = arriving.size() == 1 && arriving[0] >= 0;
    const std::int64_t source = one ? given_[static_cast<std::size_t>(arriving[0])] : -1;
    const bool own = network_.executed(cell) == cell;
    if (network_.passes(cell)) given_[cell] = source;
    else if (own) given_[cell] = through(network_.node(cell), network_.path(cell), source);
  }

  // What a node gives for what arrives; sets the sources of the layers in it.
  std::int64_t through(const Node& node, const std::string& path, std::int64_t source) {
    if (!node.type || !node.enabled) return node.links.empty() ? source : -1;
    const std::string_view type = node.type->name();
    if (type == "sequential") {
      for (std::size_t i = 0; i < node.children.size(); ++i)
        source = through(node.children[i], path + "/" + std::to_string(i), source);
      return source;
    }
    // Branches of other containers see the same input; what they give together is not followed.
    for (std::size_t i = 0; i < node.children.size(); ++i)
      through(node.children[i], path + "/" + std::to_string(i), type == "residual" ? source : -1);
    const auto found = layers_.find(path);
    if (found != layers_.end()) {
      Layer& layer = list_[found->second];
      layer.source = layer.by_columns ? -1 : source;
      if (layer.permutable) return static_cast<std::int64_t>(found->second);
    }
    return keeps_units(type) && node.children.empty() ? source : -1;
  }

  const Network& network_;
  std::vector<std::vector<std::int64_t>> arrivals_;
  std::vector<std::int64_t> given_;  // by cell: the layer whose units it returns; -1: none
  std::vector<Layer>& list_;
  std::map<std::string, std::size_t> layers_;
};

// Vectors of one length, as normalizations have: they follow the units of the source.
bool is_vectors(const Layer& layer) {
  const std::int64_t length = layer.params[0]->spec.cols;
  return std::all_of(layer.params.begin(), layer.params.end(), [&](const Param* param) {
    return param->spec.rows == 1 && param->spec.cols == length;
  });
}

void append_columns(Units& units, const std::vector<float>& matrix, std::int64_t cols) {
  for (std::int64_t u = 0; u < units.units; ++u)
    for (std::int64_t r = 0; r < units.features; ++r)
      units.values.push_back(matrix[static_cast<std::size_t>(r * cols + u)]);
}

}  // namespace

std::vector<Layer> weighted_layers(Network& network) {
  std::vector<Layer> layers;
  for (const Network::NamedParam& named : network.params()) {
    if (named.tied || named.borrowed()) continue;
    if (layers.empty() || layers.back().path != named.path) {
      const std::string cell = named.path.substr(0, named.path.find('/'));
      Layer layer;
      layer.path = named.path;
      layer.node = named.node;
      std::int64_t* part[] = {&layer.at.z, &layer.at.y, &layer.at.x, &layer.at.l};
      std::size_t at = 0;
      for (const char c : cell) {
        if (c == '.') ++at;
        else *part[at] = *part[at] * 10 + (c - '0');
      }
      layers.push_back(std::move(layer));
    }
    layers.back().params.push_back(named.param);
    layers.back().values += named.param->store->rows() * named.param->store->cols();
  }
  for (Layer& layer : layers) {
    layer.permutable = has_units(layer);
    layer.by_columns = layer.permutable && layer.node->type->name() == "embedding";
    const ParamSpec& spec = layer.params[0]->spec;
    layer.units = !layer.permutable ? 0 : layer.by_columns ? spec.cols : spec.rows;
  }
  Sources(network, layers).find();
  return layers;
}

Result<std::vector<float>> values_of(const Layer& layer, const Param& param,
                                     const WeightFormat* as) {
  WeightStore& store = *param.store;
  std::vector<float> values(static_cast<std::size_t>(store.rows() * store.cols()));
  LOOM_TRY(store.values(std::span<float>(values)));
  const auto wrong =
      std::find_if_not(values.begin(), values.end(), [](float v) { return std::isfinite(v); });
  if (wrong != values.end())
    return Status(Code::invalid_argument,
                  layer.path + ":" + param.spec.role + ": value " +
                      std::to_string(wrong - values.begin()) +
                      " is not a finite f32: networks with NaN or infinities are not compared");
  if (as && param.spec.quantized) {
    LOOM_ASSIGN(WeightStore encoded,
                WeightStore::from_f32(store.rows(), store.cols(), std::move(values)));
    LOOM_TRY(encoded.morph(*as));
    values.resize(static_cast<std::size_t>(store.rows() * store.cols()));
    LOOM_TRY(encoded.values(std::span<float>(values)));
  }
  if (param.spec.init == Init::ones)
    for (float& v : values) v -= 1.0f;
  return values;
}

Result<Units> units_of(const Layer& layer, const WeightFormat* as) {
  LOOM_ASSIGN(std::vector<float> first, values_of(layer, *layer.params[0], as));
  Units units;
  const WeightStore& store = *layer.params[0]->store;
  if (layer.by_columns) {
    units.units = store.cols();
    units.features = store.rows();
    units.values.reserve(first.size());
    append_columns(units, first, store.cols());
    return units;
  }
  if (!layer.permutable) {  // one unit: everything in its stored order
    units.values = std::move(first);
    for (std::size_t i = 1; i < layer.params.size(); ++i) {
      LOOM_ASSIGN(const auto more, values_of(layer, *layer.params[i], as));
      units.values.insert(units.values.end(), more.begin(), more.end());
    }
    units.units = 1;
    units.features = static_cast<std::int64_t>(units.values.size());
    if (is_vectors(layer)) units.inputs = store.cols();
    return units;
  }
  units.units = store.rows();
  units.inputs = store.cols();
  units.features = store.cols() + (layer.params.size() > 1 ? 1 : 0);
  if (layer.params.size() == 1) {
    units.values = std::move(first);
    return units;
  }
  LOOM_ASSIGN(const std::vector<float> bias, values_of(layer, *layer.params[1], as));
  units.values.reserve(static_cast<std::size_t>(units.units * units.features));
  for (std::int64_t u = 0; u < units.units; ++u) {
    const auto row = first.begin() + u * units.inputs;
    units.values.insert(units.values.end(), row, row + units.inputs);
    units.values.push_back(bias[static_cast<std::size_t>(u)]);
  }
  return units;
}

WeightFormat format_of(const Layer& layer) {
  for (const Param* param : layer.params)
    if (param->spec.quantized) return param->store->format();
  return {};
}

}  // namespace loom::genome
