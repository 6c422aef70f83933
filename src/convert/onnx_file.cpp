#include "convert/onnx_file.h"

#include <map>
#include <vector>

#include "base/json/json_text.h"
#include "formats/onnx/onnx.h"

namespace loom {
namespace {

using namespace onnx;

struct Summary {
  std::map<std::string, std::uint64_t>
      operators;  // of all graphs, those in attributes and functions included
  std::uint64_t nodes = 0;
  std::vector<const Tensor*> tensors;  // initializers of all graphs
  std::uint64_t bytes = 0, elements = 0;
};

void add_nodes(const std::vector<Node>& nodes, Summary* out);

void add_graph(const Graph& graph, Summary* out) {
  for (const Tensor& t : graph.initializers) {
    out->tensors.push_back(&t);
    out->bytes += t.size;
    out->elements += t.elements();
  }
  add_nodes(graph.nodes, out);
}

void add_nodes(const std::vector<Node>& nodes, Summary* out) {
  for (const Node& n : nodes) {
    ++out->operators[n.domain.empty() ? n.op : n.domain + "." + n.op];
    ++out->nodes;
    for (const Attribute& a : n.attributes)
      for (const Graph& g : a.graphs) add_graph(g, out);
  }
}

Json values_of(const std::vector<ValueInfo>& list) {
  Json array = Json::array();
  for (const ValueInfo& v : list) {
    Json value = Json::object();
    value.set("name", json_text(v.name));
    value.set("type", json_text(type_text(v)));
    array.push(std::move(value));
  }
  return array;
}

}  // namespace

Status describe_onnx(const std::string& path, bool tensors, Json& out) {
  LOOM_ASSIGN(const onnx::Model model, onnx::open_model(path));
  Summary sum;
  add_graph(model.graph, &sum);
  for (const Function& f : model.functions) add_nodes(f.nodes, &sum);
  Json opsets = Json::object(), operators = Json::object();
  for (const auto& [domain, version] : model.opsets)
    opsets.set(domain.empty() ? "ai.onnx" : json_text(domain), version);
  for (const auto& [op, count] : sum.operators)
    operators.as_object().emplace_back(json_text(op), Json(count));
  out.set("ir_version", model.ir_version);
  out.set("producer", json_text(model.producer));
  out.set("producer_version", json_text(model.producer_version));
  out.set("opsets", std::move(opsets));
  out.set("inputs", values_of(model.graph.inputs));
  out.set("outputs", values_of(model.graph.outputs));
  out.set("operators", std::move(operators));
  out.set("nodes", sum.nodes);
  out.set("functions", static_cast<std::uint64_t>(model.functions.size()));
  out.set("tensor_count", static_cast<std::uint64_t>(sum.tensors.size()));
  out.set("elements", sum.elements);
  out.set("bytes", sum.bytes);
  if (!tensors) return {};
  Json list = Json::array();
  for (const Tensor* t : sum.tensors) {
    Json tensor = Json::object();
    tensor.set("name", json_text(t->name));
    tensor.set("dtype", std::string(name(t->type)));
    tensor.set("shape", Json(Json::Array(t->dims.begin(), t->dims.end())));
    tensor.set("bytes", t->size);
    list.push(std::move(tensor));
  }
  out.set("tensors", std::move(list));
  return {};
}

}  // namespace loom
