#include "formats/onnx/infer/infer.h"

#include "fuzz.h"
#include "onnx/import.h"

using namespace loom;

// Every element of every type: values or a refusal, the same from both sources.
static void check_tensor(const onnx::Tensor& a, const onnx::Tensor& b, std::size_t size) {
  FUZZ_CHECK(a.name == b.name && a.dims == b.dims && a.type == b.type && a.size == b.size &&
             a.strings == b.strings);
  FUZZ_CHECK(a.size <= 8 * size &&
             a.strings.size() <= size);  // a varint of one byte may become an int64
  if (a.type == onnx::Type::string) return;
  FUZZ_CHECK(a.offset + a.size <= a.source->size());
  const auto x = onnx::read_f64(a), y = onnx::read_f64(b);
  FUZZ_CHECK(x.ok() == y.ok());
  if (!x.ok()) return fuzz::check_refusal(x.status());
  FUZZ_CHECK(x->size() == a.elements() && y->size() == x->size());
  FUZZ_CHECK(x->empty() || std::memcmp(x->data(), y->data(), x->size() * sizeof(double)) == 0);
  FUZZ_CHECK(onnx::read_f32(a).ok());
  const auto integers = onnx::read_i64(a);
  FUZZ_CHECK(!integers.ok() || integers->size() == x->size());
}

static void check_graph(const onnx::Graph& a, const onnx::Graph& b, std::size_t size) {
  FUZZ_CHECK(a.nodes.size() == b.nodes.size() && a.initializers.size() == b.initializers.size());
  for (std::size_t i = 0; i < a.initializers.size(); ++i)
    check_tensor(a.initializers[i], b.initializers[i], size);
  for (const onnx::ValueInfo& value : a.inputs) FUZZ_CHECK(!onnx::type_text(value).empty());
  for (std::size_t i = 0; i < a.nodes.size(); ++i) {
    FUZZ_CHECK(onnx::describe(a.nodes[i], i) == onnx::describe(b.nodes[i], i));
    for (std::size_t k = 0; k < a.nodes[i].attributes.size(); ++k) {
      const onnx::Attribute &p = a.nodes[i].attributes[k], &q = b.nodes[i].attributes[k];
      FUZZ_CHECK(a.nodes[i].find(p.name) == &p && p.ints == q.ints && p.strings == q.strings);
      for (std::size_t t = 0; t < p.tensors.size(); ++t)
        check_tensor(p.tensors[t], q.tensors[t], size);
      for (std::size_t g = 0; g < p.graphs.size(); ++g) check_graph(p.graphs[g], q.graphs[g], size);
    }
  }
}

// With an open dimension up to a maximum: a network or a refusal.
static void check_opened(const onnx::Model& model) {
  onnx::OpenDims open;
  for (const onnx::ValueInfo& in : model.graph.inputs)
    for (std::size_t axis = 0; axis < in.dims.size(); ++axis)
      if (in.dims[axis].value < 0) {
        if (open.max.as_object().empty()) open.max.set(onnx::dim_name(in, axis), 3);
        else if (!open.max.find(onnx::dim_name(in, axis)))
          open.dims.set(onnx::dim_name(in, axis), 1);
      }
  const auto graph = onnx::import_graph(model, {}, nullptr, open);
  FUZZ_CHECK(graph.ok() || graph.status().code() == Code::unsupported ||
             graph.status().code() == Code::invalid_argument ||
             graph.status().code() == Code::out_of_range);
}

// A network whose ports lie in its rows, or a refusal. Small graphs alone: what a network takes
// grows with its values.
static void check_network(const onnx::Model& model, const std::vector<onnx::Binding>& bindings,
                          const onnx::Plan& plan) {
  if (plan.steps.size() > 32) return;
  for (const onnx::Value& value : plan.values) {
    std::uint64_t count = 1;
    for (const std::int64_t d : value.dims)
      count *= static_cast<std::uint64_t>(d > 4096 ? 4096 : d);
    if (count > 2048) return;
  }
  check_opened(model);
  auto graph = onnx::import_graph(model, bindings);
  if (!graph.ok()) {
    FUZZ_CHECK(graph.status().code() == Code::unsupported ||
               graph.status().code() == Code::invalid_argument ||
               graph.status().code() == Code::out_of_range);
    FUZZ_CHECK(graph.status().message().size() < 5000);
    return;
  }
  std::int64_t width = 0;
  for (const onnx::Port& port : graph->inputs) {
    FUZZ_CHECK(port.first == width);
    width += port.count();
  }
  FUZZ_CHECK(graph->network.input().width == (width > 0 ? width : 1));
  FUZZ_CHECK(graph->outputs.size() == model.graph.outputs.size());
  for (const onnx::Port& port : graph->outputs)
    FUZZ_CHECK(port.first >= 0 && port.first + port.count() <= graph->network.output().width);
}

// A plan, or a refusal that names the file; in a plan every step reads what is there before it.
static void check_plan(const onnx::Model& model) {
  std::vector<onnx::Binding> bindings;
  for (const onnx::ValueInfo& input : model.graph.inputs) {
    onnx::Binding b{input.name, {}, nullptr};
    for (const onnx::Dim& d : input.dims) b.dims.push_back(d.value < 0 ? 2 : d.value);
    bindings.push_back(std::move(b));
  }
  onnx::InferOptions options;
  options.fold_limit = 4096;
  options.fold_budget = 65536;
  options.max_nodes = 4096;
  const auto plan = onnx::infer(model, bindings, options);
  if (!plan.ok()) {
    FUZZ_CHECK(plan.status().message().find("input") != std::string::npos &&
               plan.status().message().size() < 3000);
    return;
  }
  FUZZ_CHECK(plan->outputs.size() == model.graph.outputs.size());
  for (const onnx::Value& value : plan->values) {
    const auto count = element_count(value.dims);
    FUZZ_CHECK(count && (!value.cells || value.cells->size() == *count));
  }
  std::vector<bool> made(plan->values.size());
  for (std::size_t i = 0; i < made.size(); ++i) made[i] = plan->values[i].constant();
  for (const int id : plan->inputs) made[static_cast<std::size_t>(id)] = true;
  for (const onnx::Binding& b : bindings) {  // an input may take the place of an initializer
    for (std::size_t i = 0; i < made.size(); ++i)
      made[i] = made[i] || plan->values[i].name == b.name;
  }
  for (const onnx::Step& step : plan->steps) {
    for (const int id : step.inputs) FUZZ_CHECK(id < 0 || made[static_cast<std::size_t>(id)]);
    for (const int id : step.outputs) {
      if (id >= 0) made[static_cast<std::size_t>(id)] = true;
    }
  }
  check_network(model, bindings, *plan);
}

FUZZ_TARGET(data, size) {
  const auto mapped = onnx::read_model(fuzz::view_source(data, size)),
             called = onnx::read_model(fuzz::callback_source(data, size));
  FUZZ_CHECK(mapped.status().to_string() == called.status().to_string());
  if (mapped.ok()) {
    check_graph(mapped->graph, called->graph, size);
    check_plan(*mapped);
  } else {
    fuzz::check_refusal(mapped.status());
  }

  const auto one = onnx::read_tensor(fuzz::view_source(data, size)),
             other = onnx::read_tensor(fuzz::callback_source(data, size));
  FUZZ_CHECK(one.status().to_string() == other.status().to_string());
  if (one.ok()) check_tensor(*one, *other, size);
  else fuzz::check_refusal(one.status());
}
