// ONNX graphs.
#include <cstring>
#include <map>
#include <set>

#include "base/files/bytes.h"
#include "base/message.h"
#include "c_api/call.h"
#include "c_api/options/options.h"

using namespace loom;
using namespace loom::c_api;

namespace {

Json json_of(const std::string& name, onnx::Type type, const onnx::Dims& dims) {
  Json j = Json::object();
  j.set("name", name);
  j.set("type", onnx::name(type));
  j.set("dims", Json(Json::Array(dims.begin(), dims.end())));
  return j;
}
Json declared(const std::vector<onnx::ValueInfo>& list,
              const std::vector<onnx::Tensor>& initializers) {
  Json out = Json::array();
  std::set<std::string_view> initialized;
  for (const onnx::Tensor& t : initializers) initialized.insert(t.name);
  for (const onnx::ValueInfo& v : list) {
    if (initialized.contains(v.name)) continue;
    onnx::Dims dims;
    for (const onnx::Dim& d : v.dims) dims.push_back(d.value);
    Json j = json_of(v.name, v.type, dims);
    if (!v.has_shape) j.set("dims", Json());
    out.push(std::move(j));
  }
  return out;
}
Json ports(const std::vector<onnx::Port>& list) {
  Json out = Json::array();
  for (const onnx::Port& p : list) {
    Json j = json_of(p.name, p.type, p.dims);
    j.set("first", p.first);
    out.push(std::move(j));
  }
  return out;
}

// The values of one input, the first of `left`, from which they are taken away.
Result<onnx::Runner::Input> run_input(const Json& in, const onnx::Graph& graph,
                                      std::span<const double>& left) {
  const Json *name = in.is_object() ? in.find("name") : nullptr,
             *dims = in.is_object() ? in.find("dims") : nullptr;
  if (!name || !name->is_string() || !dims || !dims->is_array())
    return Status(Code::invalid_argument, "inputs: each is {\"name\": ..., \"dims\": [...]}");
  const onnx::ValueInfo* info = nullptr;
  for (const onnx::ValueInfo& v : graph.inputs)
    if (v.name == name->as_string()) info = &v;
  if (!info)
    return Status(Code::invalid_argument,
                  message("inputs: the graph has no input '", name->as_string(), "'"));
  onnx::Dims shape;
  std::uint64_t count = 1;
  for (const Json& d : dims->as_array()) {
    if (!d.is_integer() || d.as_integer() < 0 ||
        (d.as_integer() > 0 &&
         count > (std::uint64_t{1} << 40) / static_cast<std::uint64_t>(d.as_integer())))
      return Status(Code::invalid_argument,
                    "inputs: dims are numbers of at least 0, at most 2^40 values together");
    shape.push_back(d.as_integer());
    count *= static_cast<std::uint64_t>(d.as_integer());
  }
  if (count > left.size())
    return Status(Code::invalid_argument, message("values: '", name->as_string(), "' takes ", count,
                                                  " of them, ", left.size(), " are left"));
  LOOM_ASSIGN(onnx::Tensor tensor, onnx::make_tensor(name->as_string(), info->type,
                                                     std::move(shape), left.first(count)));
  left = left.subspan(count);
  return onnx::Runner::Input{name->as_string(), std::move(tensor)};
}

Result<std::vector<onnx::Runner::Input>> run_inputs(const Json& list, const onnx::Graph& graph,
                                                    std::span<const double> left) {
  if (!list.is_array()) return Status(Code::invalid_argument, "inputs: expects a list");
  std::vector<onnx::Runner::Input> given;
  for (const Json& in : list.as_array()) {
    LOOM_ASSIGN(onnx::Runner::Input input, run_input(in, graph, left));
    given.push_back(std::move(input));
  }
  if (!left.empty())
    return Status(Code::invalid_argument,
                  message("values: ", left.size(), " more than the inputs take"));
  return given;
}

}  // namespace

extern "C" {

int32_t loom_onnx_load(const char* path, size_t path_size, loom_onnx* onnx, loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_TRY(want(onnx));
    LOOM_ASSIGN(const std::string p, path_argument(path, path_size, "path"));
    LOOM_ASSIGN(onnx::Model model, onnx::open_model(p));
    *onnx = add(std::make_shared<OnnxObject>(std::move(model)));
    return {};
  });
}

