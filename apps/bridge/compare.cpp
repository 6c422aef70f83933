#include "bridge/compare.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace loom::bridge {
namespace {

constexpr double kPass = 1e-5;
constexpr std::size_t kMaxRank = 8, kMaxLayers = 256;

void flatten(const Json& json, std::size_t depth, Rows& rows) {
  if (!json.is_array()) {
    if (depth != rows.shape.size())
      refuse(400, "invalid_argument", "the lists have different shapes");
    if (!json.is_number() && !json.is_null())
      refuse(400, "invalid_argument", "values must be numbers");
    rows.values.push_back(json.is_null() ? std::numeric_limits<double>::quiet_NaN()
                                         : json.as_number());
    return;
  }
  const auto size = static_cast<std::int64_t>(json.as_array().size());
  if (depth >= rows.shape.size() || rows.shape[depth] != size)
    refuse(400, "invalid_argument", "the lists have different shapes");
  for (const Json& one : json.as_array()) flatten(one, depth + 1, rows);
}

Json nested(const Rows& rows, std::size_t depth, std::size_t& at) {
  if (depth == rows.shape.size()) {
    const double value = rows.values[at++];
    return std::isfinite(value) ? Json(value) : Json();
  }
  Json list = Json::array();
  for (std::int64_t i = 0; i < rows.shape[depth]; ++i) list.push(nested(rows, depth + 1, at));
  return list;
}

Shape shape_of(const Json& json) {
  Shape shape;
  for (const Json& dim : json.as_array()) shape.push_back(dim.as_integer());
  return shape;
}

std::size_t count(const Shape& shape) {
  std::size_t n = 1;
  for (const std::int64_t dim : shape) n *= static_cast<std::size_t>(dim);
  return n;
}

Rows run_values(Session& session, const Rows& inputs, const Json& in, Shape out_shape) {
  Rows out{std::move(out_shape), {}};
  const std::int64_t rows = inputs.shape[0];
  if (cli::text_in(in, "dtype") == "f64") {
    out.values.resize(count(out.shape));
    session.run(rows, std::span<const double>(inputs.values), std::span<double>(out.values));
    return out;
  }
  const std::vector<float> x(inputs.values.begin(), inputs.values.end());
  std::vector<float> y(count(out.shape));
  session.run(rows, std::span<const float>(x), std::span<float>(y));
  out.values.assign(y.begin(), y.end());
  return out;
}

Rows run_ids(Session& session, const Rows& inputs, Shape out_shape) {
  Rows out{std::move(out_shape), {}};
  std::vector<std::int32_t> ids;
  for (const double value : inputs.values) {
    if (!(value >= 0 && value < 2147483648.0) || value != std::floor(value))
      refuse(400, "invalid_argument", "inputs: ids must be whole numbers of 0 or more");
    ids.push_back(static_cast<std::int32_t>(value));
  }
  std::vector<float> y(count(out.shape));
  session.run_ids(ids, y);
  out.values.assign(y.begin(), y.end());
  return out;
}

Json row_of(const char* what, const std::vector<double>& a, const std::vector<double>& b) {
  const Distance d = distance_of(a, b);
  Json json = Json::object();
  json.set("of", what);
  json.set("label", label_of(d));
  if (d.comparable) {
    json.set("max_abs_diff", std::isfinite(d.max) ? Json(d.max) : Json());
    json.set("mean_abs_diff", std::isfinite(d.mean) ? Json(d.mean) : Json());
  } else {
    json.set("note", std::to_string(a.size()) + " and " + std::to_string(b.size()) + " values");
  }
  return json;
}

// Paths of the cells in order; of each, what comes out when all after it pass their input on.
// Layers behind which a cell reads elsewhere have no outputs of their own that way: empty.
std::vector<std::pair<std::string, Rows>> outputs_by_layer(const Network& network,
                                                           const Rows& inputs) {
  std::vector<std::pair<std::string, Rows>> outputs;
  Network copy = network.copy();
  const Json topology = cli::parsed(copy.topology());
  const Json::Array& cells = cli::member(topology, "cells").as_array();
  if (cells.size() > kMaxLayers)
    refuse(422, "unsupported",
           "layers: the network has " + std::to_string(cells.size()) + ", " +
               std::to_string(kMaxLayers) + " are compared");
  bool chain = true;
  for (std::size_t i = cells.size(); i-- > 0;) {
    std::string path;
    for (const Json& n : cli::member(cells[i], "at").as_array())
      path += (path.empty() ? "" : ".") + std::to_string(n.as_integer());
    outputs.emplace_back(path, chain ? outputs_of(copy, inputs) : Rows());
    chain = chain && !cells[i].find("links");
    if (chain && i > 0) copy.enable(path, false);
  }
  std::reverse(outputs.begin(), outputs.end());
  return outputs;
}

}  // namespace

