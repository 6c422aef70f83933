// From a model and the shapes of its inputs to the list of steps that a run takes, with every type
// and shape known: what an importer maps. Integer arithmetic on shapes, constants and what follows
// from them is folded away; If with a constant condition becomes its branch, Loop and Scan of as
// many steps as are known these steps, functions their bodies, Identity and inference Dropout
// another name of their input. Operators without a rule are refused by the name of the operator and
// its node, and so are attributes that its rule does not know and shapes that depend on data:
// nothing is guessed. A Plan points into its Model, which must outlive it. Immutable when done; any
// thread may read.
#pragma once

#include <memory>

#include "formats/onnx/onnx.h"

namespace loom::onnx {

using Dims = std::vector<std::int64_t>;

// One element of a folded constant. Integers and bool in `i`; floats of all widths in `r`, rounded
// to their type.
union Cell {
  std::int64_t i = 0;
  double r;
};
using Cells = std::vector<Cell>;

struct Value {
  std::string name;  // in its graph; two branches or functions may use a name twice
  Type type = Type::undefined;
  Dims dims;
  // At most one of them, for a constant: an initializer or a Constant as the file has it, or what
  // folding made.
  const Tensor* tensor = nullptr;
  std::shared_ptr<const Cells> cells;

  bool constant() const { return tensor || cells; }
};

// The elements of a constant. Errors: invalid_argument where the value is none; unsupported where
// its type does not convert.
Result<std::vector<std::int64_t>> constant_i64(const Value& value);
Result<std::vector<float>> constant_f32(const Value& value);

struct Step {
  const Node* node = nullptr;
  std::size_t index = 0;     // of the node in its graph, for describe()
  std::int64_t opset = 0;    // version of the node's domain
  std::vector<int> inputs;   // into Plan::values; -1 for an optional one left out
  std::vector<int> outputs;  // likewise
};

struct Plan {
  std::vector<Value> values;
  std::vector<Step> steps;  // in an order that runs; all of them lead to an output
  // Of the graph, by position, without those that keep their initializers.
  std::vector<int> inputs;
  std::vector<int> outputs;  // of the graph, by position; may be inputs or constants
  std::vector<std::unique_ptr<std::vector<Node>>>
      bodies;  // of functions, with the attributes of their calls filled in

  const Value* at(int id) const { return id < 0 ? nullptr : &values[static_cast<std::size_t>(id)]; }
};

// What is known about an input before the run.
struct Binding {
  std::string name;
  Dims dims;
  const Tensor* value = nullptr;  // its elements as well: the plan holds for this value alone
};

struct InferOptions {
  std::uint64_t fold_limit = std::uint64_t{1}
                             << 22;  // elements of one folded constant; larger ones stay steps
  std::uint64_t fold_budget = std::uint64_t{1} << 26;  // elements of all, made or read
  std::size_t max_nodes = std::size_t{1} << 20;  // visited, functions inlined and loops unrolled
  std::size_t max_copied = std::size_t{1}
                           << 24;  // names, numbers and nodes of functions, copied by their calls
};
// What a file of the model's size justifies: a few bytes can ask for loops in loops, and functions
// that call one another twice.
InferOptions justified_options(const Model& model);

// An input without a binding has its declared shape, where that names all dimensions, or its
// initializer. Errors: invalid_argument for a binding that the model does not have or that
// contradicts the declared shape, an input without a shape, shapes that an operator cannot take;
// unsupported for operators without a rule and for shapes that depend on data; all name the node.
Result<Plan> infer(const Model& model, const std::vector<Binding>& bindings,
                   const InferOptions& options);
inline Result<Plan> infer(const Model& model, const std::vector<Binding>& bindings) {
  return infer(model, bindings, justified_options(model));
}

// Whether infer has a rule for the operator: "Conv", "com.microsoft.FastGelu".
bool has_rule(std::string_view domain, std::string_view op);

}  // namespace loom::onnx