int32_t loom_onnx_load_bytes(loom_bytes bytes, loom_onnx* onnx, loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_TRY(want(onnx));
    LOOM_ASSIGN(const auto b, get<Bytes>(bytes));
    LOOM_ASSIGN(onnx::Model model, onnx::read_model(b->source()));
    *onnx = add(std::make_shared<OnnxObject>(std::move(model)));
    return {};
  });
}

int32_t loom_onnx_info(loom_onnx onnx, loom_bytes* info, loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_TRY(want(info));
    LOOM_ASSIGN(const auto o, get<OnnxObject>(onnx));
    const onnx::Model& m = o->runner.model();
    std::map<std::string, std::int64_t> counts;
    for (const onnx::Node& n : m.graph.nodes)
      ++counts[n.domain.empty() ? n.op : n.domain + "." + n.op];
    Json json = Json::object(), nodes = Json::object();
    for (const auto& [op, count] : counts) nodes.as_object().emplace_back(op, count);
    json.set("producer", m.producer);
    json.set("opset", m.opset());
    json.set("nodes", std::move(nodes));
    json.set("inputs", declared(m.graph.inputs, m.graph.initializers));
    json.set("outputs", declared(m.graph.outputs, {}));
    *info = new_json(json);
    return {};
  });
}

int32_t loom_onnx_run(loom_onnx onnx, const char* inputs, size_t inputs_size, const double* values,
                      size_t values_count, loom_bytes* outputs, loom_bytes* results,
                      loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_TRY(want(outputs));
    LOOM_TRY(want(results));
    LOOM_ASSIGN(const auto o, get<OnnxObject>(onnx));
    LOOM_ASSIGN(const Json list, json_argument(inputs, inputs_size, "inputs"));
    LOOM_ASSIGN(const std::span<const double> left, c_api::span(values, values_count, "values"));
    LOOM_ASSIGN(const std::vector<onnx::Runner::Input> given,
                run_inputs(list, o->runner.model().graph, left));
    std::vector<onnx::Runner::Output> made;
    LOOM_TRY(cancellable(*o, [&]() -> Status {
      LOOM_ASSIGN(made, o->runner.run(given));
      return {};
    }));
    Json names = Json::array();
    std::vector<std::byte> bytes;
    for (const onnx::Runner::Output& out : made) {
      names.push(json_of(out.name, out.type, out.dims));
      const std::size_t at = bytes.size();
      bytes.resize(at + 8 * out.values.size());
      for (std::size_t i = 0; i < out.values.size(); ++i)
        store_le<double>(bytes.data() + at + 8 * i, out.values[i]);
    }
    NewHandle text(new_json(names)), values_of(new_bytes(std::move(bytes)));
    *outputs = text.take();
    *results = values_of.take();
    return {};
  });
}

int32_t loom_onnx_network(loom_onnx onnx, const char* options, size_t options_size,
                          loom_network* network, loom_bytes* ports_out, loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_TRY(want(network));
    LOOM_TRY(want(ports_out));
    LOOM_ASSIGN(const auto o, get<OnnxObject>(onnx));
    OnnxNetwork given;
    LOOM_TRY(read_options(options, options_size, given));
    LOOM_ASSIGN(onnx::ImportedGraph graph, onnx::import_graph(o->runner.model(), {}, nullptr,
                                                              {given.dims.json, given.max.json}));
    Json json = Json::object(), report = Json::array();
    json.set("inputs", ports(graph.inputs));
    json.set("outputs", ports(graph.outputs));
    for (const std::string& line : graph.report) report.push(Json(line));
    json.set("report", std::move(report));
    auto object =
        std::make_shared<NetworkObject>(std::make_shared<SharedNetwork>(std::move(graph.network)));
    NewHandle text(new_json(json)), made(add(std::move(object)));
    *ports_out = text.take();
    *network = made.take();
    return {};
  });
}

}  // extern "C"
