#include "breed/align.h"

#include <algorithm>

#include "breed/weights.h"
#include "genome/assignment.h"
#include "genome/units.h"

namespace loom::breed {
namespace {

constexpr std::size_t kMaxUnits = 2048;  // of an assignment; larger layers stay as they are

// Weightless layers that work on each unit by itself.
bool keeps_units(std::string_view type) {
  return type == "activation" || type == "dropout" || type == "unary" ||
         type.starts_with("max_pool") || type.starts_with("avg_pool");
}

bool is_norm(std::string_view type) {
  return type == "layer_norm" || type == "rms_norm" || type == "batch_norm" ||
         type == "instance_norm" || type == "standardize";
}

bool is_conv(std::string_view type) {
  return type.starts_with("conv") && !type.starts_with("conv_transpose");
}

// Follows units through the network. A layer whose units meet something that does not follow an
// order of its own is pinned.
class Units {
 public:
  Units(const Network& network, const std::vector<LayerValues>& layers)
      : pinned(layers.size(), 0),
        source(layers.size(), -1),
        network_(network),
        layers_(layers),
        arrivals_(network.arrivals()),
        given_(network.size(), -1) {}

  Status follow() {
    LOOM_ASSIGN(const std::vector<std::size_t> cells, network_.order());
    for (const std::size_t cell : cells) {
      const auto& arriving = arrivals_[cell];
      std::int64_t from = -1;
      if (arriving.size() == 1) from = given(arriving[0]);
      else
        for (const std::int64_t one : arriving) pin(given(one));
      const std::size_t run = network_.executed(cell);
      if (network_.passes(cell)) {
        given_[cell] = from;
      } else if (run != cell) {
        pin(from);
        pin_all(network_.path(run));
      } else {
        given_[cell] = through(network_.node(cell), network_.path(cell), from);
      }
    }
    pin(given_.back());
    return {};
  }

  std::vector<char> pinned;
  std::vector<std::int64_t> source;   // of each layer: the layer whose units its columns are; -1
  std::vector<std::size_t> sequence;  // layers in the order of execution

 private:
  std::int64_t given(std::int64_t from) const {
    return from < 0 ? -1 : given_[static_cast<std::size_t>(from)];
  }
  void pin(std::int64_t layer) {
    if (layer >= 0) pinned[static_cast<std::size_t>(layer)] = 1;
  }
  // A cell that runs in several places: nothing in it moves.
  void pin_all(const std::string& path) {
    for (std::size_t i = 0; i < layers_.size(); ++i)
      if (layers_[i].path == path || layers_[i].path.starts_with(path + "/")) {
        pinned[i] = 1;
        pin(source[i]);
      }
  }
  std::int64_t index(const std::string& path) const {
    const auto at = std::ranges::find(layers_, path, &LayerValues::path);
    return at == layers_.end() ? -1 : at - layers_.begin();
  }

  std::int64_t through_sequential(const Node& node, const std::string& path, std::int64_t from) {
    std::int64_t before = -1;
    for (std::size_t i = 0; i < node.children.size(); ++i) {
      const Node& child = node.children[i];
      const std::int64_t arrived = from;
      if (child.type && child.enabled && child.type->name() == "residual") {
        pin(from);
        pin(before);
        from = -1;
      } else {
        from = through(child, path + "/" + std::to_string(i), from);
      }
      before = arrived;
    }
    return from;
  }

  std::int64_t through(const Node& node, const std::string& path, std::int64_t from) {
    if (!node.enabled) return from;
    if (!node.type) {
      pin(from);
      if (!node.links.empty()) pin_all(network_.path(network_.index(node.links[0].cell)));
      return -1;
    }
    const std::string_view type = node.type->name();
    if (type == "sequential") return through_sequential(node, path, from);
    for (std::size_t i = 0; i < node.children.size(); ++i)
      pin(through(node.children[i], path + "/" + std::to_string(i), -1));
    const std::int64_t own = index(path);
    if (own >= 0) return weighted(node, static_cast<std::size_t>(own), from);
    if (node.children.empty() && keeps_units(type)) return from;
    const bool conv = from >= 0 && is_conv(layers_[static_cast<std::size_t>(from)].type);
    if (type == "flatten" && (conv || node.in.dims.size() < 2)) return from;
    pin(from);
    return -1;
  }

  std::int64_t weighted(const Node& node, std::size_t own, std::int64_t from) {
    sequence.push_back(own);
    const LayerValues& layer = layers_[own];
    const Param& first = *layer.params[0];
    const bool whole = layer.params.size() == node.params.size();
    if (is_norm(layer.type) && whole) {
      source[own] = from;
      pinned[own] = 1;  // it has no units of its own
      return from;
    }
    const bool product = (layer.type == "dense" || is_conv(layer.type)) && first.spec.adapts;
    if (!product || !whole || layer.params.size() > 2) {
      pin(from);
      pinned[own] = 1;
      return -1;
    }
    source[own] = from;
    return static_cast<std::int64_t>(own);
  }

