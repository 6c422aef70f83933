#include "models/show_onnx.h"

#include <map>

#include "base/escape.h"
#include "base/json/json.h"
#include "console.h"
#include "formats/onnx/onnx.h"
#include "internal.h"

namespace loom::cli {
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

std::string opset_text(const Model& model) {
  std::string text;
  for (const auto& [domain, version] : model.opsets)
    text += (text.empty() ? "" : ", ") + (domain.empty() ? "" : escaped(domain) + " ") +
            std::to_string(version);
  return text;
}

Json to_json(const std::string& path, const Model& model, const Summary& sum) {
  Json out = Json::object(), opsets = Json::object(), operators = Json::object(),
       tensors = Json::array();
  out.set("path", json_text(path));
  out.set("kind", "ONNX");
  out.set("ir_version", model.ir_version);
  out.set("producer", json_text(model.producer));
  out.set("producer_version", json_text(model.producer_version));
  for (const auto& [domain, version] : model.opsets)
    opsets.set(domain.empty() ? "ai.onnx" : json_text(domain), version);
  out.set("opsets", std::move(opsets));
  const auto values = [&](const char* key, const std::vector<ValueInfo>& list) {
    Json array = Json::array();
    for (const ValueInfo& v : list) {
      Json value = Json::object();
      value.set("name", json_text(v.name));
      value.set("type", type_text(v));
      array.push(std::move(value));
    }
    out.set(key, std::move(array));
  };
  values("inputs", model.graph.inputs);
  values("outputs", model.graph.outputs);
  for (const auto& [op, count] : sum.operators)
    operators.as_object().emplace_back(json_text(op), Json(count));
  out.set("operators", std::move(operators));
  for (const Tensor* t : sum.tensors) {
    Json tensor = Json::object(), shape = Json::array();
    for (const std::int64_t d : t->dims) shape.push(d);
    tensor.set("name", json_text(t->name));
    tensor.set("dtype", std::string(name(t->type)));
    tensor.set("shape", std::move(shape));
    tensor.set("bytes", t->size);
    tensors.push(std::move(tensor));
  }
  out.set("tensors", std::move(tensors));
  return out;
}

}  // namespace

int show_onnx(const std::string& path, bool json) {
  LOOM_OR_EXIT(const Model model, open_model(path), kRefused);
  Summary sum;
  add_graph(model.graph, &sum);
  for (const Function& f : model.functions) add_nodes(f.nodes, &sum);
  if (json) return print(to_json(path, model, sum).dump(1) + "\n") ? kOk : kFailed;

  std::string out = escaped(path) + "\nONNX, IR " + std::to_string(model.ir_version) + ", opset " +
                    opset_text(model);
  if (!model.producer.empty())
    out += ", by " + escaped(model.producer) +
           (model.producer_version.empty() ? "" : " " + escaped(model.producer_version));
  out += "\n" + std::to_string(sum.nodes) + " nodes, " + std::to_string(sum.tensors.size()) +
         " initializers, " + count_text(static_cast<double>(sum.elements)) + " elements, " +
         bytes_text(sum.bytes) + "\n";
  const auto values = [&](std::string_view title, const std::vector<ValueInfo>& list) {
    out += std::string(title) + ":\n";
    for (const ValueInfo& v : list) out += "  " + escaped(v.name) + "  " + type_text(v) + "\n";
  };
  values("inputs", model.graph.inputs);
  values("outputs", model.graph.outputs);
  if (!model.functions.empty())
    out += "functions: " + std::to_string(model.functions.size()) + "\n";
  out += "operators:\n";
  for (const auto& [op, count] : sum.operators)
    out += "  " + escaped(op) + "  " + std::to_string(count) + "\n";
  if (!sum.tensors.empty()) out += "initializers:\n";
  for (const Tensor* t : sum.tensors)
    out += "  " + escaped(t->name) + "  " + std::string(name(t->type)) + "  " +
           shape_text(t->dims) + "  " + std::to_string(t->size) + "\n";
  return print(out) ? kOk : kFailed;
}

}  // namespace loom::cli