Rows inputs_of(const Json& lists) {
  Rows rows;
  for (const Json* one = &lists; one->is_array(); one = &one->as_array()[0]) {
    if (one->as_array().empty()) refuse(400, "invalid_argument", "inputs: a list is empty");
    rows.shape.push_back(static_cast<std::int64_t>(one->as_array().size()));
    if (rows.shape.size() > kMaxRank)
      refuse(400, "invalid_argument", "inputs: lists are more than 8 deep");
  }
  flatten(lists, 0, rows);
  return rows;
}

Json lists_of(const Rows& rows) {
  std::size_t at = 0;
  return nested(rows, 0, at);
}

Json outputs_json(const Rows& rows) {
  Json json = Json::object();
  Json shape = Json::array();
  for (const std::int64_t dim : rows.shape) shape.push(dim);
  json.set("shape", std::move(shape));
  json.set("outputs", lists_of(rows));
  return json;
}

Rows outputs_of(const Network& network, const Rows& inputs) {
  return or_refuse([&] {
    Session session(network);
    const Json about = cli::parsed(session.info());
    const Json info = cli::parsed(network.info());
    const Json& in = cli::member(info, "input");
    Shape shape = shape_of(cli::member(about, "output_dims"));
    shape.insert(shape.begin(), inputs.shape[0]);
    return in.find("ids") ? run_ids(session, inputs, std::move(shape))
                          : run_values(session, inputs, in, std::move(shape));
  });
}

Distance distance_of(const std::vector<double>& a, const std::vector<double>& b) {
  Distance d;
  d.comparable = a.size() == b.size() && !a.empty();
  if (!d.comparable) return d;
  d.exact = true;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const bool equal = a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i]));
    d.exact = d.exact && equal;
    const double apart = equal ? 0 : std::abs(a[i] - b[i]);
    d.mean += apart / static_cast<double>(a.size());
    d.max = apart <= d.max ? d.max : apart;  // NaN stays
  }
  return d;
}

const char* label_of(const Distance& d) {
  if (!d.comparable) return "DIFF";
  return d.exact ? "EXACT" : d.max < kPass ? "PASS" : "DIFF";
}

Json compared(const Json& body, const Network& streamed, const Network& reloaded,
              const Rows& inputs) {
  const Rows native = inputs_of(array_of(body, "outputs"));
  const Rows a = outputs_of(streamed, inputs), b = outputs_of(reloaded, inputs);
  Json report = Json::object();
  Json rows = Json::array();
  rows.push(row_of("native and streamed", native.values, a.values));
  rows.push(row_of("native and reloaded", native.values, b.values));
  rows.push(row_of("streamed and reloaded", a.values, b.values));
  report.set("label", cli::text_in(rows.as_array()[0], "label"));
  report.set("outputs", std::move(rows));
  report.set("rows", inputs.shape[0]);
  const Json* given = body.find("layers");
  if (!given) return report;
  if (!given->is_object()) refuse(400, "invalid_argument", "layers: must be an object by path");
  const auto of_streamed = or_refuse([&] { return outputs_by_layer(streamed, inputs); });
  const auto of_reloaded = or_refuse([&] { return outputs_by_layer(reloaded, inputs); });
  for (const auto& [path, values] : given->as_object())
    if (std::none_of(of_streamed.begin(), of_streamed.end(),
                     [&](const auto& one) { return one.first == path; }))
      refuse(400, "invalid_argument", "layers: the network has no cell '" + path + "'");
  Json layers = Json::array();
  std::string first;
  for (std::size_t i = 0; i < of_streamed.size(); ++i) {
    const auto& [path, mine] = of_streamed[i];
    Json one = Json::object();
    one.set("path", path);
    const Json* wanted = given->find(path);
    const bool known = wanted && wanted->is_array() && !mine.values.empty();
    one.set("native_streamed",
            known ? row_of("native and streamed", inputs_of(*wanted).values, mine.values) : Json());
    one.set("streamed_reloaded",
            row_of("streamed and reloaded", mine.values, of_reloaded[i].second.values));
    if (first.empty() && known &&
        cli::text_in(cli::member(one, "native_streamed"), "label") == "DIFF")
      first = path;
    layers.push(std::move(one));
  }
  report.set("layers", std::move(layers));
  report.set("first_difference", first.empty() ? Json() : Json(first));
  return report;
}

}  // namespace loom::bridge