  const Network& network_;
  const std::vector<LayerValues>& layers_;
  std::vector<std::vector<std::int64_t>> arrivals_;
  std::vector<std::int64_t> given_;
};

using Order = std::vector<std::int32_t>;  // new unit u was unit order[u]

// Columns in blocks, one for each unit of what arrives.
void permute_columns(std::vector<double>& values, std::int64_t rows, std::int64_t cols,
                     const Order& order) {
  const auto units = static_cast<std::int64_t>(order.size());
  if (cols % units != 0) return;
  const std::int64_t block = cols / units;
  const std::vector<double> old = values;
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t u = 0; u < units; ++u)
      std::copy_n(old.begin() + r * cols + order[static_cast<std::size_t>(u)] * block, block,
                  values.begin() + r * cols + u * block);
}

void permute_rows(LayerValues& layer, const Order& order) {
  for (std::size_t p = 0; p < layer.params.size(); ++p) {
    const ParamSpec& spec = layer.params[p]->spec;
    const std::int64_t width = p == 0 ? spec.cols : 1;
    const std::vector<double> old = layer.values[p];
    for (std::size_t u = 0; u < order.size(); ++u)
      std::copy_n(old.begin() + order[u] * width, width,
                  layer.values[p].begin() + static_cast<std::int64_t>(u) * width);
  }
}

// The unit of b for each of a.
Order assigned(const LayerValues& a, const LayerValues& b) {
  const auto units = static_cast<std::size_t>(a.params[0]->spec.rows),
             width = static_cast<std::size_t>(a.params[0]->spec.cols);
  const bool bias = a.params.size() > 1 && b.params.size() > 1;
  std::vector<double> gain(units * units);
  for (std::size_t i = 0; i < units; ++i)
    for (std::size_t j = 0; j < units; ++j) {
      double sum = bias ? a.values[1][i] * b.values[1][j] : 0.0;
      for (std::size_t k = 0; k < width; ++k)
        sum += a.values[0][i * width + k] * b.values[0][j * width + k];
      gain[i * units + j] = sum;
    }
  return best_assignment(gain, units, units);
}

bool same_size(const LayerValues& a, const LayerValues& b) {
  return a.params[0]->spec.rows == b.params[0]->spec.rows &&
         a.params[0]->spec.cols == b.params[0]->spec.cols && a.type == b.type;
}

}  // namespace

Result<std::vector<LayerValues>> layers_of(Network& network) {
  std::vector<LayerValues> layers;
  for (genome::Layer& one : genome::weighted_layers(network)) {
    LayerValues layer{one.path, std::string(one.node->type->name()), one.node, one.params, {}};
    for (const Param* param : layer.params) {
      LOOM_ASSIGN(std::vector<double> values, master_of(*param->store));
      layer.values.push_back(std::move(values));
    }
    layers.push_back(std::move(layer));
  }
  return layers;
}

std::string align(Network& b, const std::vector<LayerValues>& a, std::vector<LayerValues>& values,
                  const std::vector<std::int64_t>& partner, std::vector<std::int64_t>& moved) {
  if (b.step_mesh) return "units of a step mesh are not followed";
  for (std::size_t i = 0; i < b.size(); ++i)
    if (!b.node(i).tie.empty()) return "units of tied weights are not followed";
  Units units(b, values);
  if (const Status followed = units.follow(); !followed.ok()) return followed.message();
  std::vector<Order> orders(values.size());
  for (const std::size_t j : units.sequence) {
    LayerValues& layer = values[j];
    const std::int64_t from = units.source[j];
    const Order& columns = from < 0 ? Order() : orders[static_cast<std::size_t>(from)];
    if (!columns.empty())
      for (std::size_t p = 0; p < (is_norm(layer.type) ? layer.params.size() : 1); ++p)
        permute_columns(layer.values[p], layer.params[p]->spec.rows, layer.params[p]->spec.cols,
                        columns);
    if (units.pinned[j] || partner[j] < 0) continue;
    const LayerValues& to = a[static_cast<std::size_t>(partner[j])];
    const auto count = static_cast<std::size_t>(layer.params[0]->spec.rows);
    if (count > kMaxUnits || !same_size(to, layer)) continue;
    orders[j] = assigned(to, layer);
    permute_rows(layer, orders[j]);
    for (std::size_t u = 0; u < count; ++u)
      moved[j] += orders[j][u] != static_cast<std::int32_t>(u);
  }
  return {};
}

}  // namespace loom::breed
