// The DNA of one network, and both results as JSON.
#include "genome/dna.h"

#include <cmath>

#include "base/math/exact_math.h"
#include "genome/units.h"

namespace loom {
namespace {

// The bucket and sign of a value in the sketch: splitmix64 (Steele and others, 2014) of its index.
std::uint64_t mixed(std::uint64_t index) {
  std::uint64_t z = (index + 1) * 0x9E3779B97F4A7C15;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
  return z ^ (z >> 31);
}

Json coordinate_json(const Coordinate& at) { return Json(Json::Array{at.z, at.y, at.x, at.l}); }

Json optional_json(const std::optional<double>& value) { return value ? Json(*value) : Json(); }

Json pair_json(const DnaPair& pair) {
  Json json = Json::object();
  json.set("from", pair.from);
  json.set("to", pair.to);
  json.set("cosine", optional_json(pair.cosine));
  json.set("encoded", optional_json(pair.encoded));
  json.set("matched", pair.matched);
  json.set("chance", pair.chance);
  json.set("score", pair.score);
  json.set("coverage", pair.coverage);
  json.set("moved_units", pair.moved);
  json.set("small", pair.small);
  return json;
}

template <class T, class F>
Json list_json(const std::vector<T>& items, F one) {
  Json list = Json::array();
  for (const T& item : items) list.push(one(item));
  return list;
}

}  // namespace

Result<Dna> dna_of(Network& network) {
  Dna dna;
  dna.grid = {network.depth(), network.rows(), network.cols(), network.layers_per_cell()};
  for (const genome::Layer& layer : genome::weighted_layers(network)) {
    DnaLayer one;
    one.path = layer.path;
    one.at = layer.at;
    one.type = layer.node->type->name();
    one.format = to_string(genome::format_of(layer));
    one.rows = layer.params[0]->store->rows();
    one.cols = layer.params[0]->store->cols();
    one.values = layer.values;
    Sha256 sha;
    std::array<double, kDnaSketch> sketch{};
    double squares = 0;
    std::uint64_t index = 0;
    for (const Param* param : layer.params) {
      LOOM_ASSIGN(const std::vector<float> values, genome::values_of(layer, *param));
      sha.update_text(param->spec.role);
      sha.update_f32(values);
      squares +=
          genome::dot(values.data(), values.data(), static_cast<std::int64_t>(values.size()));
      for (const float v : values) {
        const std::uint64_t h = mixed(index++);
        sketch[h % kDnaSketch] += (h >> 63) != 0 ? -double{v} : double{v};
      }
    }
    one.sha256 = Sha256::hex(sha.finish());
    one.norm = exact::sqrt(squares);
    for (std::size_t i = 0; i < kDnaSketch; ++i)
      one.sketch[i] = one.norm > 0 ? static_cast<float>(sketch[i] / one.norm) : 0.0f;
    dna.layers.push_back(std::move(one));
  }
  return dna;
}

Json to_json(const Dna& dna) {
  Json json = Json::object();
  json.set("grid", Json(Json::Array(dna.grid.begin(), dna.grid.end())));
  json.set("layers", list_json(dna.layers, [](const DnaLayer& layer) {
             Json one = Json::object();
             one.set("path", layer.path);
             one.set("at", coordinate_json(layer.at));
             one.set("type", layer.type);
             one.set("format", layer.format);
             one.set("rows", layer.rows);
             one.set("cols", layer.cols);
             one.set("values", layer.values);
             one.set("sha256", layer.sha256);
             one.set("norm", layer.norm);
             Json sketch = Json::array();
             for (const float v : layer.sketch) sketch.push(double{v});
             one.set("sketch", std::move(sketch));
             return one;
           }));
  return json;
}

Json to_json(const DnaComparison& comparison) {
  Json json = Json::object();
  const auto text = [](const std::string& path) { return Json(path); };
  json.set("overlap", comparison.overlap);
  json.set("similarity", comparison.similarity);
  json.set("layers", list_json(comparison.layers, pair_json));
  json.set("shifts", list_json(comparison.shifts, pair_json));
  json.set("only_a", list_json(comparison.only_a, text));
  json.set("only_b", list_json(comparison.only_b, text));
  return json;
}

}  // namespace loom
