#include "breed/weights.h"

#include <algorithm>

#include "base/files/bytes.h"
#include "base/files/sha256.h"
#include "base/math/exact_math.h"

namespace loom::breed {
namespace {

// Of a matrix of another size: its blocks of rows or columns, as gates have them side by side.
std::int64_t blocks_of(const Node& node, const ParamSpec& spec) {
  const std::string_view type = node.type->name();
  const std::int64_t gates = type == "lstm" ? 4 : type == "gru" ? 3 : 1;
  const std::int64_t length = spec.rows > 1 ? spec.rows : spec.cols;
  return length % gates == 0 ? gates : 1;
}

struct Copied {
  const std::vector<double>& from;
  std::int64_t from_rows, from_cols;
  std::vector<double>& to;
  std::int64_t to_rows, to_cols;
};

// What both have, block by block; to the right of it zeros, below it `to` stays.
void copy_overlap(const Copied& c, std::int64_t blocks, bool vector) {
  const auto at = [](std::int64_t r, std::int64_t cols, std::int64_t col) {
    return static_cast<std::size_t>(r * cols + col);
  };
  const std::int64_t from_units = (vector ? c.from_cols : c.from_rows) / blocks,
                     to_units = (vector ? c.to_cols : c.to_rows) / blocks,
                     units = std::min(from_units, to_units);
  for (std::int64_t b = 0; b < blocks; ++b)
    for (std::int64_t u = 0; u < units; ++u) {
      const std::int64_t f = b * from_units + u, t = b * to_units + u;
      if (vector) {
        c.to[at(0, c.to_cols, t)] = c.from[at(0, c.from_cols, f)];
        continue;
      }
      for (std::int64_t k = 0; k < c.to_cols; ++k)
        c.to[at(t, c.to_cols, k)] = k < c.from_cols ? c.from[at(f, c.from_cols, k)] : 0;
    }
}

Status carry_param(Param& to, const Node& node, const Param& from) {
  WeightStore &a = *to.store, &b = *from.store;
  const WeightFormat format = a.format();
  if (a.rows() == b.rows() && a.cols() == b.cols()) {
    a = b;
    if (!a.has_master()) LOOM_TRY(a.morph({}));
    return a.morph(format);
  }
  LOOM_ASSIGN(const std::vector<double> old, master_of(b));
  LOOM_ASSIGN(std::vector<double> values, master_of(a));
  const bool vector = a.rows() == 1 && b.rows() == 1;
  std::int64_t blocks = blocks_of(node, to.spec);
  if (blocks_of(node, from.spec) != blocks) blocks = 1;
  copy_overlap({old, b.rows(), b.cols(), values, a.rows(), a.cols()}, blocks, vector);
  set_master(a, values);
  return {};
}

// A square matrix, or a convolution's window with a 1 in its middle.
void set_identity(WeightStore& store) {
  const std::int64_t rows = store.rows(), cols = store.cols();
  std::vector<double> values(static_cast<std::size_t>(rows * cols), 0.0);
  const std::int64_t taps = cols / rows;
  for (std::int64_t r = 0; r < rows && taps > 0; ++r)
    values[static_cast<std::size_t>(r * cols + r * taps + taps / 2)] = 1;
  set_master(store, values);
}

void set_init(Param& param, const std::string& init) {
  constexpr std::string_view kLast[] = {"weight", "down", "o"};
  const bool matrix =
      std::find(std::begin(kLast), std::end(kLast), param.spec.role) != std::end(kLast);
  if (!matrix) return;
  if (init == "identity") set_identity(*param.store);
  else if (init == "zero")
    set_master(*param.store,
               std::vector<double>(static_cast<std::size_t>(param.spec.rows * param.spec.cols)));
}

}  // namespace

void draw_param(Param& param, const std::string& path, std::uint64_t seed) {
  const std::string name = path + ":" + param.spec.role;
  const auto digest = Sha256::of(std::as_bytes(std::span(name.data(), name.size())));
  const RandomStream random(seed, load_le<std::uint64_t>(digest.data()));
  if (param.spec.init == Init::zeros) return;
  const auto count = static_cast<std::size_t>(param.spec.rows * param.spec.cols);
  std::vector<double> values(count, 1.0);
  const float std = static_cast<float>(param.spec.std);
  if (param.spec.init == Init::normal)
    for (std::size_t k = 0; k < count; ++k)
      values[k] = static_cast<double>(std * normal(random, k));
  set_master(*param.store, values);
}

Result<std::vector<double>> master_of(WeightStore& store) {
  std::vector<double> values(static_cast<std::size_t>(store.rows() * store.cols()));
  if (!store.has_master()) {
    LOOM_TRY(store.values(std::span<double>(values)));
  } else if (store.master_is_f64()) {
    std::ranges::copy(store.master64(), values.begin());
  } else {
    std::ranges::copy(store.master(), values.begin());
  }
  return values;
}

void set_master(WeightStore& store, const std::vector<double>& values) {
  if (store.master_is_f64()) std::ranges::copy(values, store.mutable_master64().begin());
  else
    std::ranges::transform(values, store.mutable_master().begin(),
                           [](double v) { return static_cast<float>(v); });
  store.touch();
}

bool learns(const Node& node, const Param& param) {
  if (node.type->name() == "standardize") return false;
  return param.spec.role != "running_mean" && param.spec.role != "running_var";
}

std::uint64_t format_bytes(Network& network) {
  std::uint64_t bytes = 0;
  for (const Network::NamedParam& p : network.params()) {
    if (p.tied) continue;
    const WeightStore& store = *p.param->store;
    const auto values = static_cast<std::uint64_t>(store.rows() * store.cols());
    const DType dtype = store.format().dtype;
    bytes += dtype == DType::f32   ? 4 * values
             : dtype == DType::f64 ? 8 * values
                                   : store.packed_bytes();
  }
  return bytes;
}

Node* layer_at(Network& network, std::string_view path) {
  const std::size_t cell_end = std::min(path.find('/'), path.size());
  Coordinate c;
  std::int64_t* const part[] = {&c.z, &c.y, &c.x, &c.l};
  std::size_t field = 0;
  for (const char letter : path.substr(0, cell_end)) {
    if (letter == '.') ++field;
    else *part[field] = *part[field] * 10 + (letter - '0');
  }
  if (!network.contains(c)) return nullptr;
  Node* node = &network.node(network.index(c));
  for (std::size_t at = cell_end; at < path.size();) {
    std::size_t child = 0;
    for (++at; at < path.size() && path[at] != '/'; ++at)
      child = child * 10 + static_cast<std::size_t>(path[at] - '0');
    if (child >= node->children.size()) return nullptr;
    node = &node->children[child];
  }
  return node;
}

Result<Network> copy_of(Network& network) {
  LOOM_ASSIGN(Network copy, Network::from_json(network.to_json()));
  const auto from = network.params();
  const auto to = copy.params();
  for (std::size_t i = 0; i < from.size() && i < to.size(); ++i) {
    if (to[i].tied) continue;
    WeightStore& store = *to[i].param->store;
    store = *from[i].param->store;
    if (store.has_master()) continue;
    const WeightFormat format = store.format();
    LOOM_TRY(store.morph({}).at(to[i].path + ":" + to[i].param->spec.role));
    LOOM_TRY(store.morph(format).at(to[i].path + ":" + to[i].param->spec.role));
  }
  return copy;
}

Status carry_weights(Network& child, Network& parent, const std::vector<Origin>& origins,
                     std::uint64_t seed) {
  for (const Network::NamedParam& p : child.params()) {
    if (p.tied) continue;
    const auto origin = std::ranges::find(origins, p.path, &Origin::path);
    const bool known = origin != origins.end();
    const Node* from = known && !origin->from.empty() ? layer_at(parent, origin->from) : nullptr;
    const Param* old =
        from && from->type == p.node->type ? from->find(p.param->spec.role) : nullptr;
    const bool same =
        old && old->store->rows() == p.param->spec.rows && old->store->cols() == p.param->spec.cols;
    if (!same) draw_param(*p.param, p.path, seed);
    if (old) LOOM_TRY(carry_param(*p.param, *p.node, *old).at(p.path + ":" + p.param->spec.role));
    else if (known && !origin->init.empty()) set_init(*p.param, origin->init);
  }
  return {};
}

}  // namespace loom::breed
